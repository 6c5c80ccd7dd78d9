// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command-line options of a compilation, shared by the tools.

#ifndef INLAY_TOOLS_COMMON_COMPILEOPTIONS_H
#define INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

#include "inlay/Execution/Session.h"

namespace inlay::tools {

/// Reads the module in `file` ("-" for standard input) and the options given on the command line.
rt::StatusOr<CompileRequest> makeRequest(const std::string &file);

/// Prints `error: ...` to standard error; 1, for main to return.
int fail(const rt::Status &status);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

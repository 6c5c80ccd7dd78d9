// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command-line options of a compilation, which the tools share.

#ifndef INLAY_TOOLS_COMMON_COMPILEOPTIONS_H
#define INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

#include "ToolOptions.h"

#include "inlay/Execution/Compile.h"

namespace inlay::tools {

/// Reads the command line of a tool that has the options of a compilation. Ends the process with 1 if an option is
/// unknown.
void parseCompileOptions(int argc, char **argv, llvm::StringRef overview);

/// Returns a request with the module in `file` ("-" is standard input) and the options of the command line.
rt::StatusOr<CompileRequest> makeRequest(const std::string &file);

/// Returns the phase `name`, or an error that names `option` if there is no such phase.
rt::StatusOr<Phase> parsePhase(const std::string &option, const std::string &name);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

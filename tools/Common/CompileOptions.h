// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command-line options of a compilation, shared by the tools.

#ifndef INLAY_TOOLS_COMMON_COMPILEOPTIONS_H
#define INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

#include "ToolOptions.h"

#include "inlay/Execution/Compile.h"

namespace inlay::tools {

/// Reads the command line of a tool that takes the compilation's options too.
void parseCompileOptions(int argc, char **argv, llvm::StringRef overview);

/// Reads the module in `file` ("-" for standard input) and the options given on the command line.
rt::StatusOr<CompileRequest> makeRequest(const std::string &file);

/// The phase that `--option=name` names.
rt::StatusOr<Phase> parsePhase(const std::string &option, const std::string &name);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

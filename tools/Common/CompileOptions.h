// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command-line options of a compilation, shared by the tools.

#ifndef INLAY_TOOLS_COMMON_COMPILEOPTIONS_H
#define INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

#include "inlay/Execution/Session.h"

#include "llvm/Support/CommandLine.h"

namespace inlay::tools {

/// Reads the command line. LLVM's own options are none of ours: only what has the tool's category, or the
/// compilation's, counts. Ends the process with 1 for an unknown option.
void parseOptions(int argc, char **argv, llvm::StringRef overview);

/// The category of an option that is one tool's own.
llvm::cl::OptionCategory &toolCategory();

/// Reads the module in `file` ("-" for standard input) and the options given on the command line.
rt::StatusOr<CompileRequest> makeRequest(const std::string &file);

/// The phase that `--option=name` names.
rt::StatusOr<Phase> parsePhase(const std::string &option, const std::string &name);

/// Prints `note: ...` to standard error, unless it is empty.
void printNotice(llvm::StringRef notice);

/// Prints `error: ...`, or `place: error: ...` as the status says, to standard error; 1, for main to return.
int fail(const rt::Status &status);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_COMPILEOPTIONS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line and the errors of tools.

#ifndef INLAY_TOOLS_COMMON_TOOLOPTIONS_H
#define INLAY_TOOLS_COMMON_TOOLOPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/CommandLine.h"

namespace inlay::tools {

/// Returns the category of the options of a tool.
llvm::cl::OptionCategory &toolCategory();

/// Reads the command line. Only options in the tool's category or one of `more` are known, not those of LLVM. Ends the
/// process with 1 if an option is unknown.
void parseOptions(int argc, char **argv, llvm::StringRef overview,
                  llvm::ArrayRef<llvm::cl::OptionCategory *> more = {});

/// Prints `note: ...` to standard error, unless `notice` is empty.
void printNotice(llvm::StringRef notice);

/// Prints `error: ...` to standard error, or the message as it is if it starts with a location. Returns 1, for main.
int fail(const rt::Status &status);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_TOOLOPTIONS_H

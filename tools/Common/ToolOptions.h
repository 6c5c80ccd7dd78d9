// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every tool does with its command line and its errors.

#ifndef INLAY_TOOLS_COMMON_TOOLOPTIONS_H
#define INLAY_TOOLS_COMMON_TOOLOPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/CommandLine.h"

namespace inlay::tools {

/// The category of an option that is one tool's own.
llvm::cl::OptionCategory &toolCategory();

/// Reads the command line. LLVM's own options are none of ours: only what has the tool's category, or one of `more`,
/// counts. Ends the process with 1 for an unknown option.
void parseOptions(int argc, char **argv, llvm::StringRef overview,
                  llvm::ArrayRef<llvm::cl::OptionCategory *> more = {});

/// Prints `note: ...` to standard error, unless it is empty.
void printNotice(llvm::StringRef notice);

/// Prints `error: ...`, or `place: error: ...` as the status says, to standard error; 1, for main to return.
int fail(const rt::Status &status);

} // namespace inlay::tools

#endif // INLAY_TOOLS_COMMON_TOOLOPTIONS_H

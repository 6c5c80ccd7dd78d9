// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of inlay-run.

#ifndef INLAY_TOOLS_INLAYRUN_RUN_H
#define INLAY_TOOLS_INLAYRUN_RUN_H

#include "Options.h"

namespace inlay::tools {

/// Prints the devices that the Vulkan loader reports.
rt::Status listDevices();

/// Compiles the file if it is a module, runs it and prints what the options ask for.
rt::Status run(const RunOptions &options);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_RUN_H

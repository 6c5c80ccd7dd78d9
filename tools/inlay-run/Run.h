// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What inlay-run does, once its options are read.

#ifndef INLAY_TOOLS_INLAYRUN_RUN_H
#define INLAY_TOOLS_INLAYRUN_RUN_H

#include "Options.h"

namespace inlay::tools {

/// Prints the devices that the Vulkan loader reports.
rt::Status listDevices();

/// Compiles if need be, runs and prints.
rt::Status run(const RunOptions &options);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_RUN_H

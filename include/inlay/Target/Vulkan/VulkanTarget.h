// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vulkan target.

#ifndef INLAY_TARGET_VULKAN_VULKANTARGET_H
#define INLAY_TARGET_VULKAN_VULKANTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Lets `#inlay.vulkan` answer as a target, and registers the dialects that it converts through.
void registerVulkanTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_VULKAN_VULKANTARGET_H

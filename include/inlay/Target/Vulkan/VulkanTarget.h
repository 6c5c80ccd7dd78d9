// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Vulkan target.

#ifndef INLAY_TARGET_VULKAN_VULKANTARGET_H
#define INLAY_TARGET_VULKAN_VULKANTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Attaches the target interface to `#inlay.vulkan` and registers the dialects that the conversion uses.
void registerVulkanTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_VULKAN_VULKANTARGET_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers on devices: GLSL's pow is undefined for bases that aren't positive, and drivers differ on infinities.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Makes each math.powf under `root` give what IEEE 754-2019 (9.2.1, pow) says for zeros, ones, infinities, NaN and
/// negative bases; only finite positive bases are left to the device.
void guardPowers(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H

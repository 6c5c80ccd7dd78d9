// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards powers: GLSL's pow is undefined for bases that are not positive, and drivers differ on infinities.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Makes each math.powf in `root` return the result of IEEE 754-2019 (9.2.1, pow) for zeros, ones, infinities, NaN and
/// negative bases. The device only computes powers of finite positive bases.
void guardPowers(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDPOWERS_H

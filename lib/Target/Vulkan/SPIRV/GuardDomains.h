// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials, logarithms and roots of what GLSL.std.450 leaves undefined: drivers may make any number of it.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Has each scalar `math.exp`, `log`, `log2`, `log10`, `sqrt`, `rsqrt` and `tanh` within `root` come to what IEEE 754
/// says of numbers below 0, zeros, infinities and NaN.
void guardDomains(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards exponentials, logarithms and roots outside the domain that GLSL.std.450 defines, where drivers may return any
// number.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Makes each scalar `math.exp`, `log`, `log2`, `log10`, `sqrt`, `rsqrt` and `tanh` in `root` return the result of IEEE
/// 754 for negative numbers, zeros, infinities and NaN.
void guardDomains(mlir::Operation *root);

/// Replaces each scalar `math.roundeven` of doubles by sums with 2^52. On processors without AVX-512, llvmpipe
/// truncates doubles instead of rounding them.
void roundDoubles(mlir::Operation *root);

/// Replaces each scalar `math.copysign` in `root` by a choice between a number and its negation. llvmpipe combines the
/// bits of both operands wrongly if their absolute values are related, as in a power of a number to itself.
void selectSigns(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDDOMAINS_H

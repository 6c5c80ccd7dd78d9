// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders the dims of weights so that products on a device read them fastest.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H

#include "Target/Vulkan/Products/DotProductPolicy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// Reorders arguments of an outlined segment that are only used as the weight of a convolution or linear layer. The
/// output channels become innermost, so that vectors are loaded along them. Records the order in
/// `plan::kConstantOrderAttr` and permutes the argument back for the op. The weights of linear layers that dot products
/// compute keep their order.
void orderWeights(mlir::func::FuncOp segment, const DotProductProfile &dots);

/// Turns products with dequantized matrices that have a row for each term of the sum into linear layers, whose kernels
/// read the codes along the sum, if dot products by `packedDots` compute them. Reorders the arguments with codes of
/// 8 bits, scales and offsets. Codes of fewer bits keep their order, because a byte has codes of several sums.
void orderPackedWeights(mlir::func::FuncOp segment, const DotProductProfile &packedDots);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H

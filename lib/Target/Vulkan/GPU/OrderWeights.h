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

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H

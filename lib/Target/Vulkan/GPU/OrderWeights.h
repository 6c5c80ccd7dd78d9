// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights with their dims in the order in which a device's products read them fastest.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// Has arguments of an outlined segment that are weights of convolutions and linear layers, and of nothing else, come
/// with the output channels innermost, along which vectors are loaded: says so by `plan::kConstantOrderAttr`, and
/// permutes them back for the op.
void orderWeights(mlir::func::FuncOp segment);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ORDERWEIGHTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches products that cooperative matrices compute, with their epilogues.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H
#define INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H

#include "Target/Vulkan/Products/CooperativeMatrixPolicy.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

namespace inlay {

/// Converts `op` to a launch if cooperative matrices can compute it and that pays. Returns the ops that the launch
/// replaces, which the caller may erase: `op`, and possibly the elementwise op after it. Returns no ops otherwise.
llvm::SmallVector<mlir::linalg::LinalgOp, 2> launchCooperativeMatrixProduct(mlir::linalg::LinalgOp op,
                                                                            TileEmitter &emitter, KernelValues &values,
                                                                            const CooperativeMatrixProfile &profile,
                                                                            int64_t maxGrid);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H

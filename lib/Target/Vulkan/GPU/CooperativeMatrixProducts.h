// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of products that are computed by matrices, with what is computed of their elements at once.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H
#define INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H

#include "Target/Vulkan/Products/CooperativeMatrixPolicy.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

namespace inlay {

/// Makes `op`, if matrices can compute it and that pays, a launch: returns what is computed by that and may be erased,
/// `op` and maybe an elementwise op behind it. Nothing if it isn't such a product.
llvm::SmallVector<mlir::linalg::LinalgOp, 2> launchCooperativeMatrixProduct(mlir::linalg::LinalgOp op,
                                                                            TileEmitter &emitter, KernelValues &values,
                                                                            const CooperativeMatrixProfile &profile,
                                                                            int64_t maxGrid);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_COOPERATIVEMATRIXPRODUCTS_H

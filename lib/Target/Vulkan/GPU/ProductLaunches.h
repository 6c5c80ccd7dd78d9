// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches products that dot products, cooperative matrices or workgroups compute, some of them with the elementwise
// ops before and after them.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H
#define INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H

#include "Target/Vulkan/Blocks/CooperativeMatrixPolicy.h"
#include "Target/Vulkan/Blocks/WorkgroupProductPolicy.h"
#include "Target/Vulkan/Products/DotProductPolicy.h"
#include "Target/Vulkan/Products/PackedOperand.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

namespace inlay {

/// The facts of a device that decide how products are launched.
struct ProductProfiles {
  DotProductProfile dots;       ///< Of products whose inputs are in memory.
  DotProductProfile packedDots; ///< Of products with packed weights.
  CooperativeMatrixProfile matrices;
  WorkgroupProductProfile workgroups;
  SubgroupProductProfile subgroups;
  int64_t maxGrid;    ///< Workgroups along one axis.
  int64_t maxBuffers; ///< Buffers of a kernel.
};

/// The facts on which the launches of a function's products depend.
struct ProductContext {
  const ProductProfiles &profiles;
  const InitialValues &initial;
  const Dequantizations &dequantizations; ///< They are not launched yet.
};

/// Converts `op` to a launch of dot products, to one on cooperative matrices, or to one whose workgroups compute
/// blocks, if one of them can compute it and that pays. Dot products read the codes of dequantized weights. Returns the
/// ops that the launch replaces, which the caller may erase: `op`, and possibly the elementwise op after it. Returns no
/// ops otherwise.
llvm::SmallVector<mlir::linalg::LinalgOp, 3> launchProduct(mlir::linalg::LinalgOp op, TileEmitter &emitter,
                                                           KernelValues &values, const ProductContext &context);

/// If `op`, which `emitter` emits, computes the elements from which the sums of the next op start, converts both to one
/// launch of dot products if that pays. Returns the ops that the launch replaces: both, and possibly the elementwise op
/// after them. Returns no ops otherwise.
llvm::SmallVector<mlir::linalg::LinalgOp, 3> launchProductAfter(mlir::linalg::LinalgOp op, TileEmitter &emitter,
                                                                KernelValues &values, const ProductContext &context);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H

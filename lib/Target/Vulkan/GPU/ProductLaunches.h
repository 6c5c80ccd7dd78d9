// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches products, together with the elementwise ops before and after them.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H
#define INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H

#include "Target/Vulkan/Blocks/CooperativeMatrixPolicy.h"
#include "Target/Vulkan/Blocks/WorkgroupProductPolicy.h"
#include "Target/Vulkan/Products/DotProductPolicy.h"
#include "Target/Vulkan/Products/ProductNeighbor.h"
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

  /// Returns the limits of a kernel whose invocations compute `points` elements each.
  FusionLimits limitFusion(int64_t points) const { return {maxBuffers, subgroups.maxFused / points}; }
};

/// The facts on which the launches of a function's products depend.
struct ProductContext {
  const ProductProfiles &profiles;
  const Dequantizations &dequantizations; ///< They are not launched yet.
};

/// Converts `op` to a launch of dot products, of cooperative matrices, of workgroups that compute blocks, or of
/// subgroups that compute tiles, if one of them can compute it and that pays. Dot products read the codes of
/// dequantized weights. The kernel may also compute neighbors of `op`. Returns all ops that the launch replaces, which
/// the caller may erase. Returns no ops otherwise.
KernelOps launchProduct(mlir::linalg::LinalgOp op, TileEmitter &emitter, const KernelValues &values,
                        const ProductContext &context);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_PRODUCTLAUNCHES_H

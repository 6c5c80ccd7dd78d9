// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the results of a product that a workgroup computes as dot products.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTEMITTER_H

#include "DotProductPolicy.h"
#include "ProductNeighbor.h"

namespace inlay {

/// The results that a workgroup computes.
struct DotProductPlace {
  llvm::SmallVector<mlir::Value> base; ///< First index along each parallel loop; null for reductions.
  mlir::Value invocation;              ///< Number of the invocation in the workgroup.
  int64_t lanes;                       ///< Number of lanes of a subgroup.
};

/// The ops that the kernel of a product computes besides the product. Each may be null.
struct DotProductFusion : ProductFusion {
  const PackedOperand *packed = nullptr; ///< The streamed input.
};

/// Returns true if the op of `emitter` is a sum of f32 over terms that depend on two inputs of f32 or f16. The inputs
/// of a product with a packed input may also be bf16.
bool canEmitDotProduct(const TileEmitter &emitter, const PackedOperand *packed = nullptr);

/// Returns the number of consecutive elements along `innerLoop` that a lane loads at once, for each input: as many as
/// 16 bytes hold, or 1 if they are not aligned. `packed` may be null.
std::vector<int64_t> findDotProductWidths(const TileEmitter &emitter, const PackedOperand *packed = nullptr);

/// Emits the results at `place`. All invocations of a workgroup must run the code together. The tile may reach over the
/// ends of its row and column loops.
void emitDotProduct(mlir::OpBuilder &builder, TileEmitter &emitter, const DotProductTile &tile,
                    const DotProductPlace &place, const DotProductFusion &fusion);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTEMITTER_H

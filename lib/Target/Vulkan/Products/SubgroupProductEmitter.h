// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one tile of a product that the lanes of a subgroup compute together.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_SUBGROUPPRODUCTEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_SUBGROUPPRODUCTEMITTER_H

#include "ProductNeighbor.h"
#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

namespace inlay {

/// The tile of a product that an invocation computes.
struct SubgroupProductPlace {
  llvm::SmallVector<mlir::Value> base; ///< First index of the tile along each parallel loop; null for reductions.
  mlir::Value lane;                    ///< Number of the invocation in its subgroup.
  int64_t lanes;                       ///< Number of lanes of the subgroup.
  mlir::Value isActive; ///< False if another invocation computes and stores the same tile. Null means always true.
  bool loadsUniformly;  ///< True if all lanes load the elements that they share, instead of broadcasting them.
};

/// Returns the cast that widens an input's element to 32 bits before any other use. Returns null if the element is used
/// as it is.
mlir::Operation *findWidening(mlir::linalg::LinalgOp op, size_t input);

/// Returns true if `emitSubgroupProduct` can emit the op of `emitter`: the body reads only elements of the op's
/// operands, all of 32 bits or widened to 32 bits by their only user.
bool isPlainProduct(const TileEmitter &emitter);

/// Emits the tile at `place` and the ops of `fusion`. All invocations of a subgroup must run the code together: each
/// loads a part of the operands that the lanes share and broadcasts it to the others, unless `place.loadsUniformly` is
/// set. A tile may reach over the end of its row and column loops. Its points there are computed from other elements
/// and are not stored.
void emitSubgroupProduct(mlir::OpBuilder &builder, TileEmitter &emitter, const SubgroupProductTile &tile,
                         const SubgroupProductPlace &place, const ProductFusion &fusion);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_SUBGROUPPRODUCTEMITTER_H

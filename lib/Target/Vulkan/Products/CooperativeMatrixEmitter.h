// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one block of a product that a workgroup computes with cooperative matrices.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_COOPERATIVEMATRIXEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_COOPERATIVEMATRIXEMITTER_H

#include "CooperativeMatrixPolicy.h"
#include "ProductNeighbor.h"

namespace inlay {

/// The block of a product that a workgroup computes.
struct CooperativeMatrixPlace {
  llvm::SmallVector<mlir::Value> outer; ///< Index along each outer loop; null for other loops.
  mlir::Value row, column;              ///< First row and column of the block, counted along all row or column loops.
  mlir::Value invocation;               ///< Number of the invocation in the workgroup.
  int64_t lanes;                        ///< Number of lanes of a subgroup.
};

/// Returns true if the op of `emitter` adds up in f32 the products of the f16 elements of two inputs, which is what
/// cooperative matrices compute.
bool isCooperativeMatrixProduct(const TileEmitter &emitter);

/// Emits the block at `place`. All invocations of a workgroup must run the code together. A block may reach over the
/// ends of all loops. `epilogue` may be null.
void emitCooperativeMatrixProduct(mlir::OpBuilder &builder, TileEmitter &emitter, const CooperativeMatrixTile &tile,
                                  const CooperativeMatrixPlace &place, const ProductNeighbor *epilogue);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_COOPERATIVEMATRIXEMITTER_H

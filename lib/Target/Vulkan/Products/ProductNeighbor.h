// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise op that the kernel of a product computes too.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

#include "inlay/Convert/LoopNest/TileEmitter.h"

namespace inlay {

/// An elementwise op that computes the initial elements of a product's sums (a prologue), or that computes its results
/// from the elements of the product (an epilogue). The elements are in workgroup memory instead of `buffer`.
struct ProductNeighbor {
  TileEmitter *emitter;            ///< Emitter of the elementwise op.
  mlir::Value buffer;              ///< Output of the product, which the op writes or reads.
  llvm::SmallVector<size_t> loops; ///< Loop of the product for each loop of the op.

  /// Emits the op for one element of the product, which is at `slot` of `memory`. `indices` has the index of the
  /// element along each loop of the product.
  void emit(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> indices, mlir::Value memory, mlir::Value slot) const {
    mlir::AffineExpr zero = mlir::getAffineConstantExpr(0, builder.getContext());
    size_t rank = llvm::cast<mlir::MemRefType>(buffer.getType()).getRank();
    emitter->setLocal({buffer, memory, llvm::SmallVector<mlir::AffineExpr>(rank, zero), slot});
    llvm::SmallVector<mlir::Value> ownIndices;
    for (size_t loop : loops)
      ownIndices.push_back(indices[loop]);
    TileShape point{std::vector<int64_t>(ownIndices.size(), 1)};
    emitter->emit(builder, point, ownIndices, /*active=*/1);
  }
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

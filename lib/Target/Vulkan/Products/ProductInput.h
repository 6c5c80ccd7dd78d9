// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input of a product whose elements the kernel of the product computes.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTINPUT_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTINPUT_H

#include "PackedOperand.h"

namespace inlay {

/// An input that an elementwise op or padding computes from other buffers. The kernel of the product computes each
/// element when it needs it, so that the input need not be in memory.
class ProductInput {
public:
  /// Returns input `input` of `product`, or nullopt if no cheap op computes it only for `product`. Emits flat buffers
  /// at the builder's position. `product` is the op of `emitter`.
  static std::optional<ProductInput> find(mlir::OpBuilder &builder, const TileEmitter &emitter, size_t input,
                                          const Dequantizations &dequantizations, KernelValues &values);

  mlir::linalg::LinalgOp getOp() const { return emitter->getOp(); }

  /// Returns true if four elements along `loop` of the product are computed from aligned vectors.
  bool hasVectors(size_t loop) const;

  /// Returns true if the steps of `loop` of the product are steps along the last dim of what the input is computed
  /// from, so that all other indices stay the same.
  bool isStraight(size_t loop) const;

  /// Returns `count` elements. `indices` has the index of the first one along each loop of the product. The others
  /// follow along `loop`. With a count of 4, `hasVectors(loop)` must be true and the first one must be at a multiple of
  /// 4 there. If `inside` is not null and false, the elements are those at index 0 of all loops.
  llvm::SmallVector<mlir::Value> compute(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> indices,
                                         mlir::Value inside, size_t loop, int64_t count) const;

private:
  ProductInput(TileEmitter emitter, mlir::AffineMap map)
      : emitter(std::make_shared<TileEmitter>(std::move(emitter))), map(map) {}
  std::optional<size_t> findLoop(size_t loop, int64_t alignment) const;

  std::shared_ptr<TileEmitter> emitter; ///< Emitter of the op that computes the input.
  mlir::AffineMap map;                  ///< Index along each loop of that op, from the loops of the product.
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTINPUT_H

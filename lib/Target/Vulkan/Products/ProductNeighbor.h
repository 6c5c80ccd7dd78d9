// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise ops before and after a product that the kernel of the product computes too.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

#include "ProductInput.h"

namespace inlay {

/// The index of a neighbor's loop, by that of a loop of the product: it is divided, and the remainder is taken.
struct NeighborLoop {
  size_t loop;         ///< Of the product.
  int64_t divisor = 1; ///< 1 for no division.
  int64_t modulus = 0; ///< 0 for no remainder.

  bool isWhole() const { return divisor == 1 && modulus == 0; }
};

/// An elementwise op that computes the initial elements of a product's sums (a prologue), or that computes its results
/// from the elements of the product (an epilogue). The elements are in registers instead of `buffer`.
struct ProductNeighbor {
  TileEmitter *emitter;                  ///< Emitter of the elementwise op.
  mlir::Value buffer;                    ///< Output of the product, or a view of it, which the op writes or reads.
  llvm::SmallVector<NeighborLoop> loops; ///< For each loop of the op.

  /// Emits a prologue for a tile of the product, and returns its elements by point of the tile. `base` and `ragged` are
  /// like those of `TileEmitter::emit`, for the loops of the product.
  llvm::SmallVector<mlir::Value> compute(mlir::OpBuilder &builder, const TileShape &tile,
                                         llvm::ArrayRef<mlir::Value> base, llvm::ArrayRef<size_t> ragged = {}) const;

  /// Emits an epilogue for the elements of a tile of the product, with stores of the results. If the op reads a view
  /// that splits dims, no loop is ragged, and the tile starts at multiples of its factors.
  void emit(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base,
            mlir::ValueRange elements, llvm::ArrayRef<size_t> ragged = {}) const;
};

/// The ops of one kernel.
using Ops = llvm::SmallVector<mlir::linalg::LinalgOp, 3>;

/// Returns the locations of all ops.
mlir::Location fuseLocs(llvm::ArrayRef<mlir::linalg::LinalgOp> ops);

/// The ops that the kernel of a product computes besides the product.
struct ProductFusion {
  const ProductNeighbor *prologue = nullptr, *epilogue = nullptr; ///< Null if there are none.
  llvm::ArrayRef<std::optional<ProductInput>> inputs = {};        ///< By input; empty if all are in memory.

  /// Returns what computes the elements of input `number`, or null if they are in memory.
  const ProductInput *input(size_t number) const {
    return number < inputs.size() && inputs[number] ? &*inputs[number] : nullptr;
  }
};

/// The limits of the ops that one kernel computes.
struct FusionLimits {
  int64_t buffers;        ///< Buffers of the kernel.
  int64_t steps;          ///< Steps of the body of an elementwise op, as `countBodySteps` counts them.
  bool takesViews = true; ///< True if an epilogue may read the results through a view that splits dims.
};

/// The elementwise op that computes the elements from which the sums of a product start, if its kernel can compute it.
class Prologue {
public:
  /// Finds the prologue of `product`.
  Prologue(mlir::linalg::LinalgOp product, KernelValues &values);
  Prologue(const Prologue &) = delete; // `neighbor` points to `emitter`.

  /// Returns null if there is no prologue.
  const ProductNeighbor *get() const { return neighbor ? &*neighbor : nullptr; }

private:
  mlir::FailureOr<TileEmitter> emitter = mlir::failure();
  std::optional<ProductNeighbor> neighbor;
};

/// The elementwise op after a product that its kernel also computes, if there is one.
class Epilogue {
public:
  /// Finds the epilogue of a product whose kernel computes `ops`, and adds it to them. `packed` may be null.
  Epilogue(mlir::linalg::LinalgOp product, llvm::SmallVectorImpl<mlir::linalg::LinalgOp> &ops, KernelValues &values,
           const Dequantizations &dequantizations, const FusionLimits &limits, const PackedOperand *packed = nullptr);
  Epilogue(const Epilogue &) = delete; // `neighbor` points to `emitter`.

  /// Returns null if there is no epilogue.
  const ProductNeighbor *get() const { return neighbor ? &*neighbor : nullptr; }

private:
  mlir::FailureOr<TileEmitter> emitter = mlir::failure();
  std::optional<ProductNeighbor> neighbor;
};

/// The ops that a kernel of a product computes besides it.
class ProductNeighbors {
public:
  using CanCompute = llvm::function_ref<bool(size_t input, const ProductInput &)>;

  /// Finds the neighbors of the op of `emitter` that its kernel can compute within `limits`. Inputs are computed if
  /// `canCompute` returns true for them; null means never. `packed` may be null. An op without reductions has no
  /// neighbors.
  ProductNeighbors(const TileEmitter &emitter, KernelValues &values, const Dequantizations &dequantizations,
                   const FusionLimits &limits, CanCompute canCompute = nullptr, const PackedOperand *packed = nullptr);
  ProductNeighbors(const ProductNeighbors &) = delete; // `fusion` refers to members.

  /// Returns the product and its neighbors. The last one in the block is the last one here.
  llvm::ArrayRef<mlir::linalg::LinalgOp> getOps() const { return ops; }
  ProductFusion fusion() const {
    return {prologue ? prologue->get() : nullptr, epilogue ? epilogue->get() : nullptr, inputs};
  }

private:
  void findPrologue(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed);
  void findInputs(const TileEmitter &emitter, KernelValues &values, const Dequantizations &dequantizations,
                  const FusionLimits &limits, CanCompute canCompute);

  Ops ops;
  std::optional<Prologue> prologue;
  llvm::SmallVector<std::optional<ProductInput>, 2> inputs;
  std::optional<Epilogue> epilogue;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

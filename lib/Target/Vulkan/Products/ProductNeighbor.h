// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise ops before and after a product that the kernel of the product computes too.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

#include "FusableOps.h"
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
/// from the elements of the product (an epilogue). Everything here that holds for products holds for other reductions
/// too. The elements are in registers instead of `buffer`.
struct ProductNeighbor {
  std::shared_ptr<TileEmitter> emitter;  ///< Emitter of the elementwise op.
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

/// The ops that the kernel of a product computes besides the product.
struct ProductFusion {
  const ProductNeighbor *prologue = nullptr, *epilogue = nullptr; ///< Null if there are none.
  llvm::ArrayRef<std::optional<ProductInput>> inputs = {};        ///< By input; empty if all are in memory.

  /// Returns what computes the elements of input `number`, or null if they are in memory.
  const ProductInput *getInput(size_t number) const {
    return number < inputs.size() && inputs[number] ? &*inputs[number] : nullptr;
  }
};

/// The limits of the ops that one kernel computes.
struct FusionLimits {
  int64_t buffers;        ///< Buffers of the kernel.
  int64_t steps;          ///< Steps of the body of an elementwise op, as `countBodySteps` counts them.
  bool takesViews = true; ///< True if an epilogue may read the results through a view that splits dims.
};

/// The ops that a kernel of a product computes besides it.
class ProductNeighbors {
public:
  using CanCompute = llvm::function_ref<bool(size_t input, const ProductInput &)>;

  /// Finds the neighbors of the op of `emitter` that its kernel can compute within `limits`. Inputs are computed if
  /// `canCompute` returns true for them; null means never. At most one of `canCompute` and `packed` is not null. An op
  /// without reductions has no neighbors.
  ProductNeighbors(const TileEmitter &emitter, KernelValues &values, const Dequantizations &dequantizations,
                   const FusionLimits &limits, CanCompute canCompute = nullptr, const PackedOperand *packed = nullptr);
  ProductNeighbors(const ProductNeighbors &) = delete; // `getFusion` refers to members.

  /// Returns the product and its neighbors. The last one in the block is the last one here.
  llvm::ArrayRef<mlir::linalg::LinalgOp> getOps() const { return ops; }
  ProductFusion getFusion() const { return {prologue ? &*prologue : nullptr, epilogue ? &*epilogue : nullptr, inputs}; }

private:
  bool fits(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed) const;
  void findPrologue(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed);
  void findInputs(const TileEmitter &emitter, KernelValues &values, const Dequantizations &dequantizations,
                  const FusionLimits &limits, CanCompute canCompute);
  void findEpilogue(mlir::linalg::LinalgOp product, KernelValues &values, const Dequantizations &dequantizations,
                    const FusionLimits &limits, const PackedOperand *packed);

  KernelOps ops;
  std::optional<ProductNeighbor> prologue;
  llvm::SmallVector<std::optional<ProductInput>, 2> inputs;
  std::optional<ProductNeighbor> epilogue;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_PRODUCTNEIGHBOR_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups structured ops that a workgroup can run one after the other on the rows of a reduction.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H

#include "inlay/Convert/Bufferize/BufferUses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// Structured ops that share parallel loops, the row loops. No iteration of the row loops needs results of another one.
/// The rows are the contiguous elements that a reduction reduces.
class RowGroup {
public:
  struct Member {
    mlir::linalg::LinalgOp op;
    llvm::SmallVector<unsigned> loops; ///< Loop of the op for each row loop.
  };

  /// Returns the group with only the reduction `anchor`. Returns nullopt if it does not reduce rows of at least
  /// `minRow` elements, or cannot reduce them in any order.
  static std::optional<RowGroup> create(mlir::linalg::LinalgOp anchor, int64_t minRow);

  /// Adds an op that runs right before (`atFront`) or after the others if they depend on each other only row by row.
  /// Products, which read some operands more than once per row, join only if `takesProducts`. Returns false if the op
  /// cannot join.
  bool join(mlir::linalg::LinalgOp op, bool atFront, bool takesProducts);

  llvm::ArrayRef<Member> members() const { return ops; }
  /// Returns the size of row loop `loop`.
  mlir::AffineExpr size(size_t loop) const { return sizes[loop]; }
  llvm::ArrayRef<mlir::AffineExpr> rowSizes() const { return sizes; }
  bool hasProducts() const;

private:
  /// Returns the loop of the op for each row loop, found by its uses of buffers that members use. Returns nullopt if
  /// some use is not row by row.
  std::optional<llvm::SmallVector<unsigned>> align(mlir::linalg::LinalgOp op) const;
  bool fits(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> loops, bool takesProducts) const;

  llvm::SmallVector<Member> ops;
  llvm::SmallVector<mlir::AffineExpr> sizes;
};

/// Returns true if `op` has reductions and also parallel loops besides `rows`.
bool isProduct(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> rows);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups structured ops that a workgroup can run one after the other on the rows of a reduction.

#ifndef INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUP_H
#define INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUP_H

#include "inlay/Convert/Bufferize/BufferUses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// Structured ops that share parallel loops, the row loops. No iteration of the row loops needs results of another one.
/// A row consists of the contiguous elements that the first reduction of the group combines.
class RowGroup {
public:
  struct Member {
    mlir::linalg::LinalgOp op;
    llvm::SmallVector<unsigned> loops; ///< Loop of the op for each row loop.
  };

  /// Returns the group with only the reduction `anchor`. Returns nullopt if its rows have fewer than `minRow` elements
  /// or are not contiguous, or if the order of the elements matters.
  static std::optional<RowGroup> create(mlir::linalg::LinalgOp anchor, int64_t minRow);

  /// Adds an op before the members if `atFront` is set, otherwise after them. Returns false if the op cannot join: it
  /// and the members must depend on each other only row by row. Products, which read some operands more than once per
  /// row, join only if `takesProducts` is set.
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

#endif // INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUP_H

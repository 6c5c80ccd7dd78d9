// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which structured ops a workgroup can run one after the other on the rows that a reduction reduces.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H

#include "inlay/Convert/Bufferize/BufferUses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// Structured ops that share parallel loops, the group's row loops, so that no iteration of those needs what another
/// computes. The rows are those that an op reduces whole, all along memory.
class RowGroup {
public:
  struct Member {
    mlir::linalg::LinalgOp op;
    llvm::SmallVector<unsigned> loops; ///< the op's loop for each row loop
  };

  /// The group of the reduction `anchor` alone; nothing if it doesn't reduce rows of at least `minRow` elements, or
  /// not in any order.
  static std::optional<RowGroup> create(mlir::linalg::LinalgOp anchor, int64_t minRow);

  /// Adds an op that runs just before (`atFront`) or after the others, if they use what it computes, or it what they
  /// do, row by row. Products, which read some operands more than once per row, join if `takesProducts`.
  bool join(mlir::linalg::LinalgOp op, bool atFront, bool takesProducts);

  llvm::ArrayRef<Member> members() const { return ops; }
  /// The size of row loop `loop`.
  mlir::AffineExpr size(size_t loop) const { return sizes[loop]; }
  llvm::ArrayRef<mlir::AffineExpr> rowSizes() const { return sizes; }
  bool hasProducts() const;

private:
  /// The op's loop for each row loop, from its uses of what members use; nothing if some use isn't row by row.
  std::optional<llvm::SmallVector<unsigned>> align(mlir::linalg::LinalgOp op) const;
  bool fits(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> loops, bool takesProducts) const;

  llvm::SmallVector<Member> ops;
  llvm::SmallVector<mlir::AffineExpr> sizes;
};

/// True if `op` has parallel loops besides `rows` as well as reductions.
bool isProduct(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> rows);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUP_H

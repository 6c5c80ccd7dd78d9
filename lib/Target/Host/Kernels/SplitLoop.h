// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop of a structured op several threads share, and which ops may run one after the other in each thread's part.

#ifndef INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H
#define INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// A parallel loop whose iterations write elements of their own.
struct SplitLoop {
  unsigned loop;
  mlir::AffineExpr size;
};

/// Loops of `op`, on buffers, that can be split, outermost first.
llvm::SmallVector<SplitLoop> findSplitLoops(mlir::linalg::LinalgOp op);

/// Structured ops that run one after the other on each part of a loop that all of them have. No iteration reads what
/// another one writes.
class SplitGroup {
public:
  explicit SplitGroup(mlir::linalg::LinalgOp first);

  /// Adds an op that follows the others if it can be split as they are.
  bool join(mlir::linalg::LinalgOp op);

  llvm::ArrayRef<std::pair<mlir::linalg::LinalgOp, std::optional<unsigned>>> members() const { return ops; }
  /// Steps of the loop; null if there is none, and one thread does it all.
  mlir::AffineExpr size() const { return steps; }
  /// Steps that go together: more than one where memory is written along the loop.
  int64_t unit() const { return together; }

  /// About how many elements `unit` steps touch.
  int64_t cost() const;

private:
  bool mayJoin(mlir::linalg::LinalgOp op, unsigned loop) const;

  llvm::SmallVector<std::pair<mlir::linalg::LinalgOp, std::optional<unsigned>>> ops; ///< each with its loop
  mlir::AffineExpr steps;
  int64_t together = 1;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H

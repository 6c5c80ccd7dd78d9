// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the loop of a structured op that several threads share, and the ops that each thread can run one after the
// other on its part of the loop.

#ifndef INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H
#define INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// A parallel loop whose iterations write different elements.
struct SplitLoop {
  unsigned loop;
  mlir::AffineExpr size;
};

/// Returns the loops by which `op` can be split, outermost first. `op` must be on buffers.
llvm::SmallVector<SplitLoop> findSplitLoops(mlir::linalg::LinalgOp op);

/// Structured ops that run one after the other on each part of a common loop. No iteration reads elements that another
/// iteration writes.
class SplitGroup {
public:
  explicit SplitGroup(mlir::linalg::LinalgOp first);

  /// Adds an op that follows the others if it can be split like them. Returns false if it cannot.
  bool join(mlir::linalg::LinalgOp op);

  llvm::ArrayRef<std::pair<mlir::linalg::LinalgOp, std::optional<unsigned>>> members() const { return ops; }
  /// Returns the number of steps of the loop, or null if there is no loop and one thread runs everything.
  mlir::AffineExpr size() const { return steps; }
  /// Returns the number of consecutive steps that run on the same thread: a unit. It is more than one if the ops write
  /// contiguous memory along the loop.
  int64_t unit() const { return together; }

  /// Returns the approximate number of elements that a unit accesses.
  int64_t cost() const;

private:
  bool mayJoin(mlir::linalg::LinalgOp op, unsigned loop) const;

  llvm::SmallVector<std::pair<mlir::linalg::LinalgOp, std::optional<unsigned>>> ops; ///< Each op with its loop.
  mlir::AffineExpr steps;
  int64_t together = 1;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_KERNELS_SPLITLOOP_H

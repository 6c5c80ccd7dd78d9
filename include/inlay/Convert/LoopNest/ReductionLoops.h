// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a reduction under construction, outermost first, with the accumulators that they carry.

#ifndef INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H
#define INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace inlay {

class ReductionLoops {
public:
  /// Starts from `accumulators` at the position of `builder`.
  ReductionLoops(const mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange accumulators)
      : builder(builder), loc(loc), values(accumulators) {}

  /// Opens a loop over [from, to) in increments of `step` and returns its index. If `cut` is not 0, opens two nested
  /// loops: the inner loop runs `cut` iterations and computes a partial sum, which is then added to the accumulator of
  /// the outer loop. The accumulators must then be sums of floats.
  mlir::Value open(mlir::Value from, mlir::Value to, int64_t step, int64_t cut = 0);

  /// Ends the innermost loop, or two loops if it was cut. `results` are the accumulators at the end of its body.
  void close(mlir::ValueRange results);
  /// Ends all loops.
  void closeAll(mlir::ValueRange results);

  /// Returns the builder inside the innermost loop.
  mlir::OpBuilder &inside() { return builder; }
  /// Returns the accumulators inside the innermost loop.
  mlir::ValueRange accumulators() const { return values; }
  bool isEmpty() const { return loops.empty(); }

private:
  struct Loop {
    mlir::scf::ForOp op;
    /// The sums to which the results of this loop are added. Empty unless the loop is part of a cut loop.
    llvm::SmallVector<mlir::Value> before;
  };
  mlir::Value openLoop(mlir::Value from, mlir::Value to, mlir::Value step, llvm::SmallVector<mlir::Value> before);

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<Loop> loops;
};

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

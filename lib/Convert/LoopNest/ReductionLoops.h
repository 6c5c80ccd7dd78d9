// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a reduction while they are emitted, outermost first, with the accumulators that go through them.

#ifndef INLAY_LIB_CONVERT_LOOPNEST_REDUCTIONLOOPS_H
#define INLAY_LIB_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace inlay {

class ReductionLoops {
public:
  /// Starts from `accumulators`, at the position of `builder`.
  ReductionLoops(const mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange accumulators)
      : builder(builder), loc(loc), values(accumulators) {}

  /// Opens a loop over [from, to), and returns its index. With a `cut`, the accumulators, of floats, are sums: after
  /// that many steps what was summed since is added to what was summed before, so there are two loops.
  mlir::Value open(mlir::Value from, mlir::Value to, int64_t step, int64_t cut = 0);

  /// Ends the innermost loop, or two if it was cut, in which the accumulators became `results`.
  void close(mlir::ValueRange results);
  /// Ends all loops.
  void closeAll(mlir::ValueRange results);

  /// Within the innermost loop.
  mlir::OpBuilder &inside() { return builder; }
  /// The accumulators there.
  mlir::ValueRange accumulators() const { return values; }
  bool isEmpty() const { return loops.empty(); }

private:
  struct Loop {
    mlir::scf::ForOp op;
    llvm::SmallVector<mlir::Value> before; ///< what the results of this loop are added to, if it is part of a cut one
  };
  mlir::Value openLoop(mlir::Value from, mlir::Value to, mlir::Value step, llvm::SmallVector<mlir::Value> before);

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<Loop> loops;
};

} // namespace inlay

#endif // INLAY_LIB_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

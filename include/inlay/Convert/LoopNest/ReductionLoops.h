// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a reduction under construction, outermost first, with the accumulators that they carry.

#ifndef INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H
#define INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace inlay {

class ReductionLoops {
public:
  /// Starts from `accumulators` at the position of `builder`.
  ReductionLoops(const mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange accumulators)
      : builder(builder), loc(loc), values(accumulators) {}

  /// Opens a loop over [from, to) in increments of `step` and returns its index. With a `cut`, opens one more loop per
  /// block: each block of steps has its own partial sum, which is then added to the sum of the larger block around it.
  /// The accumulators must then be sums of floats.
  mlir::Value open(mlir::Value from, mlir::Value to, int64_t step, const SumCut &cut = {});

  /// Ends what the last call of `open` began. `results` are the accumulators at the end of the body.
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
    mlir::scf::ForOp op; ///< Null for a block of one step.
    /// The sums to which the results of this loop are added. Empty unless the loop runs a block.
    llvm::SmallVector<mlir::Value> before;
  };
  mlir::Value openLoop(mlir::Value from, mlir::Value to, int64_t step, llvm::SmallVector<mlir::Value> before = {});
  llvm::SmallVector<mlir::Value> startBlock();

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<Loop> loops;
};

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_REDUCTIONLOOPS_H

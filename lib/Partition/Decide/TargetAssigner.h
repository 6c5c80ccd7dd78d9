// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides the target of every op of a block and of the regions that are partitioned with it.

#ifndef INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H
#define INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H

#include "Decisions.h"
#include "Fallback.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Emits an error for a function that cannot be partitioned: one with several blocks, with segments, or with a graph
/// region, whose ops have no order.
mlir::LogicalResult checkPartitionable(mlir::FunctionOpInterface function);

class TargetAssigner {
public:
  /// With `keepUnsupported`, an op that no target can run is not an error. Its verdict is then the reason of the first
  /// target.
  TargetAssigner(TargetList &targets, const FallbackFilter &filter, bool keepUnsupported = false)
      : targets(targets), filter(filter), keepUnsupported(keepUnsupported) {}

  /// Sets `inlay.verdict` on each op of the block that partitioning places. Descends into the regions of control flow
  /// that is not wholly on one accelerator.
  mlir::LogicalResult annotate(mlir::Block &block, const Aliases &aliases);

  /// Returns the decisions for the ops of one block and writes nothing.
  mlir::FailureOr<Decisions> decideBlock(const DependencyGraph &graph);

private:
  mlir::FailureOr<Decision> decide(mlir::Operation *op);
  mlir::FailureOr<Decision> decidePinned(mlir::Operation *op, llvm::StringRef name);
  mlir::FailureOr<Decision> decideForced(mlir::Operation *op, Verdict verdict);
  Decision decideControlFlow(mlir::Operation *op);
  /// Returns the first op among `op` and the ops in its regions that cannot go to the target, and the reason.
  std::pair<mlir::Operation *, Verdict> findBlocker(mlir::Operation *op, unsigned target);
  mlir::FailureOr<Decision> decideUnsupported(mlir::Operation *op);

  TargetList &targets;
  const FallbackFilter &filter;
  bool keepUnsupported;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H

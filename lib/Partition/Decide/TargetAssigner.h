// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A verdict for every op of a block and of the regions that are partitioned with it.

#ifndef INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H
#define INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H

#include "Decisions.h"
#include "Fallback.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Reports functions that can't be partitioned: of several blocks, partitioned already, or
/// with a graph region, whose ops have no order.
mlir::LogicalResult checkPartitionable(mlir::FunctionOpInterface function);

class TargetAssigner {
public:
  /// With `keepUnsupported` an op that no target can run is no error: its verdict is the first target's refusal.
  TargetAssigner(TargetList &targets, const FallbackFilter &filter, bool keepUnsupported = false)
      : targets(targets), filter(filter), keepUnsupported(keepUnsupported) {}

  /// Writes `inlay.verdict` on each op of the block that partitioning places; descends into the regions of control flow
  /// that is not wholly on one accelerator.
  mlir::LogicalResult annotate(mlir::Block &block, const Aliases &aliases);

  /// The same for the ops of one block, without writing anything.
  mlir::FailureOr<Decisions> decideBlock(const DependencyGraph &graph);

private:
  mlir::FailureOr<Decision> decide(mlir::Operation *op);
  mlir::FailureOr<Decision> decidePinned(mlir::Operation *op, llvm::StringRef name);
  mlir::FailureOr<Decision> decideForced(mlir::Operation *op, Verdict verdict);
  Decision decideControlFlow(mlir::Operation *op);
  /// The first op in the regions of `op`, or itself, that can't go to the target, and why.
  std::pair<mlir::Operation *, Verdict> findBlocker(mlir::Operation *op, unsigned target);
  mlir::FailureOr<Decision> decideUnsupported(mlir::Operation *op);

  TargetList &targets;
  const FallbackFilter &filter;
  bool keepUnsupported;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_TARGETASSIGNER_H

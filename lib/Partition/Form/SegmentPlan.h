// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of a block form which segment: the block's dependencies and decisions made a schedule graph, and the
// schedule made ops again. Nothing is changed in the IR.

#ifndef INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H
#define INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H

#include "Partition/Cost/ModuleCosts.h"
#include "Partition/Decide/Decisions.h"
#include "inlay/Partition/PartitionInfo.h"

namespace inlay {

struct PlannedSegment {
  unsigned target;
  bool doNotMerge;
  llvm::SmallVector<unsigned, 0> ops;    ///< numbers in the dependency graph, ascending
  llvm::SmallVector<unsigned, 0> clones; ///< ops of other segments that are copied in, ascending
};

/// Seconds under a cost model of the placement that was chosen and of those it is compared with.
struct PlacementTimes {
  double chosen = 0, allAccelerated = 0, allHost = 0, minSized = 0;
  double lowerBound = 0; ///< no placement takes less; 0 if none was proven
  int64_t minSize = 1;   ///< of the accelerator segments in `minSized`
};

struct SegmentPlan {
  std::vector<PlannedSegment> segments; ///< in execution order
  std::vector<unsigned> witness;        ///< ops of a path that proves the number of segments; may be empty
  uint32_t lowerBound = 0;              ///< no segments of the same decisions are fewer
  /// Bytes of known size times borders they are carried over, and what they were before ops were moved for their sake.
  uint64_t bytesCarried = 0, bytesCarriedBefore = 0;
  std::optional<PlacementTimes> times; ///< if a cost model is in effect
};

/// Plans the segments of a block; changes the decisions of ops that are demoted or join another target. `costs` is the
/// cost model in effect, which `Strategy::Cost` needs, or null.
mlir::FailureOr<SegmentPlan> planSegments(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                          const PartitionInfo &info, const ModuleCosts *costs);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H

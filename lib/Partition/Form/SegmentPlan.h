// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assignment of the ops of a block to segments. The dependencies and decisions become a schedule graph, and the
// schedule becomes lists of ops. The IR is not changed.

#ifndef INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H
#define INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H

#include "Partition/Cost/ModuleCosts.h"
#include "Partition/Decide/Decisions.h"
#include "inlay/Partition/PartitionInfo.h"

namespace inlay {

struct PlannedSegment {
  unsigned target;
  bool doNotMerge;
  llvm::SmallVector<unsigned, 0> ops;    ///< Numbers in the dependency graph, ascending.
  llvm::SmallVector<unsigned, 0> clones; ///< Ops of other segments that are cloned into this one, ascending.
};

/// Seconds under a cost model: of the chosen placement and of those that it is compared with.
struct PlacementTimes {
  double chosen = 0, allAccelerated = 0, allHost = 0, minSized = 0;
  double lowerBound = 0; ///< No placement takes less; 0 if no bound is proven.
  int64_t minSize = 1;   ///< Minimum size of the accelerator segments in `minSized`.
};

struct SegmentPlan {
  std::vector<PlannedSegment> segments; ///< In execution order.
  std::vector<unsigned> witness;        ///< Ops of a path that proves the number of segments. May be empty.
  uint32_t lowerBound = 0;              ///< No plan for the same decisions has fewer segments.
  /// The bytes of each value of known size, times the number of borders that the value is carried over, summed over
  /// these values. `bytesCarriedBefore` is the sum before ops were moved to reduce it.
  uint64_t bytesCarried = 0, bytesCarriedBefore = 0;
  std::optional<PlacementTimes> times; ///< Present if a cost model is in effect.
};

/// Plans the segments of a block. Changes the decisions of ops that are demoted or join another target. `costs` is the
/// cost model in effect or null. `Strategy::Cost` requires it.
mlir::FailureOr<SegmentPlan> planSegments(const DependencyGraph &graph, TargetList &targets, Decisions &decisions,
                                          const PartitionInfo &info, const ModuleCosts *costs);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_SEGMENTPLAN_H

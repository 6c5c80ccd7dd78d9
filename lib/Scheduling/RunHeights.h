// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the minimum number of segments that paths through a graph need. A run is a stretch of a path whose nodes
// have one target. A host node that must be isolated is counted separately: it ends the run before it and is no run
// itself.

#ifndef INLAY_LIB_SCHEDULING_RUNHEIGHTS_H
#define INLAY_LIB_SCHEDULING_RUNHEIGHTS_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Returns true if the node needs a segment that it shares with no other node. Neutral nodes do not, since they may
/// move to another target.
inline bool isIsolated(const ScheduleGraph &graph, NodeId node) {
  const ScheduleNode &info = graph.nodes[node];
  return !info.neutral && graph.isIsolatedOn(node, info.target);
}

/// For each node, the maximum number of runs on a path from it. Neutral nodes neither count nor end a run.
struct RunHeights {
  std::vector<uint32_t> height;
  /// For each node, the targets of the first runs on the paths of that height. All targets if such a path does not
  /// start with a run.
  std::vector<TargetSet> firstTargets;

  /// Returns the maximum height of all nodes.
  uint32_t maxHeight() const;
};

/// Computes the heights, counting only runs whose target is in `counted`. Nodes of other targets end runs.
RunHeights computeRunHeights(const ScheduleGraph &graph, TargetSet counted);

/// Returns a lower bound on the length of the sequence of targets of a schedule, isolated nodes not counted.
uint32_t boundSequence(const ScheduleGraph &graph, const RunHeights &heights);

/// Returns the number of nodes for which `isIsolated` is true.
uint32_t countIsolated(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_RUNHEIGHTS_H

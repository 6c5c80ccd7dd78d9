// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many segments paths through a graph need at least. A host node that must be a segment of its own is counted
// apart: it ends any run before it, and is no run itself.

#ifndef INLAY_LIB_SCHEDULING_RUNHEIGHTS_H
#define INLAY_LIB_SCHEDULING_RUNHEIGHTS_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// The node is a segment of its own unless a neutral one finds another place.
inline bool isIsolated(const ScheduleGraph &graph, NodeId node) {
  const ScheduleNode &info = graph.nodes[node];
  return !info.neutral && graph.isIsolatedOn(node, info.target);
}

/// For each node the most runs of targets on a path from it. Neutral nodes neither count nor end a run.
struct RunHeights {
  std::vector<uint32_t> height;
  std::vector<TargetSet>
      firstTargets; ///< targets that paths of that height start with; all where one starts with no run

  uint32_t most() const;
};

/// Nodes of other targets than those counted end runs, and are none.
RunHeights computeRunHeights(const ScheduleGraph &graph, TargetSet counted);

/// No word of targets that schedules the graph is shorter.
uint32_t boundSequence(const ScheduleGraph &graph, const RunHeights &heights);

/// Nodes that are apart.
uint32_t countIsolated(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_RUNHEIGHTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms the fewest segments for nodes with given targets. The result does not depend on the order in which the nodes
// are written.
//
// For two targets, a forward walk gives each node the smallest level that its predecessors and its target allow. The
// walk is done for both starting targets. The smaller number of levels is the least number of segments. If both walks
// need the same number, the one with fewer accelerator segments is used. It then also has the fewest possible
// accelerator segments. A path that reaches the last level proves the number of segments. For three and more targets
// the problem is NP-hard. A search then looks for a short sequence of targets, in which each target runs all nodes that
// are ready on it.

#ifndef INLAY_SCHEDULING_LEVELSCHEDULE_H
#define INLAY_SCHEDULING_LEVELSCHEDULE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// A placement with a lower bound on its number of segments, if one is proven.
struct BoundedPlacement {
  Placement placement;
  uint32_t lowerBound = 0;
  std::vector<NodeId> witness;
};

/// Returns a placement with the fewest segments. Isolated nodes still share a segment with other nodes of their target;
/// `finishSchedule` separates them.
BoundedPlacement placeByLevels(const ScheduleGraph &graph);

/// Returns the result of `placeByLevels`, followed by the placement that starts with the other target if that has as
/// many segments, in total and on accelerators.
std::vector<BoundedPlacement> placeByLevelsFromEither(const ScheduleGraph &graph);

/// Starts a new segment whenever the next node has another target. For comparison.
BoundedPlacement placeInOrder(const ScheduleGraph &graph);

/// Alternates between all ready nodes that are not on accelerators and all ready nodes that are. On each side, a new
/// segment starts whenever the next ready node has another target. The splitter of torch.fx and the Torch-TensorRT
/// partitioner for several backends work this way. For comparison.
BoundedPlacement placeByTurns(const ScheduleGraph &graph);

/// Returns the placement of the shortest sequence of targets that a deterministic search finds, for any number of
/// targets. Ties are broken by the numbers of nodes: see `orderCanonically`.
BoundedPlacement placeByBeamSearch(const ScheduleGraph &graph);

/// Searches for a placement for two targets whose sequence is shorter than `limit`, not counting isolated nodes, and
/// contains accelerators no more often than necessary. Returns false if the search finds none.
bool placeByShorterSequence(const ScheduleGraph &graph, uint32_t limit, Placement &placement);

/// Returns a lower bound on the number of segments for the targets of the graph: the maximum of the bounds by the
/// longest path, by the sum over targets and by pairs of targets, plus the number of isolated nodes.
uint32_t boundSegments(const ScheduleGraph &graph);

/// Moves neutral nodes from host segments to accelerator segments if this adds no segment. A node stays if a
/// predecessor runs on the host and no successor runs on an accelerator.
void settleNeutral(const ScheduleGraph &graph, Placement &placement);

/// Moves sinkable nodes to the segment of their first user, or to the nearest segment before it that may hold them.
/// Takes no node from an accelerator segment whose op count would fall below `minSize`.
void sinkToUsers(const ScheduleGraph &graph, Placement &placement, uint64_t minSize);

/// Returns the placement as segments. Each isolated node becomes a separate segment. The other nodes of its segment are
/// split into as few segments as a level pass finds.
Schedule finishSchedule(const ScheduleGraph &graph, BoundedPlacement placed);

/// Calls `placeByLevels` and `finishSchedule`.
Schedule scheduleByLevels(const ScheduleGraph &graph);
/// Calls `placeInOrder` and `finishSchedule`.
Schedule scheduleInOrder(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_SCHEDULING_LEVELSCHEDULE_H

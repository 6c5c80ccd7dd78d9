// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fewest segments for nodes with given targets. The result does not depend on the order in which the nodes are
// written.
//
// For two targets, a forward walk gives each node the smallest level that its predecessors and its target allow. The
// walk is done for both starting targets. The number of levels is the least number of segments. It is also the least
// number of accelerator segments if a tie starts on the host. The path that attains the last level proves it. For three
// and more targets the problem is NP-hard. There, a search looks for a short sequence of targets, each step of which
// runs all nodes that are ready on its target.

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

/// Returns the result of `placeByLevels`. The placement that starts with the other target follows if it has as many
/// segments, in total and on accelerators.
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

/// Searches, for two targets, a placement whose sequence has fewer than `limit` steps, isolated nodes not counted, and
/// no more accelerator steps than needed. Returns false if the search finds none.
bool placeByShorterSequence(const ScheduleGraph &graph, uint32_t limit, Placement &placement);

/// Returns a lower bound on the number of segments for the targets of the graph: the maximum of the bounds by the
/// longest path, by the sum over targets and by pairs of targets, plus the number of isolated nodes.
uint32_t boundSegments(const ScheduleGraph &graph);

/// Moves neutral nodes from host segments to accelerator segments where this needs no further segment. Nodes that only
/// continue work of the host stay.
void settleNeutral(const ScheduleGraph &graph, Placement &placement);

/// Moves sinkable nodes to the segment of their first user, or to the nearest segment before it that may hold them.
/// Takes no node from an accelerator segment whose op count would fall below `minSize`.
void sinkToUsers(const ScheduleGraph &graph, Placement &placement, uint64_t minSize);

/// Returns the placement as segments. Each isolated node becomes a segment, with as few further segments as the level
/// pass makes.
Schedule finishSchedule(const ScheduleGraph &graph, BoundedPlacement placed);

/// Calls `placeByLevels` and `finishSchedule`.
Schedule scheduleByLevels(const ScheduleGraph &graph);
/// Calls `placeInOrder` and `finishSchedule`.
Schedule scheduleInOrder(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_SCHEDULING_LEVELSCHEDULE_H

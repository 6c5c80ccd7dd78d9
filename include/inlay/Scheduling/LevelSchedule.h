// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments from targets: the fewest, whatever order the nodes are written in.
//
// Two targets: one forward walk gives each node the smallest level its predecessors and its target allow, for both
// starting targets. The number of levels is the least number of segments, and of accelerator segments too if a tie
// starts on the host; the path that attains the last level proves it. Three targets and more (NP-hard): words of
// targets, each letter of which runs all that is ready in that target.

#ifndef INLAY_SCHEDULING_LEVELSCHEDULE_H
#define INLAY_SCHEDULING_LEVELSCHEDULE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// A placement with a lower bound on its number of segments, as far as one is proven.
struct BoundedPlacement {
  Placement placement;
  uint32_t lowerBound = 0;
  std::vector<NodeId> witness;
};

/// Fewest segments; nodes that are segments of their own still share one with others of their target.
BoundedPlacement placeByLevels(const ScheduleGraph &graph);

/// The same, and behind it the placement that starts with the other target where that needs equally many segments, in
/// all and on accelerators.
std::vector<BoundedPlacement> placeByLevelsFromEither(const ScheduleGraph &graph);

/// A new segment whenever the next node has another target; for comparison.
BoundedPlacement placeInOrder(const ScheduleGraph &graph);

/// All that is ready off accelerators, then all that is ready on them, and again; on each side a new segment whenever
/// the next ready node has another target. So do torch.fx's splitter and Torch-TensorRT's partitioner for several
/// backends; for comparison.
BoundedPlacement placeByTurns(const ScheduleGraph &graph);

/// For any number of targets: the shortest word of targets that a deterministic search finds. Ties are broken by the
/// numbers of nodes: see `orderCanonically`.
BoundedPlacement placeByBeamSearch(const ScheduleGraph &graph);

/// For two targets: a placement whose word is shorter than `limit`, nodes that are segments of their own aside, with no
/// more accelerator letters than needed. False if the search finds none.
bool placeByShorterSequence(const ScheduleGraph &graph, uint32_t limit, Placement &placement);

/// No schedule of the graph's targets has fewer segments: by the longest path, by the sum over targets and by pairs of
/// targets, with nodes that are segments of their own counted as such.
uint32_t boundSegments(const ScheduleGraph &graph);

/// Moves neutral nodes from host segments to accelerator ones where that needs no further segment, except those that
/// only continue what the host made.
void settleNeutral(const ScheduleGraph &graph, Placement &placement);

/// Moves late nodes to the segment of their first user or the nearest before it, but takes none from an accelerator
/// segment that would weigh less than `least` without it.
void sinkToUsers(const ScheduleGraph &graph, Placement &placement, uint64_t minSize);

/// The placement as segments; each node that must be a segment of its own becomes one, with as few further ones as the
/// level pass makes.
Schedule finishSchedule(const ScheduleGraph &graph, BoundedPlacement placed);

/// `placeByLevels` and `finishSchedule`.
Schedule scheduleByLevels(const ScheduleGraph &graph);
Schedule scheduleInOrder(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_SCHEDULING_LEVELSCHEDULE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Among equally many segments those that hold the least between them. A value that is made in one segment and read in
// a later one is carried over each border between; nodes that may run in several segments of their target are moved to
// where that sums up to fewer bytes. Exact, by a minimum cut, up to a stated size; a descent in linear time above it.

#ifndef INLAY_SCHEDULING_SLACKPLACEMENT_H
#define INLAY_SCHEDULING_SLACKPLACEMENT_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// The sum over nodes of their bytes times the borders between them and their last reader.
uint64_t countCarriedBytes(const ScheduleGraph &graph, const std::vector<uint32_t> &segment);
uint64_t countCarriedBytes(const ScheduleGraph &graph, const Schedule &schedule);

/// The answer is exact as long as the segments that nodes may stand in besides their first, added up over nodes, are no
/// more than this, the cut takes no more steps than that (a few tenths of a second), and no segment has to be kept from
/// getting too small. Models of a thousand ops are well within; random graphs are up to about 4,000 nodes.
constexpr size_t kExactPlaces = 50'000;
constexpr uint64_t kExactSteps = 20'000'000;

/// Whether the graph has so many nodes and edges that slack is only sought in one pass.
bool isLarge(const ScheduleGraph &graph);

/// Moves nodes between segments of one target so that the least bytes are carried, and none at all if none would be
/// saved. Takes none from an accelerator segment that would weigh less than `least` without it.
void placeWithSlack(const ScheduleGraph &graph, Placement &placement, uint64_t minSize);

} // namespace inlay

#endif // INLAY_SCHEDULING_SLACKPLACEMENT_H

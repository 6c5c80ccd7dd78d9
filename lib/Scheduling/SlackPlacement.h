// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves nodes between segments of their target to reduce the bytes carried between segments. The number of segments
// stays the same. A value that is made in one segment and read in a later one is carried over each border between the
// two. Up to the limits below, a minimum cut finds the exact answer. Above them, a descent finds an approximate one in
// linear time.

#ifndef INLAY_LIB_SCHEDULING_SLACKPLACEMENT_H
#define INLAY_LIB_SCHEDULING_SLACKPLACEMENT_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Returns the sum over nodes of their bytes times the number of borders between them and their last reader.
uint64_t countCarriedBytes(const ScheduleGraph &graph, const std::vector<uint32_t> &segment);
uint64_t countCarriedBytes(const ScheduleGraph &graph, const Schedule &schedule);

/// Limits of the exact answer. A node has as many places to move to as there are other segments that it may be in.
/// `placeWithSlack` is exact if these places add up to at most `kExactPlaces` over all nodes, the cut takes at most
/// `kExactSteps` steps (a few tenths of a second), and no node has to stay in its segment because the segment would
/// become too small. Models of a thousand ops are well within these limits. Random graphs are within them up to about
/// 4,000 nodes.
constexpr size_t kExactPlaces = 50'000;
constexpr uint64_t kExactSteps = 20'000'000;

/// Returns true if the graph has so many nodes and edges that `placeWithSlack` makes only one pass over it.
bool isLarge(const ScheduleGraph &graph);

/// Moves nodes between segments of the same target so that the fewest bytes are carried. Moves nothing if this would
/// save nothing. Takes no node from an accelerator segment whose op count would fall below `minSize`.
void placeWithSlack(const ScheduleGraph &graph, Placement &placement, uint64_t minSize);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_SLACKPLACEMENT_H

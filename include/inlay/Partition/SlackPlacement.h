// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Among equally many segments those that hold the least between them. A value that is made in one segment and read in
// a later one is carried over each border between; nodes that may run in several segments of their colour are moved to
// where that sums up to fewer bytes. Exact answers are a min-cost flow; this is a descent that takes linear time.

#ifndef INLAY_PARTITION_SLACKPLACEMENT_H
#define INLAY_PARTITION_SLACKPLACEMENT_H

#include "inlay/Partition/ScheduleGraph.h"

namespace inlay {

/// The sum over nodes of their bytes times the borders between them and their last reader.
uint64_t countCarriedBytes(const ScheduleGraph &graph, const std::vector<uint32_t> &segment);
uint64_t countCarriedBytes(const ScheduleGraph &graph, const Schedule &schedule);

/// Moves nodes between segments of one colour so that no more bytes are carried than before, and none at all if that
/// wouldn't make them fewer. Takes none from an accelerator segment that would weigh less than `least` without it.
void placeWithSlack(const ScheduleGraph &graph, Placement &placement, uint64_t least);

} // namespace inlay

#endif // INLAY_PARTITION_SLACKPLACEMENT_H

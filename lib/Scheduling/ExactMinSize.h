// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The most that can be kept in accelerator segments of a least size, exactly: a dynamic programme over order ideals
// (the sets of nodes that may run first) with the open segment's size in the state. For small graphs; the problem is
// NP-complete.

#ifndef INLAY_LIB_SCHEDULING_EXACTMINSIZE_H
#define INLAY_LIB_SCHEDULING_EXACTMINSIZE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// A placement that keeps the most weight on accelerators, then has the fewest segments, with none that is small and
/// could be demoted. Demoted nodes get their new targets in `graph`. False, and nothing changes, if the graph has more
/// than 64 nodes or too many ideals.
bool placeWithMinSizeExactly(ScheduleGraph &graph, uint64_t minSize, Placement &placement);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_EXACTMINSIZE_H

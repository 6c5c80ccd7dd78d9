// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the exact placement that keeps the most ops in accelerator segments of a minimum size, by a dynamic program
// over order ideals (the sets of nodes that may run first). A state includes the size of the open segment. The problem
// is NP-complete, so this is for small graphs.

#ifndef INLAY_LIB_SCHEDULING_EXACTMINSIZE_H
#define INLAY_LIB_SCHEDULING_EXACTMINSIZE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Sets `placement` to one that keeps the most ops on accelerators and, among those, has the fewest segments. A segment
/// is smaller than `minSize` only if one of its nodes cannot be demoted. Demoted nodes get their new targets in
/// `graph`. Returns false and changes nothing if the graph has more than 64 nodes or too many ideals.
bool placeWithMinSizeExactly(ScheduleGraph &graph, uint64_t minSize, Placement &placement);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_EXACTMINSIZE_H

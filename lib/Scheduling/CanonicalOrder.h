// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of nodes that depends on the graph alone, so that heuristics whose ties go by number give the same answer
// however the nodes were written. Nodes are told apart by hashes of what is before and after them, refined in sweeps
// along whole paths (after Weisfeiler and Leman); of nodes that remain alike any may come first, and what hangs on it
// follows at once. Linear but for sorting each node's neighbours; 16 bytes per node and 4 per edge.

#ifndef INLAY_LIB_SCHEDULING_CANONICALORDER_H
#define INLAY_LIB_SCHEDULING_CANONICALORDER_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// All nodes, each after its predecessors.
std::vector<NodeId> orderCanonically(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_CANONICALORDER_H

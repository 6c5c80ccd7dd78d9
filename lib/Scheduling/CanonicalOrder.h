// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes an order of nodes that depends only on the graph. Heuristics that break ties by node number then give the
// same answer for any order in which the nodes are written. Nodes are distinguished by hashes of their predecessors and
// successors, which are refined in sweeps along whole paths (after Weisfeiler and Leman). If nodes still have equal
// hashes, any of them may come first, and the nodes connected to it follow immediately. The time is linear, except for
// sorting the neighbors of each node. The memory is 16 bytes per node and 4 bytes per edge.

#ifndef INLAY_LIB_SCHEDULING_CANONICALORDER_H
#define INLAY_LIB_SCHEDULING_CANONICALORDER_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Returns all nodes, each after its predecessors.
std::vector<NodeId> orderCanonically(const ScheduleGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_CANONICALORDER_H

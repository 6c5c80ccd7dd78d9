// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exact search for the placement that carries the fewest bytes. Placements form a product of chains, and the bytes
// are submodular on it (the dual of a min-cost flow; cf. register-minimizing retiming, Leiserson and Saxe). The best of
// all placements within windows is therefore a minimum cut with an item for each node and each place of the node after
// its first.

#ifndef INLAY_LIB_SCHEDULING_SLACKCUT_H
#define INLAY_LIB_SCHEDULING_SLACKCUT_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

struct CutLimits {
  uint32_t window;  ///< Number of segments of its target that a node may move in either direction.
  size_t maxPlaces; ///< Maximum number of places of all nodes, not counting each node's first. Larger problems are not
                    ///< tried.
  uint64_t budget;  ///< Number of steps left to solve problems. Calls subtract the steps that they take.
};

/// Moves the nodes that are not `fixed` so that the fewest bytes are carried within the window, and no further than
/// needed. Returns false and moves nothing if a limit is exceeded.
bool placeByCut(const ScheduleGraph &graph, Placement &placement, const std::vector<bool> &fixed, CutLimits &limits);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_SLACKCUT_H

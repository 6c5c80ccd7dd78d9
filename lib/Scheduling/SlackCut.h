// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The least bytes carried, exactly: where nodes stand is a product of chains, the bytes are submodular on it (the dual
// of a min-cost flow; cf. register-minimising retiming, Leiserson and Saxe), so the best of all placements within
// windows is a minimum cut with an item for each node and each place it may move on to.

#ifndef INLAY_LIB_SCHEDULING_SLACKCUT_H
#define INLAY_LIB_SCHEDULING_SLACKCUT_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

struct CutLimits {
  uint32_t window;  ///< how many segments of its target a node may move either way
  size_t maxPlaces; ///< that nodes may take besides their first; problems that are larger are not tried
  uint64_t budget;  ///< steps that are left to solve problems; taken off
};

/// Moves the nodes that are not `fixed` to where the least bytes are carried within the window, and no further than
/// needed. False, and nothing moves, beyond a limit.
bool placeByCut(const ScheduleGraph &graph, Placement &placement, const std::vector<bool> &fixed, CutLimits &limits);

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_SLACKCUT_H

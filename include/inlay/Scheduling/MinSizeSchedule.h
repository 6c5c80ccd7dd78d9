// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accelerator segments of at least a given size. Keeping the most nodes is NP-complete: small graphs are solved
// exactly; in others small segments are filled from their neighbours as far as dependencies leave room, and only nodes
// that can move nowhere are demoted, on the graph and on its reverse. What others keep by dropping small segments is
// the least.

#ifndef INLAY_SCHEDULING_MINSIZESCHEDULE_H
#define INLAY_SCHEDULING_MINSIZESCHEDULE_H

#include "inlay/Scheduling/LevelSchedule.h"
#include "inlay/Scheduling/Strategy.h"

namespace inlay {

/// A schedule in which every accelerator segment weighs at least `least`, except those with a node that can't be
/// demoted; size is the sum of the nodes' weights, and ops are what a node's weight counts. Nodes that are demoted have
/// their new target in `graph`.
///
/// By levels, neutral nodes aside, it keeps no less on accelerators than Torch-TensorRT's TorchScript front end does,
/// than torch.fx's splitter and than Torch-TensorRT's partitioner for several backends if they drop small segments. How
/// nodes are numbered changes nothing that is counted, unless Torch-TensorRT's walk, which depends on it, keeps the
/// most. Takes O(V + E), times how often nodes are demoted as far as a budget of work per node and edge goes.
Schedule scheduleWithMinSize(ScheduleGraph &graph, Strategy strategy, int64_t minSize);

} // namespace inlay

#endif // INLAY_SCHEDULING_MINSIZESCHEDULE_H

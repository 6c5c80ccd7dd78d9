// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules whose accelerator segments have a minimum op count. Users set it as `PartitionInfo::minBlockSize`, which is
// the option `min-block-size` of the passes in `Partition/Passes.td`.
//
// Keeping the most nodes on accelerators is NP-complete. Small graphs are solved exactly. In larger graphs, small
// segments are filled from their neighbors as far as dependencies allow, and only nodes that cannot move anywhere are
// demoted. This is done on the graph and on its reverse. The result keeps at least as many ops on accelerators as
// dropping all small segments would.

#ifndef INLAY_SCHEDULING_MINSIZESCHEDULE_H
#define INLAY_SCHEDULING_MINSIZESCHEDULE_H

#include "inlay/Scheduling/LevelSchedule.h"
#include "inlay/Scheduling/Strategy.h"

namespace inlay {

/// Returns a schedule in which the op count of every accelerator segment is at least `minSize`, except for segments
/// with a node that cannot be demoted. The op count of a segment is the sum of `ScheduleNode::opCount`. Demoted nodes
/// get their new target in `graph`.
///
/// With `Strategy::Levels`, the schedule keeps at least as many ops on accelerators, not counting neutral nodes, as
/// each of these partitioners does if it drops small segments: the TorchScript front end of Torch-TensorRT, the
/// splitter of torch.fx, and the Torch-TensorRT partitioner for several backends. The counts do not depend on how nodes
/// are numbered, unless the Torch-TensorRT walk keeps the most ops, because that walk depends on the numbering. One
/// round takes O(V + E). The rounds of demotion are limited by a budget of work per node and edge.
Schedule scheduleWithMinSize(ScheduleGraph &graph, Strategy strategy, int64_t minSize);

} // namespace inlay

#endif // INLAY_SCHEDULING_MINSIZESCHEDULE_H

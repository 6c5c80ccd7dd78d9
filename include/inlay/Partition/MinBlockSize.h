// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accelerator segments of at least a given size. Keeping the most nodes is NP-complete; this fills small segments from
// their neighbours as far as dependencies leave room, and demotes only the nodes that can move nowhere.

#ifndef INLAY_PARTITION_MINBLOCKSIZE_H
#define INLAY_PARTITION_MINBLOCKSIZE_H

#include "inlay/Partition/LevelSchedule.h"
#include "inlay/Partition/PartitionInfo.h"

namespace inlay {

/// A schedule in which every accelerator segment weighs at least `least`, except those with a node that can't be
/// demoted. Nodes that are demoted have their new colour in `graph`. Keeps no less on accelerators than dropping the
/// small segments of the level pass does.
Schedule scheduleWithLeastSize(ScheduleGraph &graph, Strategy strategy, int64_t least);

} // namespace inlay

#endif // INLAY_PARTITION_MINBLOCKSIZE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments as Torch-TensorRT's TorchScript front end forms them: one walk in program order with an open segment per
// target, each closed by the first node that depends on it. How many that makes depends on the order of the nodes and
// has no bound; it is there to compare with.

#ifndef INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H
#define INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Accelerator segments that weigh less than `least` are demoted, in `graph` too, unless a node of theirs can't be.
/// Proves no lower bound.
Schedule scheduleLikeTorchTensorRT(ScheduleGraph &graph, int64_t minSize);

} // namespace inlay

#endif // INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H

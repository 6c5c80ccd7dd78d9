// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments as the TorchScript front end of Torch-TensorRT forms them. One walk in program order keeps an open segment
// per target and closes it at the first node that depends on it. The number of segments depends on the order of the
// nodes and has no bound. For comparison.

#ifndef INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H
#define INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H

#include "inlay/Scheduling/ScheduleGraph.h"

namespace inlay {

/// Demotes accelerator segments whose op count is less than `minSize`, in `graph` too, unless they contain a node that
/// cannot be demoted. Proves no lower bound.
Schedule scheduleLikeTorchTensorRT(ScheduleGraph &graph, int64_t minSize);

} // namespace inlay

#endif // INLAY_SCHEDULING_TORCHTENSORRTSCHEDULE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates the segments of a block according to a plan.

#ifndef INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H
#define INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H

#include "SegmentPlan.h"

namespace inlay {

/// Moves the ops of the block into closed segments before its terminator, in the order of the plan.
void buildSegments(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H

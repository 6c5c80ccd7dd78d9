// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries out a plan: makes the segments of a block.

#ifndef INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H
#define INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H

#include "SegmentPlan.h"

namespace inlay {

/// Moves the ops of the block into closed segments before its terminator, in the plan's order.
void buildSegments(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_SEGMENTBUILDER_H

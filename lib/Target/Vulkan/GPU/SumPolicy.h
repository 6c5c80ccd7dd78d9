// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the number of parts into which a long reduction is split, so that they run in parallel. One kernel sums the
// parts, and a second one joins them. RowKernel.cpp joins the shares of a workgroup in one kernel. The functions depend
// only on loop sizes, access strides and the costs in a profile, so unit tests need neither IR nor a device.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H
#define INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

namespace inlay {

/// Returns the best number of parts of reduction `loop`, a divisor of its size. Each part is computed as a separate
/// element, and a second kernel joins the parts of an element. Returns 1 if splitting is not worthwhile. An invocation
/// can run at most `longest` reduction steps. If an element needs more, returns a number of parts that keeps each part
/// within this limit, or 1 if no divisor does. `isAlone` is false if neighbors of the op use the same rows. An op that
/// is not a product is then split only if it exceeds the limit, so that it can stay in one kernel with its neighbors.
/// `isPacked` is true for a product with packed weights.
int64_t chooseParts(const LoopNestShape &shape, size_t loop, int64_t longest, const SubgroupProductProfile &profile,
                    bool isAlone = false, bool isPacked = false);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H

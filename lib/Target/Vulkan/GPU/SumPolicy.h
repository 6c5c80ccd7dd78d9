// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Into how many parts a long reduction is split, so that they can be computed beside each other. Pure functions of loop
// sizes, access strides and a device's properties, so that they can be tested without IR or device.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H
#define INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

namespace inlay {

/// The number of parts that reduction `loop` is best split into, a divisor of its size: each part is computed as an
/// element of its own, and a second kernel joins those of one element. 1 where that doesn't pay, unless more than
/// `longest` steps of reductions make an element, more than an invocation can do: then the number that leaves so few,
/// or 1 if no divisor does. What isn't a product and has neighbours that go along the same rows, not `isAlone`, is a
/// part of their kernel as long as that can be.
int64_t chooseParts(const LoopNestShape &shape, size_t loop, int64_t longest, const SubgroupProductProfile &profile,
                    bool isAlone = false);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_SUMPOLICY_H

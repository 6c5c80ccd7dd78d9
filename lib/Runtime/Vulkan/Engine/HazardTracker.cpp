// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides if a dispatch needs a barrier: it does if it conflicts with a use since the last barrier. Command.cpp
// records the barrier.

#include "HazardTracker.h"

namespace inlay::rt::vulkan {

static bool conflict(const HazardTracker::Use &earlier, const HazardTracker::Use &later) {
  bool overlap = earlier.memory == later.memory && earlier.begin < later.end && later.begin < earlier.end;
  return overlap && (earlier.access != Access::Read || later.access != Access::Read);
}

bool HazardTracker::needsBarrier(const std::vector<Use> &uses) {
  bool found = false;
  for (const Use &earlier : since_)
    for (const Use &later : uses)
      found |= conflict(earlier, later);
  if (found)
    since_.clear();
  since_.insert(since_.end(), uses.begin(), uses.end());
  return found;
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HazardTracker: where a barrier must stand between dispatches.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::vulkan {

/// Follows one command buffer from its first dispatch to its last.
class HazardTracker {
public:
  /// Bytes [begin, end) of one memory, and what a dispatch does with them.
  struct Use {
    uint64_t memory;
    uint64_t begin;
    uint64_t end;
    Access access;
  };

  /// True if the dispatch with these uses must wait for an earlier one: some bytes overlap and one side writes.
  /// The caller then records a barrier against all earlier dispatches.
  bool needsBarrier(const std::vector<Use> &uses);

private:
  std::vector<Use> since_; ///< uses since the last barrier
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H

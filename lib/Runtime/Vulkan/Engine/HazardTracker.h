// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HazardTracker: decides where barriers are needed between dispatches.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::vulkan {

/// Tracks the dispatches of one command buffer in order.
class HazardTracker {
public:
  /// Bytes [begin, end) of a memory block, and a dispatch's access to them.
  struct Use {
    uint64_t memory;
    uint64_t begin;
    uint64_t end;
    Access access;
  };

  /// Returns true if the dispatch with these uses must wait for an earlier one: bytes overlap and one side writes. The
  /// caller must then record a barrier against all earlier dispatches.
  bool needsBarrier(const std::vector<Use> &uses);

private:
  std::vector<Use> since_; ///< Uses since the last barrier.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_HAZARDTRACKER_H

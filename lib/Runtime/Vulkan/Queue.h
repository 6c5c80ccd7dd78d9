// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's compute queue with its timeline.

#ifndef INLAY_LIB_RUNTIME_VULKAN_QUEUE_H
#define INLAY_LIB_RUNTIME_VULKAN_QUEUE_H

#include "Handles.h"

#include "inlay/Runtime/Core/Status.h"

#include <mutex>
#include <vector>

namespace inlay::rt::vulkan {

/// Thread-safe: submission is serialized, waiting isn't.
class Queue {
public:
  explicit Queue(const DeviceTable &table) : table_(table) {}

  Status open(uint32_t family);

  /// Submits in order in one submission and waits for its end. After a failure the device counts as lost: every later
  /// call fails with the first failure's words.
  Status run(const std::vector<VkCommandBuffer> &commands);

  /// The failure that lost the device, or ok.
  Status state() const;

private:
  Status submit(const std::vector<VkCommandBuffer> &commands, uint64_t &value);
  Status lose(Status status);

  const DeviceTable &table_;
  VkQueue queue_ = VK_NULL_HANDLE;
  SemaphoreHandle timeline_;
  mutable std::mutex mutex_;
  uint64_t last_ = 0; ///< value of the last submission; guarded by `mutex_`
  Status lost_;       ///< guarded by `mutex_`
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_QUEUE_H

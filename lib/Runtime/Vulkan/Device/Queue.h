// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's compute queue with its timeline.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H

#include "Handles.h"

#include "inlay/Runtime/Core/Status.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace inlay::rt::vulkan {

/// How long to wait for a submission; nothing to wait without limit.
using Timeout = std::optional<std::chrono::nanoseconds>;

/// The seconds of a text, which may have a fraction; no limit for 0.
StatusOr<Timeout> parseTimeout(const std::string &text);

/// What INLAY_DEVICE_TIMEOUT says, or else 60 seconds: drivers that watch their devices reset them long before.
StatusOr<Timeout> environmentTimeout();

/// Thread-safe: submission is serialized, waiting isn't.
class Queue {
public:
  explicit Queue(DeviceTable &table) : table_(table) {}

  Status open(uint32_t family, Timeout timeout);

  /// Submits in order in one submission and waits for its end. After a failure the device counts as lost: every later
  /// call fails with the first failure's words. A device that takes longer than the limit counts as lost too.
  Status run(const std::vector<VkCommandBuffer> &commands);
  /// The same in two parts; `value` is what to wait for. Submissions run in order.
  Status submit(const std::vector<VkCommandBuffer> &commands, uint64_t &value);
  Status wait(uint64_t value);

  /// The failure that lost the device, or ok.
  Status state() const;

private:
  bool poll(uint64_t value, std::chrono::steady_clock::time_point deadline) const;
  Status lose(Status status);

  DeviceTable &table_;
  VkQueue queue_ = VK_NULL_HANDLE;
  Timeout timeout_;
  SemaphoreHandle timeline_;
  mutable std::mutex mutex_;
  Status lost_; ///< guarded by `mutex_`
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H

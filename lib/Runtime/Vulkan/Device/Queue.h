// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queue: the device's compute queue and its timeline semaphore.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H

#include "Handles.h"

#include "inlay/Runtime/Core/Status.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace inlay::rt::vulkan {

/// The time limit of a submission; no value means no limit.
using Timeout = std::optional<std::chrono::nanoseconds>;

/// Parses a number of seconds, which may have a fraction; 0 means no limit.
StatusOr<Timeout> parseTimeout(const std::string &text);

/// Returns the value of INLAY_DEVICE_TIMEOUT, or 60 seconds. Drivers with a watchdog reset their devices much earlier.
StatusOr<Timeout> environmentTimeout();

/// A compute queue. Thread-safe: submissions are serialized, waiting is not.
class Queue {
public:
  explicit Queue(DeviceTable &table) : table_(table) {}
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  Status open(uint32_t family, Timeout timeout);

  /// Runs the commands in one submission, in order, and waits for its end. After a failure the device counts as lost:
  /// every later call fails with the message of the first failure. A device that exceeds the time limit counts as lost
  /// too.
  Status run(const std::vector<VkCommandBuffer> &commands);
  /// Submits the commands and sets `value` to the value to wait for. Submissions run in order.
  Status submit(const std::vector<VkCommandBuffer> &commands, uint64_t &value);
  Status wait(uint64_t value);

  /// Returns the failure that lost the device, or ok.
  Status state() const;

private:
  bool isLost() const;
  bool poll(uint64_t value, std::chrono::steady_clock::time_point deadline) const;
  template <typename Describe>
  Status lose(const Describe &describe);

  DeviceTable &table_;
  VkQueue queue_ = VK_NULL_HANDLE;
  Timeout timeout_;
  SemaphoreHandle timeline_; ///< `DeviceTable::timeline`.
  mutable std::mutex mutex_;
  Status lost_; ///< Guarded by `mutex_`.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_QUEUE_H

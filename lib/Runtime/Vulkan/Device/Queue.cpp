// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Submits commands and waits for them with a timeout (`INLAY_DEVICE_TIMEOUT`), and detects a lost device.
// Core/Schedule/Submissions.cpp decides when to submit.

#include "Queue.h"
#include "Results.h"

#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace inlay::rt::vulkan {

StatusOr<Timeout> parseTimeout(const std::string &text) {
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  constexpr double kMaxSeconds = 1e9; // fits nanoseconds in 64 bits
  if (text.empty() || *end || !(seconds >= 0 && seconds <= kMaxSeconds))
    return Status(
        StatusCode::InvalidArgument,
        fmt::format("INLAY_DEVICE_TIMEOUT: expected seconds from 0 to {:.0f}, but got '{}'", kMaxSeconds, text));
  if (seconds == 0)
    return Timeout();
  return Timeout(std::chrono::nanoseconds(std::max<int64_t>(1, std::llround(seconds * 1e9))));
}

StatusOr<Timeout> environmentTimeout() {
  const char *value = std::getenv("INLAY_DEVICE_TIMEOUT");
  return value ? parseTimeout(value) : Timeout(std::chrono::seconds(60));
}

Queue::~Queue() {
  // The exit must not see a destroyed semaphore. One that is leaked stays valid.
  DriverUse use;
  if (!use || !table_.mayDestroy())
    return;
  table_.timeline = VK_NULL_HANDLE;
  timeline_ = SemaphoreHandle();
}

Status Queue::open(uint32_t family, Timeout timeout) {
  timeout_ = timeout;
  table_.vk.vkGetDeviceQueue(table_.device, family, 0, &queue_);
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreateSemaphore", table_.vk.vkCreateSemaphore(table_.device, &info, nullptr, &semaphore)));
  timeline_ = SemaphoreHandle(table_, semaphore);
  table_.timeline = semaphore;
  return Status::ok();
}

Status Queue::state() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

bool Queue::isLost() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !lost_.isOk();
}

/// Stores the loss of the device for later calls, if it is the first, and returns its status. Stores it before it
/// allocates the messages. The caller must hold the mutex.
template <typename Describe>
Status Queue::lose(const Describe &describe) {
  bool isFirst = lost_.isOk();
  if (isFirst)
    lost_ = {StatusCode::DeviceLost, "device lost"}; // fits into the string object
  Status status(StatusCode::DeviceLost, describe());
  if (isFirst)
    lost_ = {StatusCode::DeviceLost, fmt::format("the device was lost earlier: {}", status.message())};
  return status;
}

Status Queue::submit(const std::vector<VkCommandBuffer> &commands, uint64_t &value) {
  INLAY_RETURN_IF_ERROR(table_.checkProcess());
  std::vector<VkCommandBufferSubmitInfo> infos;
  infos.reserve(commands.size());
  for (VkCommandBuffer command : commands)
    infos.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, command, 0});
  VkSemaphoreSubmitInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
  signal.semaphore = timeline_.get();
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 submit{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  submit.commandBufferInfoCount = static_cast<uint32_t>(infos.size());
  submit.pCommandBufferInfos = infos.data();
  submit.signalSemaphoreInfoCount = 1;
  submit.pSignalSemaphoreInfos = &signal;

  TraceSpan span("submit", "submit");
  std::lock_guard<std::mutex> lock(mutex_);
  INLAY_RETURN_IF_ERROR(lost_);
  signal.value = table_.submitted + 1;
  VkResult result = table_.vk.vkQueueSubmit2(queue_, 1, &submit, VK_NULL_HANDLE);
  if (result == VK_ERROR_DEVICE_LOST)
    return lose([&] { return checkResult("vkQueueSubmit2", result).message(); });
  INLAY_RETURN_IF_ERROR(checkResult("vkQueueSubmit2", result));
  value = ++table_.submitted;
  if (value == 1)
    precedeExitHandlers();
  return Status::ok();
}

/// Polls until the submission of this value has ended. Returns false if the deadline passes first.
bool Queue::poll(uint64_t value, std::chrono::steady_clock::time_point deadline) const {
  for (;;) {
    uint64_t reached = 0;
    VkResult result = table_.vk.vkGetSemaphoreCounterValue(table_.device, timeline_.get(), &reached);
    if (result != VK_SUCCESS || reached >= value)
      return result == VK_SUCCESS;
    if (timeout_ && std::chrono::steady_clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Waits for a submission. This is also needed for a lost device: it may have been running when it was found lost.
/// Allocates no memory before the wait has ended, because callers destroy what the device uses after an error.
Status Queue::wait(uint64_t value) {
  bool wasLost = isLost();
  if (wasLost && table_.isStuck) // don't wait for the time limit again
    return state();
  VkSemaphore semaphore = timeline_.get();
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &value;
  TraceSpan span("wait", "wait for the device");
  auto deadline = std::chrono::steady_clock::now() + timeout_.value_or(std::chrono::nanoseconds(0));
  uint64_t limit = timeout_ ? static_cast<uint64_t>(timeout_->count()) : UINT64_MAX;
  VkResult result = table_.vk.vkWaitSemaphores(table_.device, &info, limit);
  auto ended = [&] { return wasLost ? state() : Status::ok(); };
  if (result == VK_SUCCESS)
    return ended();
  // The commands may still run, and the caller is about to destroy their objects.
  if (result != VK_ERROR_DEVICE_LOST && result != VK_TIMEOUT && poll(value, deadline))
    return ended();
  table_.isStuck = result != VK_ERROR_DEVICE_LOST;
  if (wasLost)
    return state();
  std::lock_guard<std::mutex> lock(mutex_);
  return lose([&] {
    if (result != VK_TIMEOUT)
      return checkResult("vkWaitSemaphores", result).message();
    return fmt::format("the device hasn't finished within {:g} s (INLAY_DEVICE_TIMEOUT)",
                       std::chrono::duration<double>(*timeout_).count());
  });
}

Status Queue::run(const std::vector<VkCommandBuffer> &commands) {
  uint64_t value = 0;
  INLAY_RETURN_IF_ERROR(submit(commands, value));
  return wait(value);
}

} // namespace inlay::rt::vulkan

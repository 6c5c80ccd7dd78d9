// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Queue.h"
#include "Results.h"

#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

namespace inlay::rt::vulkan {

Status Queue::open(uint32_t family) {
  table_.vk.vkGetDeviceQueue(table_.device, family, 0, &queue_);
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreateSemaphore", table_.vk.vkCreateSemaphore(table_.device, &info, nullptr, &semaphore)));
  timeline_ = SemaphoreHandle(table_, semaphore);
  return Status::ok();
}

Status Queue::state() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

/// Keeps the first failure for later calls. The caller holds the mutex.
Status Queue::lose(Status status) {
  if (lost_.isOk() && status.code() == StatusCode::DeviceLost)
    lost_ = {StatusCode::DeviceLost, fmt::format("the device was lost earlier: {}", status.message())};
  return status;
}

Status Queue::submit(const std::vector<VkCommandBuffer> &commands, uint64_t &value) {
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
  signal.value = last_ + 1;
  INLAY_RETURN_IF_ERROR(
      lose(checkResult("vkQueueSubmit2", table_.vk.vkQueueSubmit2(queue_, 1, &submit, VK_NULL_HANDLE))));
  value = ++last_;
  return Status::ok();
}

Status Queue::run(const std::vector<VkCommandBuffer> &commands) {
  uint64_t value = 0;
  INLAY_RETURN_IF_ERROR(submit(commands, value));
  VkSemaphore semaphore = timeline_.get();
  VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  wait.semaphoreCount = 1;
  wait.pSemaphores = &semaphore;
  wait.pValues = &value;
  TraceSpan span("wait", "wait for the device");
  Status status = checkResult("vkWaitSemaphores", table_.vk.vkWaitSemaphores(table_.device, &wait, UINT64_MAX));
  if (status.isOk())
    return status;
  // The commands may still run and their objects are about to go: wait in the one way that is left.
  if (status.code() != StatusCode::DeviceLost)
    table_.vk.vkDeviceWaitIdle(table_.device);
  std::lock_guard<std::mutex> lock(mutex_);
  return lose({StatusCode::DeviceLost, status.message()});
}

} // namespace inlay::rt::vulkan

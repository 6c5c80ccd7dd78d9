// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies through a host-visible buffer in parts, for memory that the host cannot see.

#include "Staging.h"
#include "Runtime/Vulkan/Device/Results.h"

#include <algorithm>
#include <cstring>

namespace inlay::rt::vulkan {

Status Staging::prepare(uint32_t queueFamily) {
  if (commands_)
    return Status::ok();
  StatusOr<std::unique_ptr<MemoryBlock>> block = memory_.createBlock(chunkBytes, MemoryUse::Staging);
  if (!block.isOk())
    return block.status();
  VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  poolInfo.queueFamilyIndex = queueFamily;
  VkCommandPool pool = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreateCommandPool", table_.vk.vkCreateCommandPool(table_.device, &poolInfo, nullptr, &pool)));
  pool_ = CommandPoolHandle(table_, pool);
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkAllocateCommandBuffers", table_.vk.vkAllocateCommandBuffers(table_.device, &info, &commands_)));
  block_ = std::move(*block);
  return Status::ok();
}

Status Staging::copy(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset, uint64_t bytes) {
  Status status = record(from, fromOffset, to, toOffset, bytes);
  if (!status.isOk()) { // a partly recorded command buffer can't be reused
    pool_ = CommandPoolHandle();
    commands_ = VK_NULL_HANDLE;
    return status;
  }
  return queue_.run({commands_});
}

/// Records one copy with full barriers on both sides. They cost little, because this path waits anyway.
Status Staging::record(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset, uint64_t bytes) {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  INLAY_RETURN_IF_ERROR(checkResult("vkBeginCommandBuffer", table_.vk.vkBeginCommandBuffer(commands_, &begin)));
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  table_.vk.vkCmdPipelineBarrier2(commands_, &dependency);
  VkBufferCopy region{fromOffset, toOffset, bytes};
  table_.vk.vkCmdCopyBuffer(commands_, from, to, 1, &region);
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                          VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_HOST_READ_BIT;
  table_.vk.vkCmdPipelineBarrier2(commands_, &dependency);
  return checkResult("vkEndCommandBuffer", table_.vk.vkEndCommandBuffer(commands_));
}

Status Staging::upload(const MemoryRange &target, const void *source, uint64_t bytes, uint32_t queueFamily) {
  std::lock_guard<std::mutex> lock(mutex_);
  INLAY_RETURN_IF_ERROR(prepare(queueFamily));
  for (uint64_t done = 0; done < bytes; done += chunkBytes) {
    uint64_t count = std::min(chunkBytes, bytes - done);
    std::memcpy(block_->mapped, static_cast<const std::byte *>(source) + done, count);
    INLAY_RETURN_IF_ERROR(copy(block_->buffer.get(), 0, target.block->buffer.get(), target.offset + done, count));
  }
  return Status::ok();
}

Status Staging::download(const MemoryRange &source, void *target, uint64_t bytes, uint32_t queueFamily) {
  std::lock_guard<std::mutex> lock(mutex_);
  INLAY_RETURN_IF_ERROR(prepare(queueFamily));
  for (uint64_t done = 0; done < bytes; done += chunkBytes) {
    uint64_t count = std::min(chunkBytes, bytes - done);
    INLAY_RETURN_IF_ERROR(copy(source.block->buffer.get(), source.offset + done, block_->buffer.get(), 0, count));
    std::memcpy(static_cast<std::byte *>(target) + done, block_->mapped, count);
  }
  return Status::ok();
}

} // namespace inlay::rt::vulkan

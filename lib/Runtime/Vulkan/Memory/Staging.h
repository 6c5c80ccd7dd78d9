// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging: copies between host memory and device memory that the host can't see.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_STAGING_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_STAGING_H

#include "Memory.h"
#include "Runtime/Vulkan/Device/Queue.h"

namespace inlay::rt::vulkan {

/// Copies through a staging block, in chunks and one copy at a time. Thread-safe. The block is created at first use.
class Staging {
public:
  Staging(const DeviceTable &table, MemoryPool &memory, Queue &queue) : table_(table), memory_(memory), queue_(queue) {}

  Status upload(const MemoryRange &target, const void *source, uint64_t bytes, uint32_t queueFamily);
  Status download(const MemoryRange &source, void *target, uint64_t bytes, uint32_t queueFamily);

private:
  Status prepare(uint32_t queueFamily);
  Status record(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset, uint64_t bytes);
  Status copy(VkBuffer from, uint64_t fromOffset, VkBuffer to, uint64_t toOffset, uint64_t bytes);

  static constexpr uint64_t chunkBytes = uint64_t(8) << 20;

  const DeviceTable &table_;
  MemoryPool &memory_;
  Queue &queue_;
  std::mutex mutex_;
  std::unique_ptr<MemoryBlock> block_;
  CommandPoolHandle pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_STAGING_H

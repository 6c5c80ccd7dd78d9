// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory: a few large blocks, each one buffer, cut into ranges.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_MEMORY_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_MEMORY_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "RangeAllocator.h"
#include "inlay/Runtime/Core/Status.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <memory>
#include <mutex>
#include <vector>

namespace inlay::rt::vulkan {

/// What memory is for.
enum class MemoryUse {
  Device, ///< kernels work on it; the host sees it only if memory is unified
  Staging ///< the host writes or reads it, the device copies
};

/// Host memory that the device reads in place. It outlives a device that may still be at it.
class ImportedMemory {
public:
  ImportedMemory() = default;
  ImportedMemory(const DeviceTable &table, std::shared_ptr<const void> owner)
      : table_(&table), owner_(std::move(owner)) {}
  ImportedMemory(ImportedMemory &&other) = default;
  ImportedMemory &operator=(ImportedMemory &&other) = default;
  ~ImportedMemory() {
    if (owner_ && !table_->mayDestroy())
      keepForGood(std::move(owner_));
  }

private:
  static void keepForGood(std::shared_ptr<const void> owner);

  const DeviceTable *table_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// One allocation of the driver's with a buffer over all of it.
struct MemoryBlock {
  ImportedMemory imported; ///< what is imported; dies last
  MemoryHandle memory;
  BufferHandle buffer; ///< after `memory`, so destroyed before it
  std::byte *mapped = nullptr;
  RangeAllocator ranges{0};
};

/// Part of a block.
struct MemoryRange {
  MemoryBlock *block = nullptr;
  uint64_t offset = 0;
  uint64_t size = 0;

  std::byte *hostPointer() const { return block->mapped ? block->mapped + offset : nullptr; }
};

/// Thread-safe. Ranges must be released before the pool dies.
class MemoryPool {
public:
  MemoryPool(const DeviceTable &table, const VkPhysicalDeviceMemoryProperties &memory, const DeviceCaps &caps)
      : table_(table), caps_(caps), memory_(memory) {}

  StatusOr<MemoryRange> allocate(uint64_t bytes);
  void release(const MemoryRange &range);

  /// A block of its own, outside the pool's list; the caller owns it.
  StatusOr<std::unique_ptr<MemoryBlock>> createBlock(uint64_t bytes, MemoryUse use);

  /// A block over the whole pages, of `alignment` bytes, that hold the `bytes` at `data`; the caller owns it, and keeps
  /// the memory. Null if the driver can't use it in place.
  std::unique_ptr<MemoryBlock> importBlock(const void *data, uint64_t bytes, uint64_t alignment) const;

  /// Blocks that exist now, for tests.
  size_t blockCount() const;

private:
  StatusOr<uint32_t> findType(uint32_t allowed, MemoryUse use) const;
  StatusOr<MemoryBlock *> addBlock(uint64_t bytes);

  /// Small enough to find on any device, large enough that programs need few.
  static constexpr uint64_t blockBytes = uint64_t(64) << 20;

  const DeviceTable &table_;
  const DeviceCaps &caps_;
  VkPhysicalDeviceMemoryProperties memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_; ///< guarded by `mutex_`
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_MEMORY_H

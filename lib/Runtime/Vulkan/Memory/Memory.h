// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory: a few large blocks, each with one buffer, divided into ranges.

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

/// The purpose of memory.
enum class MemoryUse {
  Device, ///< Kernels use it. The host can access it only if memory is unified.
  Staging ///< The host writes or reads it; the device copies it.
};

/// Host memory that the device reads in place. The owner is leaked if the device may still access it.
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

/// One allocation of the driver, with a buffer over all of it.
struct MemoryBlock {
  ImportedMemory imported; ///< The imported memory; destroyed last.
  MemoryHandle memory;
  BufferHandle buffer; ///< Declared after `memory`, so destroyed before it.
  std::byte *mapped = nullptr;
  RangeAllocator ranges{0};
};

/// A part of a block.
struct MemoryRange {
  MemoryBlock *block = nullptr;
  uint64_t offset = 0;
  uint64_t size = 0;

  std::byte *hostPointer() const { return block->mapped ? block->mapped + offset : nullptr; }
};

/// Allocates ranges from blocks. Thread-safe. Ranges must be released before the pool is destroyed.
class MemoryPool {
public:
  MemoryPool(const DeviceTable &table, const VkPhysicalDeviceMemoryProperties &memory, const DeviceCaps &caps)
      : table_(table), caps_(caps), memory_(memory) {}

  StatusOr<MemoryRange> allocate(uint64_t bytes);
  void release(const MemoryRange &range);

  /// Creates a separate block that the caller owns.
  StatusOr<std::unique_ptr<MemoryBlock>> createBlock(uint64_t bytes, MemoryUse use);

  /// Creates a block over the whole pages of `alignment` bytes that contain the `bytes` at `data`. The caller owns the
  /// block and keeps the memory alive. Returns null if the driver can't use the memory in place.
  std::unique_ptr<MemoryBlock> importBlock(const void *data, uint64_t bytes, uint64_t alignment) const;

  /// Returns the number of blocks, for tests.
  size_t blockCount() const;

private:
  StatusOr<uint32_t> findType(uint32_t allowed, MemoryUse use) const;
  StatusOr<MemoryBlock *> addBlock(uint64_t bytes);

  /// Default size of a block: small enough for any device, large enough that programs need few blocks.
  static constexpr uint64_t blockBytes = uint64_t(64) << 20;

  const DeviceTable &table_;
  const DeviceCaps &caps_;
  VkPhysicalDeviceMemoryProperties memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_; ///< Guarded by `mutex_`.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_MEMORY_H

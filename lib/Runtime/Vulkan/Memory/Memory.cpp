// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates device memory in blocks, and imports memory of the host. RangeAllocator.cpp divides a block.

#include "Memory.h"
#include "Runtime/Vulkan/Device/Results.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>

namespace inlay::rt::vulkan {

size_t MemoryPool::blockCount() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return blocks_.size();
}

StatusOr<uint32_t> MemoryPool::findType(uint32_t allowed, MemoryUse use) const {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryPropertyFlags required = visible, preferred = cached, avoided = 0;
  if (use == MemoryUse::Device) {
    required = caps_.unifiedMemory ? visible | local : local;
    avoided = caps_.unifiedMemory ? 0 : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    preferred = caps_.unifiedMemory ? cached : 0;
  }
  int best = -1;
  uint32_t type = 0;
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    VkMemoryPropertyFlags flags = memory_.memoryTypes[i].propertyFlags;
    if (!(allowed & (1u << i)) || (flags & required) != required || (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT))
      continue;
    int score = ((flags & preferred) == preferred ? 2 : 0) + ((flags & avoided) == 0 ? 1 : 0);
    if (score > best) {
      best = score;
      type = i;
    }
  }
  if (best < 0)
    return Status(StatusCode::Unavailable, fmt::format("device '{}' has no memory type for {}", caps_.name,
                                                       use == MemoryUse::Device ? "storage buffers" : "staging"));
  return type;
}

void ImportedMemory::keepForGood(std::shared_ptr<const void> owner) {
  struct Kept {
    std::shared_ptr<const void> owner;
    Kept *next;
  };
  static std::atomic<Kept *> last{nullptr}; // never destroyed, not even at exit; has no lock, for a child of fork
  if (auto *kept = new (std::nothrow) Kept{owner, last}) {
    while (!last.compare_exchange_weak(kept->next, kept)) {
    }
    return;
  }
  // Without memory for the list, a reference that is never dropped keeps the owner.
  alignas(std::shared_ptr<const void>) std::byte room[sizeof(owner)];
  new (room) std::shared_ptr<const void>(owner);
}

StatusOr<std::unique_ptr<MemoryBlock>> MemoryPool::createBlock(uint64_t bytes, MemoryUse use) {
  auto block = std::make_unique<MemoryBlock>();
  VkBufferCreateInfo bufferInfo{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  bufferInfo.size = bytes;
  bufferInfo.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (use == MemoryUse::Device)
    bufferInfo.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreateBuffer", table_.vk.vkCreateBuffer(table_.device, &bufferInfo, nullptr, &buffer)));
  block->buffer = BufferHandle(table_, buffer);

  VkMemoryRequirements requirements;
  table_.vk.vkGetBufferMemoryRequirements(table_.device, buffer, &requirements);
  StatusOr<uint32_t> type = findType(requirements.memoryTypeBits, use);
  if (!type.isOk())
    return type.status();
  VkMemoryAllocateInfo allocateInfo{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocateInfo.allocationSize = requirements.size;
  allocateInfo.memoryTypeIndex = *type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  if (Status status =
          checkResult("vkAllocateMemory", table_.vk.vkAllocateMemory(table_.device, &allocateInfo, nullptr, &memory));
      !status.isOk())
    return Status(status.code(), fmt::format("{} for {} bytes", status.message(), requirements.size));
  block->memory = MemoryHandle(table_, memory);
  INLAY_RETURN_IF_ERROR(
      checkResult("vkBindBufferMemory", table_.vk.vkBindBufferMemory(table_.device, buffer, memory, 0)));
  if (use == MemoryUse::Staging || caps_.unifiedMemory) {
    void *mapped = nullptr;
    INLAY_RETURN_IF_ERROR(
        checkResult("vkMapMemory", table_.vk.vkMapMemory(table_.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped)));
    block->mapped = static_cast<std::byte *>(mapped);
  }
  block->ranges = RangeAllocator(bytes);
  return block;
}

/// Returns a host-coherent memory type for an import, or nothing if there is none.
static std::optional<uint32_t> findImportType(const DeviceTable &table, const VkPhysicalDeviceMemoryProperties &memory,
                                              void *pointer, uint32_t allowed) {
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  if (table.vk.vkGetMemoryHostPointerPropertiesEXT(table.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                                   pointer, &properties) != VK_SUCCESS)
    return std::nullopt;
  for (uint32_t type = 0; type < memory.memoryTypeCount; ++type)
    if ((allowed & properties.memoryTypeBits & (1u << type)) &&
        (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT))
      return type;
  return std::nullopt;
}

std::unique_ptr<MemoryBlock> MemoryPool::importBlock(const void *data, uint64_t bytes, uint64_t alignment) const {
  auto address = reinterpret_cast<uintptr_t>(data);
  uint64_t start = address / alignment * alignment;
  uint64_t size = (address + bytes - start + alignment - 1) / alignment * alignment;
  if (size > caps_.maxAllocationBytes)
    return nullptr;
  auto block = std::make_unique<MemoryBlock>();
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkBufferCreateInfo bufferInfo{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
  bufferInfo.size = size;
  bufferInfo.usage =
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  if (table_.vk.vkCreateBuffer(table_.device, &bufferInfo, nullptr, &buffer) != VK_SUCCESS)
    return nullptr;
  block->buffer = BufferHandle(table_, buffer);
  VkMemoryRequirements requirements;
  table_.vk.vkGetBufferMemoryRequirements(table_.device, buffer, &requirements);
  VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  import.pHostPointer = reinterpret_cast<void *>(start);
  std::optional<uint32_t> type = findImportType(table_, memory_, import.pHostPointer, requirements.memoryTypeBits);
  if (!type || requirements.size > size || start % requirements.alignment)
    return nullptr;
  VkMemoryAllocateInfo allocateInfo{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import};
  allocateInfo.allocationSize = size;
  allocateInfo.memoryTypeIndex = *type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  if (table_.vk.vkAllocateMemory(table_.device, &allocateInfo, nullptr, &memory) != VK_SUCCESS)
    return nullptr;
  block->memory = MemoryHandle(table_, memory);
  if (table_.vk.vkBindBufferMemory(table_.device, buffer, memory, 0) != VK_SUCCESS)
    return nullptr;
  block->mapped = static_cast<std::byte *>(import.pHostPointer);
  return block;
}

/// Adds a block for at least `bytes`. It has the default size, or exactly `bytes` if these are more or memory is short.
StatusOr<MemoryBlock *> MemoryPool::addBlock(uint64_t bytes) {
  uint64_t defaultSize = std::min<uint64_t>(blockBytes, caps_.maxAllocationBytes);
  StatusOr<std::unique_ptr<MemoryBlock>> block = createBlock(std::max(bytes, defaultSize), MemoryUse::Device);
  if (!block.isOk() && block.status().code() == StatusCode::ResourceExhausted && bytes < defaultSize)
    block = createBlock(bytes, MemoryUse::Device);
  if (!block.isOk())
    return block.status();
  blocks_.push_back(std::move(*block));
  return blocks_.back().get();
}

StatusOr<MemoryRange> MemoryPool::allocate(uint64_t bytes) {
  bytes = std::max<uint64_t>(bytes, 1); // Vulkan has no empty buffers
  if (bytes > caps_.maxAllocationBytes)
    return Status(StatusCode::ResourceExhausted, fmt::format("a buffer of {} bytes is too large: device '{}' allows {}",
                                                             bytes, caps_.name, caps_.maxAllocationBytes));
  uint64_t alignment = caps_.storageOffsetAlignment;
  uint64_t size = (bytes + alignment - 1) / alignment * alignment;
  size = std::min(size, caps_.maxAllocationBytes);
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto &block : blocks_)
    if (std::optional<uint64_t> offset = block->ranges.allocate(size, alignment))
      return MemoryRange{block.get(), *offset, bytes};
  StatusOr<MemoryBlock *> block = addBlock(size);
  if (!block.isOk())
    return block.status();
  return MemoryRange{*block, *(*block)->ranges.allocate(size, alignment), bytes};
}

void MemoryPool::release(const MemoryRange &range) {
  std::lock_guard<std::mutex> lock(mutex_);
  range.block->ranges.free(range.offset);
  if (!range.block->ranges.empty())
    return;
  // Keep one empty block of the default size, so that repeated loading of a program doesn't allocate each time.
  bool spare = range.block->ranges.size() <= blockBytes;
  for (auto &block : blocks_)
    spare = spare && (block.get() == range.block || !block->ranges.empty());
  if (!spare)
    blocks_.erase(
        std::find_if(blocks_.begin(), blocks_.end(), [&](auto &block) { return block.get() == range.block; }));
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RangeAllocator: hands out parts of one block; arithmetic only, so it is tested without a device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H

#include <cstdint>
#include <map>
#include <optional>

namespace inlay::rt::vulkan {

/// Best fit over [0, size); neighbours that become free merge. Not thread-safe.
class RangeAllocator {
public:
  explicit RangeAllocator(uint64_t size);

  /// Offset of `size` free bytes, a multiple of `alignment` (a power of two); none if no free range holds them.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t alignment);

  /// Gives back what `allocate` returned; false if `offset` isn't allocated.
  bool free(uint64_t offset);

  bool empty() const { return used_.empty(); }
  uint64_t size() const { return size_; }
  uint64_t usedBytes() const { return usedBytes_; }
  /// How many separate free ranges there are: 1 when nothing is allocated.
  size_t freeRanges() const { return free_.size(); }

private:
  uint64_t size_;
  uint64_t usedBytes_ = 0;
  std::map<uint64_t, uint64_t> free_; ///< offset -> size
  std::map<uint64_t, uint64_t> used_; ///< offset -> size
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H

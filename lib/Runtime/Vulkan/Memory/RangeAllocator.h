// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RangeAllocator: allocates parts of a block. It is pure arithmetic, so it can be tested without a device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H

#include <cstdint>
#include <map>
#include <optional>

namespace inlay::rt::vulkan {

/// Best fit over [0, size). Adjacent free ranges are merged. Not thread-safe.
class RangeAllocator {
public:
  explicit RangeAllocator(uint64_t size);

  /// Returns the offset of `size` free bytes, a multiple of `alignment` (a power of two), or nothing if none fits.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t alignment);

  /// Frees a range that `allocate` returned. Returns false if `offset` isn't allocated. Allocates no memory, because
  /// destructors call it.
  bool free(uint64_t offset);

  bool empty() const { return used_.empty(); }
  uint64_t size() const { return size_; }
  uint64_t usedBytes() const { return usedBytes_; }
  /// Returns the number of separate free ranges: 1 if nothing is allocated.
  size_t freeRanges() const { return free_.size(); }

private:
  uint64_t size_;
  uint64_t usedBytes_ = 0;
  std::map<uint64_t, uint64_t> free_; ///< Size by offset.
  std::map<uint64_t, uint64_t> used_; ///< Size by offset.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_RANGEALLOCATOR_H

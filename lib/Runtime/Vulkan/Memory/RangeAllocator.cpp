// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the free ranges of one block. Memory.cpp keeps the blocks.

#include "RangeAllocator.h"

namespace inlay::rt::vulkan {

RangeAllocator::RangeAllocator(uint64_t size) : size_(size) {
  if (size > 0)
    free_.emplace(0, size);
}

std::optional<uint64_t> RangeAllocator::allocate(uint64_t size, uint64_t alignment) {
  if (size == 0 || size > size_)
    return std::nullopt;
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    uint64_t padding = (alignment - it->first % alignment) % alignment;
    bool fits = it->second >= size && it->second - size >= padding;
    if (fits && (best == free_.end() || it->second < best->second))
      best = it;
  }
  if (best == free_.end())
    return std::nullopt;
  auto [begin, length] = *best;
  uint64_t offset = begin + (alignment - begin % alignment) % alignment;
  std::map<uint64_t, uint64_t> added; // allocated before anything changes
  if (offset > begin)
    added.emplace(begin, offset - begin);
  if (uint64_t rest = begin + length - (offset + size))
    added.emplace(offset + size, rest);
  auto node = free_.extract(best);
  node.key() = offset;
  node.mapped() = size;
  used_.insert(std::move(node));
  free_.merge(added);
  usedBytes_ += size;
  return offset;
}

bool RangeAllocator::free(uint64_t offset) {
  auto it = used_.find(offset);
  if (it == used_.end())
    return false;
  auto node = used_.extract(it);
  uint64_t size = node.mapped();
  usedBytes_ -= size;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return true;
    }
  }
  node.mapped() = size;
  free_.insert(next, std::move(node));
  return true;
}

} // namespace inlay::rt::vulkan

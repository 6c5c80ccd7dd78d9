// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grows the numbered slots that temporaries of calls use. Execute/PlanInstance.cpp assigns the slots.

#include "Storage.h"

#include <algorithm>

namespace inlay::rt {

template <typename Slots>
static bool holdAll(const Slots &slots, const std::vector<size_t> &sizes) {
  return slots.size() >= sizes.size() && std::equal(sizes.begin(), sizes.end(), slots.begin(),
                                                    [](size_t size, const auto &slot) { return slot.holds(size); });
}

bool Storage::holds(const SlotSizes &sizes) const {
  return holdAll(host_, sizes.host) && holdAll(device_, sizes.device) && holdAll(scratch_, sizes.scratch);
}

/// Returns the larger one of each slot's size and its size in `sizes`.
template <typename Slots>
static std::vector<size_t> largestOf(const Slots &slots, std::vector<size_t> sizes) {
  sizes.resize(std::max(sizes.size(), slots.size()));
  for (size_t i = 0; i < slots.size(); ++i)
    sizes[i] = std::max(sizes[i], slots[i].bytes);
  return sizes;
}

SlotSizes Storage::grownTo(const SlotSizes &sizes) const {
  return {largestOf(host_, sizes.host), largestOf(device_, sizes.device), largestOf(scratch_, sizes.scratch)};
}

template <typename Block, typename Allocate>
Status Storage::growSlots(std::vector<Slot<Block>> &slots, const std::vector<size_t> &sizes, Allocate allocate) {
  if (slots.size() < sizes.size())
    slots.resize(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (slots[i].holds(sizes[i]))
      continue;
    slots[i] = {}; // free the old block before the larger one is allocated
    StatusOr<Block> block = allocate(sizes[i]);
    if (!block.isOk())
      return block.status();
    slots[i].block = std::move(*block);
    slots[i].bytes = sizes[i];
  }
  return Status::ok();
}

Status Storage::growHost(const SlotSizes &sizes) { return growSlots(host_, sizes.host, allocateHostBlock); }

Status Storage::growDevice(const SlotSizes &sizes, Device *device) {
  auto allocate = [&](size_t bytes) { return device->allocate(bytes); };
  INLAY_RETURN_IF_ERROR(growSlots(device_, sizes.device, allocate));
  return growSlots(scratch_, sizes.scratch, allocate);
}

} // namespace inlay::rt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage: memory for the temporaries of calls that don't run at the same time, in numbered slots that grow.

#ifndef INLAY_LIB_RUNTIME_CORE_MEMORY_STORAGE_H
#define INLAY_LIB_RUNTIME_CORE_MEMORY_STORAGE_H

#include "HostBlock.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt {

/// Bytes of each slot.
struct SlotSizes {
  std::vector<size_t> host, device;
  std::vector<size_t> scratch; ///< Also on the device: empty, or one slot that engines use one after the other.
};

class Storage {
public:
  /// Returns true if each of these slots exists and is large enough.
  bool holds(const SlotSizes &sizes) const;

  /// Returns the sizes of all slots after they have grown to at least these sizes.
  SlotSizes grownTo(const SlotSizes &sizes) const;

  /// Grows each slot to at least this size. Pointers to slots that had to grow become invalid, also after an error.
  Status growHost(const SlotSizes &sizes);
  /// Grows the slots of a device. `device` may be null if there are none.
  Status growDevice(const SlotSizes &sizes, Device *device);

  void *host(size_t slot) const { return host_[slot].block.get(); }
  const std::shared_ptr<DeviceBuffer> &device(size_t slot) const { return device_[slot].block; }
  std::shared_ptr<DeviceBuffer> scratch() const { return scratch_.empty() ? nullptr : scratch_[0].block; }

private:
  template <typename Block>
  struct Slot {
    Block block;
    size_t bytes = 0;
    bool holds(size_t needed) const { return block && bytes >= needed; }
  };
  template <typename Block, typename Allocate>
  static Status growSlots(std::vector<Slot<Block>> &slots, const std::vector<size_t> &sizes, Allocate allocate);

  std::vector<Slot<HostBlock>> host_;
  std::vector<Slot<std::shared_ptr<DeviceBuffer>>> device_, scratch_;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_MEMORY_STORAGE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of buffers as texel buffers.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <tuple>

namespace inlay::rt::vulkan {

/// What a binding of this kind is to Vulkan.
VkDescriptorType descriptorType(BindingKind kind);

/// Views of the buffers of one recorded command, each made once.
class TexelViews {
public:
  explicit TexelViews(const DeviceTable &table) : table_(&table) {}

  /// The view of the whole texels in `range`, whose offset is aligned as the device needs it; it lives as long as this.
  StatusOr<VkBufferView> get(const VkDescriptorBufferInfo &range, BindingKind kind);

private:
  using Key = std::tuple<VkBuffer, VkDeviceSize, VkDeviceSize, BindingKind>;

  const DeviceTable *table_;
  std::map<Key, BufferViewHandle> views_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H

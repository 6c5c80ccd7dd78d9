// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of parts of buffers as texel buffers.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H
#define INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <tuple>

namespace inlay::rt::vulkan {

/// Returns the descriptor type for a binding of this kind.
VkDescriptorType descriptorType(BindingKind kind);

/// The texel views that one recorded command uses. Each is created once.
class TexelViews {
public:
  explicit TexelViews(const DeviceTable &table) : table_(&table) {}

  /// Returns a view of the whole texels in `range`, whose offset must be aligned. The view lives as long as this
  /// object.
  StatusOr<VkBufferView> get(const VkDescriptorBufferInfo &range, BindingKind kind);

private:
  using Key = std::tuple<VkBuffer, VkDeviceSize, VkDeviceSize, BindingKind>;

  const DeviceTable *table_;
  std::map<Key, BufferViewHandle> views_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_MEMORY_TEXELVIEWS_H

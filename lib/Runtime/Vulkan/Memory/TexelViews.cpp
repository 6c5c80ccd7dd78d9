// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates and caches the views through which kernels read buffers as texels. Target/Vulkan/SPIRV/TexelBuffers.cpp
// converts the kernels.

#include "TexelViews.h"
#include "Runtime/Vulkan/Device/Results.h"

#include <fmt/format.h>

namespace inlay::rt::vulkan {

VkDescriptorType descriptorType(BindingKind kind) {
  return kind == BindingKind::Storage ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
}

StatusOr<VkBufferView> TexelViews::get(const VkDescriptorBufferInfo &range, BindingKind kind) {
  VkDeviceSize texel = kind == BindingKind::VectorTexels ? 16 : 4;
  VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  info.buffer = range.buffer;
  info.format = kind == BindingKind::VectorTexels ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R32_SFLOAT;
  info.offset = range.offset;
  info.range = range.range / texel * texel;
  if (info.range == 0)
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected at least {} bytes for a texel, but got {}", texel, range.range));
  BufferViewHandle &known = views_[{info.buffer, info.offset, info.range, kind}];
  if (known.get())
    return known.get();
  VkBufferView view = VK_NULL_HANDLE;
  Status status =
      checkResult("vkCreateBufferView", table_->vk.vkCreateBufferView(table_->device, &info, nullptr, &view));
  if (!status.isOk())
    return status;
  known = BufferViewHandle(*table_, view);
  return view;
}

} // namespace inlay::rt::vulkan

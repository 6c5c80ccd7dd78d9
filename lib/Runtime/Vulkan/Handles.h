// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owners of Vulkan objects: one handle each, destroyed through the device's own table.

#ifndef INLAY_LIB_RUNTIME_VULKAN_HANDLES_H
#define INLAY_LIB_RUNTIME_VULKAN_HANDLES_H

#include <volk.h>

#include <utility>

namespace inlay::rt::vulkan {

/// A device and its function table; both outlive every handle made from them.
struct DeviceTable {
  VkDevice device = VK_NULL_HANDLE;
  VolkDeviceTable vk{};
};

/// Owns a handle that `Destroy` (an entry of the table) destroys.
template <typename T, auto Destroy>
class Handle {
public:
  Handle() = default;
  Handle(const DeviceTable &table, T handle) : table_(&table), handle_(handle) {}
  Handle(Handle &&other) noexcept : table_(other.table_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(table_, other.table_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_ != VK_NULL_HANDLE)
      (table_->vk.*Destroy)(table_->device, handle_, nullptr);
  }

  T get() const { return handle_; }

private:
  const DeviceTable *table_ = nullptr;
  T handle_ = VK_NULL_HANDLE;
};

using BufferHandle = Handle<VkBuffer, &VolkDeviceTable::vkDestroyBuffer>;
using MemoryHandle = Handle<VkDeviceMemory, &VolkDeviceTable::vkFreeMemory>;
using SemaphoreHandle = Handle<VkSemaphore, &VolkDeviceTable::vkDestroySemaphore>;
using CommandPoolHandle = Handle<VkCommandPool, &VolkDeviceTable::vkDestroyCommandPool>;
using ShaderModuleHandle = Handle<VkShaderModule, &VolkDeviceTable::vkDestroyShaderModule>;
using SetLayoutHandle = Handle<VkDescriptorSetLayout, &VolkDeviceTable::vkDestroyDescriptorSetLayout>;
using PipelineLayoutHandle = Handle<VkPipelineLayout, &VolkDeviceTable::vkDestroyPipelineLayout>;
using PipelineHandle = Handle<VkPipeline, &VolkDeviceTable::vkDestroyPipeline>;
using QueryPoolHandle = Handle<VkQueryPool, &VolkDeviceTable::vkDestroyQueryPool>;
using PipelineCacheHandle = Handle<VkPipelineCache, &VolkDeviceTable::vkDestroyPipelineCache>;
using DescriptorPoolHandle = Handle<VkDescriptorPool, &VolkDeviceTable::vkDestroyDescriptorPool>;

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_HANDLES_H

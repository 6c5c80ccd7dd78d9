// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owners of Vulkan objects. Each owns one handle, which it destroys through the device's function table.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_HANDLES_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_HANDLES_H

#include "DeviceFunctions.h"
#include "ProcessExit.h"

#include <volk.h>

#include <atomic>
#include <cstdint>
#include <unistd.h>
#include <utility>

namespace inlay::rt::vulkan {

/// A device and its function table. Both outlive all handles created from them.
struct DeviceTable {
  VkDevice device = VK_NULL_HANDLE;
  DeviceFunctions vk;

  /// True if a submission has not finished in time. The device may still run it, so objects that it may use can't be
  /// destroyed, and no call may wait for it.
  mutable std::atomic<bool> isStuck{false};
  mutable std::atomic<uint64_t> submitted{0}; ///< Value of `timeline` after all submissions have finished.
  VkSemaphore timeline = VK_NULL_HANDLE;
  const pid_t process = getpid();
  mutable std::atomic<bool> hasLeaked{false}; ///< True if an object was leaked, so the device must be leaked too.

  /// Returns true in a child of fork. The driver's threads don't exist there, so waiting for them would hang.
  bool isForked() const { return getpid() != process; }
  /// Returns an error in a child of fork. Must be called before any lock of the device is taken, because threads of the
  /// parent may have held it.
  Status checkProcess() const;

  /// Returns true if all submissions have finished. Does not wait.
  bool isIdle() const {
    uint64_t value = 0;
    VkResult result = vk.vkGetSemaphoreCounterValue(device, timeline, &value);
    return result == VK_ERROR_DEVICE_LOST || (result == VK_SUCCESS && value >= submitted); // a lost device runs nothing
  }

  /// Returns false while the device is stuck, when the process exits, and in a child of fork. Does not wait.
  bool mayDestroy() const {
    if (isForked() || isExiting())
      return false;
    if (isStuck && !isIdle())
      return false;
    isStuck = false;
    return true;
  }
};

/// Owns a handle. `Destroy` is the entry of the function table that destroys it.
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
    if (handle_ == VK_NULL_HANDLE)
      return;
    if (DriverUse use; use && table_->mayDestroy())
      (table_->vk.*Destroy)(table_->device, handle_, nullptr);
    else
      table_->hasLeaked = true;
  }

  T get() const { return handle_; }

private:
  const DeviceTable *table_ = nullptr;
  T handle_ = VK_NULL_HANDLE;
};

using BufferHandle = Handle<VkBuffer, &DeviceFunctions::vkDestroyBuffer>;
using MemoryHandle = Handle<VkDeviceMemory, &DeviceFunctions::vkFreeMemory>;
using SemaphoreHandle = Handle<VkSemaphore, &DeviceFunctions::vkDestroySemaphore>;
using CommandPoolHandle = Handle<VkCommandPool, &DeviceFunctions::vkDestroyCommandPool>;
using ShaderModuleHandle = Handle<VkShaderModule, &DeviceFunctions::vkDestroyShaderModule>;
using SetLayoutHandle = Handle<VkDescriptorSetLayout, &DeviceFunctions::vkDestroyDescriptorSetLayout>;
using PipelineLayoutHandle = Handle<VkPipelineLayout, &DeviceFunctions::vkDestroyPipelineLayout>;
using PipelineHandle = Handle<VkPipeline, &DeviceFunctions::vkDestroyPipeline>;
using QueryPoolHandle = Handle<VkQueryPool, &DeviceFunctions::vkDestroyQueryPool>;
using PipelineCacheHandle = Handle<VkPipelineCache, &DeviceFunctions::vkDestroyPipelineCache>;
using BufferViewHandle = Handle<VkBufferView, &DeviceFunctions::vkDestroyBufferView>;
using DescriptorPoolHandle = Handle<VkDescriptorPool, &DeviceFunctions::vkDestroyDescriptorPool>;

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_HANDLES_H

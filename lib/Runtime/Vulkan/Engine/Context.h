// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Context: an open device with all that its buffers, engines and commands share. They keep it alive.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H

#include "Runtime/Vulkan/Device/DeviceQuery.h"
#include "Runtime/Vulkan/Device/Queue.h"
#include "Runtime/Vulkan/Memory/Memory.h"
#include "Runtime/Vulkan/Memory/Staging.h"
#include "Runtime/Vulkan/Pipeline/PipelineBuilder.h"
#include "Runtime/Vulkan/Pipeline/PipelineCache.h"

namespace inlay::rt::vulkan {

/// Is given a device's table before its first use: for tests.
using WrapTable = std::function<void(VolkDeviceTable &)>;

/// Owns the VkDevice; a base class so that every member of Context dies before it.
struct OwnedDevice : DeviceTable {
  ~OwnedDevice() {
    if (device != VK_NULL_HANDLE && mayDestroy() && !hasLeaked)
      vk.vkDestroyDevice(device, nullptr);
  }
};

struct Context : OwnedDevice {
  Context(VulkanInstance &instance, DeviceInfo info);

  static StatusOr<std::shared_ptr<Context>> open(VulkanInstance &instance, const DeviceInfo &info,
                                                 const WrapTable &wrap = {});

  VulkanInstance &instance;
  const DeviceInfo info;
  MemoryPool memory;
  Queue queue;
  PipelineCache pipelines;
  Staging staging;
  PipelineBuilder builder; ///< last, so that its threads end first

  const DeviceCaps &caps() const { return info.caps; }
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H

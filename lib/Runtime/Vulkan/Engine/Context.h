// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Context: an open device and everything that its buffers, engines and commands share. They keep it alive.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H

#include "Runtime/Vulkan/Device/DeviceQuery.h"
#include "Runtime/Vulkan/Device/Queue.h"
#include "Runtime/Vulkan/Memory/Memory.h"
#include "Runtime/Vulkan/Memory/Staging.h"
#include "Runtime/Vulkan/Pipeline/PipelineBuilder.h"
#include "Runtime/Vulkan/Pipeline/PipelineCache.h"

namespace inlay::rt::vulkan {

/// Called with a device before its first use, so that tests can replace functions.
using WrapDevice = std::function<void(DeviceTable &)>;

/// Owns the VkDevice. It is a base class, so that all members of Context are destroyed before the device.
struct OwnedDevice : DeviceTable {
  ~OwnedDevice();

private:
  void drainAtExit() const;
};

struct Context : OwnedDevice {
  Context(VulkanInstance &instance, DeviceInfo info);

  static StatusOr<std::shared_ptr<Context>> open(VulkanInstance &instance, const DeviceInfo &info,
                                                 const WrapDevice &wrap = {});

  VulkanInstance &instance;
  const DeviceInfo info;
  MemoryPool memory;
  Queue queue;
  PipelineCache pipelines;
  Staging staging;
  PipelineBuilder builder; ///< Last, so that its threads end before the other members are destroyed.

  const DeviceCaps &caps() const { return info.caps; }
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_CONTEXT_H

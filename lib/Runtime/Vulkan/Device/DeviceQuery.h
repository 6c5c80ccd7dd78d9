// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the properties of a physical device into plain data.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H

#include "VulkanInstance.h"

#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <array>

namespace inlay::rt::vulkan {

/// The clock of a device's queue.
struct TimestampInfo {
  uint32_t validBits = 0;    ///< Number of valid bits of a tick count; 0 if the queue has no timestamps.
  double period = 1;         ///< Nanoseconds per tick.
  bool canCalibrate = false; ///< True if VK_EXT_calibrated_timestamps can relate it to steady_clock.
};

struct DeviceInfo {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceCaps caps;
  uint32_t queueFamily = 0;
  uint64_t hostImportAlignment = 0; ///< Alignment of imported host memory; 0 if it can't be imported.
  uint64_t bindingAlignment = 256;  ///< Alignment of bindings in imported memory.
  TimestampInfo timestamps;
  std::string cacheKey; ///< Identifies the driver build. Pipelines with the same key are compatible.
};

DeviceInfo queryDevice(const InstanceTable &vk, VkPhysicalDevice device);

/// Returns all devices of the instance, in the loader's order.
StatusOr<std::vector<DeviceInfo>> queryDevices(const VulkanInstance &instance);

/// Returns true if INLAY_VULKAN_FORCE_STAGING is set. All device memory is then treated as invisible to the host, to
/// test the code for discrete GPUs.
bool forcesStaging();

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a physical device's facts into plain data.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H

#include "VulkanInstance.h"

#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <array>

namespace inlay::rt::vulkan {

/// The clock of a device's queue.
struct TimestampInfo {
  uint32_t validBits = 0;    ///< of a count of ticks; 0 if there are none
  double period = 1;         ///< nanoseconds of a tick
  bool canCalibrate = false; ///< by VK_EXT_calibrated_timestamps, against steady_clock
};

struct DeviceInfo {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceCaps caps;
  uint32_t queueFamily = 0;
  uint64_t hostImportAlignment = 0; ///< of host memory that the device can use in place; 0 if it can't
  uint64_t bindingAlignment = 256;  ///< of what is bound to kernels there
  TimestampInfo timestamps;
  std::string cacheKey; ///< names the driver build: pipelines of one key fit each other
};

DeviceInfo queryDevice(const InstanceTable &vk, VkPhysicalDevice device);

/// All devices of the instance, in the loader's order.
StatusOr<std::vector<DeviceInfo>> queryDevices(const VulkanInstance &instance);

/// INLAY_VULKAN_FORCE_STAGING: treat all device memory as invisible to the host, to test what discrete GPUs need.
bool forcesStaging();

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEQUERY_H

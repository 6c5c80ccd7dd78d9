// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process's one Vulkan instance, made at first use and kept to the end.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_VULKANINSTANCE_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_VULKANINSTANCE_H

#include "CooperativeMatrix.h"

#include "inlay/Runtime/Core/Status.h"

#include <volk.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace inlay::rt::vulkan {

/// Loads the Vulkan loader; the status says where it was sought.
StatusOr<PFN_vkGetInstanceProcAddr> openLoader(const char *library);

/// What was tried to find a driver: environment variables, whether their files exist, the loader's folders.
std::string explainDrivers();

/// Messages of the validation layer that no call has reported yet. Thread-safe.
class ValidationLog {
public:
  void add(std::string message);
  /// An error with all messages since the last time, or ok.
  Status take();

private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// Every function of the loader and of instances that the runtime calls, in the order of use.
#define INLAY_LOADER_FUNCTIONS(X)                                                                                      \
  X(vkEnumerateInstanceLayerProperties)                                                                                \
  X(vkCreateInstance)
#define INLAY_INSTANCE_FUNCTIONS(X)                                                                                    \
  X(vkCreateDebugUtilsMessengerEXT)                                                                                    \
  X(vkEnumeratePhysicalDevices)                                                                                        \
  X(vkGetPhysicalDeviceProperties)                                                                                     \
  X(vkGetPhysicalDeviceProperties2)                                                                                    \
  X(vkGetPhysicalDeviceFeatures2)                                                                                      \
  X(vkGetPhysicalDeviceMemoryProperties)                                                                               \
  X(vkGetPhysicalDeviceQueueFamilyProperties)                                                                          \
  X(vkEnumerateDeviceExtensionProperties)                                                                              \
  X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)                                                                    \
  X(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)                                                                 \
  X(vkCreateDevice)                                                                                                    \
  X(vkDestroyDebugUtilsMessengerEXT)                                                                                   \
  X(vkDestroyInstance)

/// As volk's table for devices: no call goes around it, so that faults can be injected anywhere.
struct InstanceTable {
#define INLAY_FUNCTION(name) PFN_##name name = nullptr;
  INLAY_LOADER_FUNCTIONS(INLAY_FUNCTION)
  INLAY_INSTANCE_FUNCTIONS(INLAY_FUNCTION)
#undef INLAY_FUNCTION
};

class VulkanInstance {
public:
  /// The instance; a failure isn't remembered, so a later call tries again. INLAY_VULKAN_VALIDATION counts at the first
  /// call that succeeds.
  static StatusOr<VulkanInstance *> get();

  /// Another one, whose table is given to `wrap` each time that functions were loaded: for tests.
  static StatusOr<std::unique_ptr<VulkanInstance>> make(const std::function<void(InstanceTable &)> &wrap);

  VulkanInstance() = default;
  VulkanInstance(const VulkanInstance &) = delete;
  VulkanInstance &operator=(const VulkanInstance &) = delete;
  ~VulkanInstance();

  InstanceTable vk;

  VkInstance handle() const { return handle_; }
  ValidationLog &log() { return log_; }
  StatusOr<std::vector<VkPhysicalDevice>> physicalDevices() const;

private:
  Status create(const std::function<void(InstanceTable &)> &wrap = {});
  Status findLayer() const;
  Status listen();

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  ValidationLog log_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_VULKANINSTANCE_H

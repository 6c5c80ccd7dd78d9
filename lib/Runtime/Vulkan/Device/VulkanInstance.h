// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VulkanInstance: the Vulkan instance of the process. It is created at first use and never destroyed.

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

/// Opens the Vulkan loader. The error says where it was looked for.
StatusOr<PFN_vkGetInstanceProcAddr> openLoader(const char *library);

/// Describes where drivers were looked for: environment variables, unreadable files in them, and the loader's folders.
std::string explainDrivers();

/// The messages of the validation layer that no call has reported yet. Thread-safe.
class ValidationLog {
public:
  void add(std::string message);
  /// Returns an error with all messages since the last call, or ok.
  Status take();

private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// All functions of the loader and of instances that the runtime calls, in the order of use.
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

/// The function table of an instance, like `DeviceFunctions`. All calls use it, so that tests can inject faults.
struct InstanceTable {
#define INLAY_FUNCTION(name) PFN_##name name = nullptr;
  INLAY_LOADER_FUNCTIONS(INLAY_FUNCTION)
  INLAY_INSTANCE_FUNCTIONS(INLAY_FUNCTION)
#undef INLAY_FUNCTION
};

class VulkanInstance;

/// Called each time functions of an instance were loaded, so that tests can replace them.
using WrapInstance = std::function<void(VulkanInstance &)>;

class VulkanInstance {
public:
  /// Returns the instance. A failure is not stored, so a later call tries again. INLAY_VULKAN_VALIDATION is read at the
  /// first call that succeeds.
  static StatusOr<VulkanInstance *> get();

  /// Creates a separate instance for tests.
  static StatusOr<std::unique_ptr<VulkanInstance>> make(const WrapInstance &wrap);

  VulkanInstance() = default;
  VulkanInstance(const VulkanInstance &) = delete;
  VulkanInstance &operator=(const VulkanInstance &) = delete;
  ~VulkanInstance();

  InstanceTable vk;

  VkInstance handle() const { return handle_; }
  ValidationLog &log() { return log_; }
  StatusOr<std::vector<VkPhysicalDevice>> physicalDevices() const;

private:
  Status create(const WrapInstance &wrap = {});
  Status findLayer() const;
  Status listen();

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  ValidationLog log_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_VULKANINSTANCE_H

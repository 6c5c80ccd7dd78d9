// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process's one Vulkan instance, made at first use and kept to the end.

#ifndef INLAY_LIB_RUNTIME_VULKAN_INSTANCE_H
#define INLAY_LIB_RUNTIME_VULKAN_INSTANCE_H

#include "inlay/Runtime/Core/Status.h"

#include <volk.h>

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

class Instance {
public:
  /// The instance; a failure isn't remembered, so a later call tries again. INLAY_VULKAN_VALIDATION counts at the first
  /// call that succeeds.
  static StatusOr<Instance *> get();

  VkInstance handle() const { return handle_; }
  ValidationLog &log() { return log_; }
  StatusOr<std::vector<VkPhysicalDevice>> physicalDevices() const;

private:
  Status create();
  Status listen();

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  ValidationLog log_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_INSTANCE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the next layer or driver, by instance and by device.

#ifndef INLAY_TOOLS_GPULAYER_TABLES_H
#define INLAY_TOOLS_GPULAYER_TABLES_H

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <map>
#include <mutex>

namespace inlay::layer {

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr getAddress = nullptr;
};

struct Device {
  VkDevice handle = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr getAddress = nullptr;

  /// Returns the next layer's function `name`.
  template <typename Function>
  Function get(const char *name) const {
    return reinterpret_cast<Function>(getAddress(handle, name));
  }
};

/// Live objects by the dispatch key that the loader stores at the start of each dispatchable handle.
template <typename T>
class Registry {
public:
  void add(void *handle, const T &object) {
    std::lock_guard<std::mutex> lock(mutex_);
    objects_[keyOf(handle)] = object;
  }
  void remove(void *handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    objects_.erase(keyOf(handle));
  }
  T find(void *handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    return objects_[keyOf(handle)];
  }

private:
  static void *keyOf(void *handle) { return *static_cast<void **>(handle); }

  std::mutex mutex_;
  std::map<void *, T> objects_;
};

Registry<Instance> &instances();
Registry<Device> &devices();

/// Returns the layer's function `name` that stands in for missing hardware, or null if the driver's function serves.
PFN_vkVoidFunction findStandIn(const char *name);

/// Writes what the driver's compiler reports about `pipeline` to a file in the folder INLAY_GPU_LAYER_FOLDER, as JSON:
/// `entry`, `subgroup`, `statistics` and `assembly`. Does nothing without that variable.
void writeStatistics(const Device &device, VkPipeline pipeline, const char *entry);

} // namespace inlay::layer

#endif // INLAY_TOOLS_GPULAYER_TABLES_H

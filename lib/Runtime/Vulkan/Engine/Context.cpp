// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates the logical device with the features that kernels use, and its shared parts. Device/DeviceQuery.cpp finds
// out which features exist.

#include "Context.h"
#include "Runtime/Vulkan/Device/Results.h"

#include "inlay/Runtime/Core/Guard.h"

#include <fmt/format.h>

#include <new>
#include <thread>

namespace inlay::rt::vulkan {

Status DeviceTable::checkProcess() const {
  if (isForked())
    return {StatusCode::InvalidArgument,
            "the device was opened before this process was forked: only the parent process can use it"};
  return Status::ok();
}

static VkPhysicalDeviceMemoryProperties readMemory(const VulkanInstance &instance, const DeviceInfo &info) {
  VkPhysicalDeviceMemoryProperties memory;
  instance.vk.vkGetPhysicalDeviceMemoryProperties(info.handle, &memory);
  return memory;
}

/// Waits until the device has run all submissions and its threads have nothing to do.
static void drainDevice(void *object, ExitStep::Deadline deadline) {
  const auto &table = *static_cast<const DeviceTable *>(object);
  while (table.timeline != VK_NULL_HANDLE && !table.isIdle()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  table.vk.vkDeviceWaitIdle(table.device);
}

static ExitStep exitStepOf(DeviceTable &table) { return {ExitStep::Phase::Drain, drainDevice, &table}; }

OwnedDevice::~OwnedDevice() {
  if (device == VK_NULL_HANDLE || isForked())
    return;
  DriverUse use;
  bool isDestroyed = use && mayDestroy() && !hasLeaked;
  if (!isDestroyed)
    drainAtExit();
  removeExitStep(exitStepOf(*this));
  if (isDestroyed)
    vk.vkDestroyDevice(device, nullptr);
}

/// Adds a step for a leaked device, which may still run commands when the process exits.
void OwnedDevice::drainAtExit() const {
  auto *leaked = new (std::nothrow) DeviceTable;
  if (!leaked)
    return;
  leaked->device = device;
  leaked->vk = vk;
  leaked->submitted = submitted.load();
  if (isStuck) // so the semaphore was leaked too
    leaked->timeline = timeline;
  // Without memory for the step, the exit doesn't wait for the device.
  auto add = [&] {
    addExitStep(exitStepOf(*leaked));
    return Status::ok();
  };
  if (!guard(add).isOk())
    delete leaked;
}

Context::Context(VulkanInstance &instance, DeviceInfo deviceInfo)
    : instance(instance), info(std::move(deviceInfo)), memory(*this, readMemory(instance, info), info.caps),
      queue(*this), pipelines(*this), staging(*this, memory, queue), builder(*this) {}

/// Creates the device with all features that kernels may require and the device has.
static VkResult createDevice(const InstanceTable &vk, const DeviceInfo &info, VkDevice &device) {
  const DeviceCaps &caps = info.caps;
  VkPhysicalDeviceVulkan13Features v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  v13.synchronization2 = VK_TRUE;
  v13.maintenance4 = VK_TRUE; // required in 1.3
  v13.computeFullSubgroups = caps.fullSubgroups;
  v13.subgroupSizeControl = caps.minSubgroupSize != caps.maxSubgroupSize;
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &v13};
  v12.timelineSemaphore = VK_TRUE;
  v12.shaderFloat16 = caps.float16;
  v12.shaderInt8 = caps.int8;
  v12.storageBuffer8BitAccess = caps.storage8;
  v12.vulkanMemoryModel = caps.memoryModel;
  v12.vulkanMemoryModelDeviceScope = caps.memoryModel;
  VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &v12};
  v11.storageBuffer16BitAccess = caps.storage16;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11};
  features.features.shaderFloat64 = caps.float64;
  features.features.shaderInt16 = caps.int16;
  features.features.shaderInt64 = caps.int64;

  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, &features, VK_TRUE, VK_FALSE};
  bool hasMatrices = !caps.matrices.empty();
  void *chain = hasMatrices ? static_cast<void *>(&matrices) : &features;

  float priority = 1.0f;
  VkDeviceQueueCreateInfo queueInfo{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queueInfo.queueFamilyIndex = info.queueFamily;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo deviceInfo{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, chain};
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  std::vector<const char *> extensions;
  if (info.hostImportAlignment)
    extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (info.timestamps.canCalibrate)
    extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  if (hasMatrices)
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  deviceInfo.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  deviceInfo.ppEnabledExtensionNames = extensions.data();
  return vk.vkCreateDevice(info.handle, &deviceInfo, nullptr, &device);
}

static void loadFunctions(DeviceFunctions &functions, VkDevice device) {
  PFN_vkGetDeviceProcAddr find = vkGetDeviceProcAddr; // volk's
#define INLAY_LOAD(name) functions.name = reinterpret_cast<PFN_##name>(find(device, #name));
  INLAY_DEVICE_FUNCTIONS(INLAY_LOAD)
#undef INLAY_LOAD
}

StatusOr<std::shared_ptr<Context>> Context::open(VulkanInstance &instance, const DeviceInfo &info,
                                                 const WrapDevice &wrap) {
  StatusOr<Timeout> timeout = environmentTimeout();
  if (!timeout.isOk())
    return timeout.status();
  auto context = std::make_shared<Context>(instance, info);
  if (Status status = checkResult("vkCreateDevice", createDevice(instance.vk, info, context->device)); !status.isOk())
    return Status(status.code(), fmt::format("device '{}': {}", info.caps.name, status.message()));
  loadFunctions(context->vk, context->device);
  addExitStep(exitStepOf(*context));
  if (wrap)
    wrap(*context);
  INLAY_RETURN_IF_ERROR(context->queue.open(info.queueFamily, *timeout));
  INLAY_RETURN_IF_ERROR(context->pipelines.open(info.cacheKey));
  precedeExitHandlers();
  return context;
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads limits, features, memory, matrix shapes and the cache key of a physical device. DeviceSelection.cpp chooses
// among devices, and Engine/Context.cpp enables the features.

#include "DeviceQuery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace inlay::rt::vulkan {

bool forcesStaging() {
  const char *value = std::getenv("INLAY_VULKAN_FORCE_STAGING");
  return value && *value && std::strcmp(value, "0") != 0;
}

/// Returns true if INLAY_VULKAN_ASSUME_GPU asks to treat software devices as GPUs, so that tests without a GPU can run
/// the kernels that a GPU would get.
static bool assumesGpu() {
  const char *value = std::getenv("INLAY_VULKAN_ASSUME_GPU");
  return value && *value && std::strcmp(value, "0") != 0;
}

namespace {

/// The chained property structures that are read.
struct Properties {
  VkPhysicalDeviceVulkan13Properties v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, &v13};
  VkPhysicalDeviceVulkan11Properties v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, &v12};
  VkPhysicalDeviceProperties2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &v11};
};

/// The chained feature structures that are read.
struct Features {
  VkPhysicalDeviceVulkan13Features v13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &v13};
  VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &v12};
  VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11};
};

} // namespace

static std::string formatVersion(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

static void readLimits(const Properties &properties, DeviceCaps &caps) {
  const VkPhysicalDeviceLimits &limits = properties.core.properties.limits;
  std::copy_n(limits.maxComputeWorkGroupCount, 3, caps.maxWorkgroupCount.begin());
  std::copy_n(limits.maxComputeWorkGroupSize, 3, caps.maxWorkgroupSize.begin());
  caps.maxWorkgroupInvocations = limits.maxComputeWorkGroupInvocations;
  caps.maxWorkgroupMemory = limits.maxComputeSharedMemorySize;
  caps.maxPushConstantBytes = limits.maxPushConstantsSize;
  caps.maxStorageBuffersPerStage = std::min(
      {limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  caps.maxStorageBufferRange = limits.maxStorageBufferRange;
  caps.maxAllocationBytes = std::min(properties.v11.maxMemoryAllocationSize, properties.v13.maxBufferSize);
  caps.storageOffsetAlignment = static_cast<uint32_t>(
      std::max<VkDeviceSize>({256, limits.minStorageBufferOffsetAlignment, limits.minTexelBufferOffsetAlignment}));
  caps.maxTexelElements = limits.maxTexelBufferElements;
  caps.subgroupSize = properties.v11.subgroupSize;
  VkSubgroupFeatureFlags operations = properties.v11.subgroupSupportedOperations;
  bool inCompute = properties.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT;
  caps.subgroupArithmetic = inCompute && (operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
  caps.subgroupShuffle = inCompute && (operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  caps.subgroupBallot = inCompute && (operations & VK_SUBGROUP_FEATURE_BALLOT_BIT);
  caps.minSubgroupSize = caps.maxSubgroupSize = caps.subgroupSize;
}

/// Reads the features. Returns the reason if the device can't be used, else an empty string.
static std::string readFeatures(const Properties &properties, const Features &features, DeviceCaps &caps) {
  const VkPhysicalDeviceFeatures &core = features.core.features;
  caps.float16 = features.v12.shaderFloat16;
  caps.float64 = core.shaderFloat64;
  caps.int8 = features.v12.shaderInt8;
  caps.int16 = core.shaderInt16;
  caps.int64 = core.shaderInt64;
  caps.storage8 = features.v12.storageBuffer8BitAccess;
  caps.storage16 = features.v11.storageBuffer16BitAccess;
  // Without the second feature, the first forbids atomic ops of the scope Device.
  caps.memoryModel = features.v12.vulkanMemoryModel && features.v12.vulkanMemoryModelDeviceScope;
  if (features.v13.subgroupSizeControl && (properties.v13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)) {
    caps.minSubgroupSize = properties.v13.minSubgroupSize;
    caps.maxSubgroupSize = properties.v13.maxSubgroupSize;
  }
  caps.fullSubgroups = features.v13.computeFullSubgroups;
  if (!features.v12.timelineSemaphore)
    return "it has no timeline semaphores";
  if (!features.v13.synchronization2)
    return "it has no synchronization2";
  return "";
}

/// Finds the queue family to use and its timestamp bits.
static bool findQueueFamily(const InstanceTable &vk, VkPhysicalDevice device, DeviceInfo &info) {
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  // Prefer a family without graphics, because the desktop does not use it.
  for (bool allowGraphics : {false, true}) {
    for (uint32_t i = 0; i < count; ++i) {
      VkQueueFlags flags = families[i].queueFlags;
      if ((flags & VK_QUEUE_COMPUTE_BIT) && (allowGraphics || !(flags & VK_QUEUE_GRAPHICS_BIT))) {
        info.queueFamily = i;
        info.timestamps.validBits = families[i].timestampValidBits;
        return true;
      }
    }
  }
  return false;
}

static bool hasExtension(const InstanceTable &vk, VkPhysicalDevice device, const char *name) {
  uint32_t count = 0;
  if (vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> extensions(count);
  if (vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()) != VK_SUCCESS)
    return false;
  return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties &extension) {
    return std::strcmp(extension.extensionName, name) == 0;
  });
}

/// Returns true if the device can read its clock and steady_clock at the same time.
static bool canCalibrate(const InstanceTable &vk, VkPhysicalDevice device) {
  if (!hasExtension(vk, device, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
      !vk.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)
    return false;
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(device, &count, nullptr);
  std::vector<VkTimeDomainEXT> domains(count);
  vk.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(device, &count, domains.data());
  auto has = [&](VkTimeDomainEXT domain) { return std::find(domains.begin(), domains.end(), domain) != domains.end(); };
  return has(VK_TIME_DOMAIN_DEVICE_EXT) && has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
}

static void readMemory(const InstanceTable &vk, VkPhysicalDevice device, DeviceCaps &caps) {
  VkPhysicalDeviceMemoryProperties memory;
  vk.vkGetPhysicalDeviceMemoryProperties(device, &memory);
  constexpr VkMemoryPropertyFlags unified =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint64_t largest = 0;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
      largest = std::max<uint64_t>(largest, memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size);
    // Host-visible memory of a discrete GPU is across the bus: it is correct to use, but slow to read.
    if ((flags & unified) == unified && !caps.discrete && !forcesStaging())
      caps.unifiedMemory = true;
  }
  caps.maxAllocationBytes = std::min(caps.maxAllocationBytes, largest);
}

/// Returns the alignment of imported host memory, or 0 if it is not used. It is used only with unified memory;
/// elsewhere each read would cross the bus.
static uint64_t readHostImportAlignment(const InstanceTable &vk, VkPhysicalDevice device, const DeviceCaps &caps) {
  if (!caps.unifiedMemory || !hasExtension(vk, device, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    return 0;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT import{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &import};
  vk.vkGetPhysicalDeviceProperties2(device, &properties);
  return import.minImportedHostPointerAlignment;
}

static std::string nameOf(VkComponentTypeKHR type) {
  const std::pair<VkComponentTypeKHR, const char *> names[] = {
      {VK_COMPONENT_TYPE_FLOAT16_KHR, "f16"}, {VK_COMPONENT_TYPE_FLOAT32_KHR, "f32"},
      {VK_COMPONENT_TYPE_FLOAT64_KHR, "f64"}, {VK_COMPONENT_TYPE_SINT8_KHR, "s8"},
      {VK_COMPONENT_TYPE_SINT16_KHR, "s16"},  {VK_COMPONENT_TYPE_SINT32_KHR, "s32"},
      {VK_COMPONENT_TYPE_SINT64_KHR, "s64"},  {VK_COMPONENT_TYPE_UINT8_KHR, "u8"},
      {VK_COMPONENT_TYPE_UINT16_KHR, "u16"},  {VK_COMPONENT_TYPE_UINT32_KHR, "u32"},
      {VK_COMPONENT_TYPE_UINT64_KHR, "u64"},
  };
  for (auto [known, name] : names)
    if (type == known)
      return name;
  return "";
}

/// Reads the matrix products of VK_KHR_cooperative_matrix. They require the Vulkan memory model and full subgroups.
static std::vector<MatrixProperties> readMatrices(const InstanceTable &vk, VkPhysicalDevice device,
                                                  const DeviceCaps &caps) {
  if (!caps.memoryModel || !caps.fullSubgroups || !hasExtension(vk, device, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) ||
      !vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
    return {};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR feature{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &feature};
  vk.vkGetPhysicalDeviceFeatures2(device, &features);
  VkPhysicalDeviceCooperativeMatrixPropertiesKHR stages{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &stages};
  vk.vkGetPhysicalDeviceProperties2(device, &properties);
  if (!feature.cooperativeMatrix || !(stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT))
    return {};
  uint32_t count = 0;
  if (vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, &count, nullptr) != VK_SUCCESS)
    return {};
  std::vector<VkCooperativeMatrixPropertiesKHR> found(count, {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR});
  if (vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, &count, found.data()) != VK_SUCCESS)
    return {};
  std::vector<MatrixProperties> matrices;
  for (const VkCooperativeMatrixPropertiesKHR &matrix : found)
    matrices.push_back(
        {matrix.MSize, matrix.NSize, matrix.KSize, nameOf(matrix.AType), nameOf(matrix.BType), nameOf(matrix.CType),
         nameOf(matrix.ResultType), matrix.saturatingAccumulation == VK_TRUE,
         matrix.scope == VK_SCOPE_SUBGROUP_KHR ? MatrixProperties::Scope::Subgroup : MatrixProperties::Scope::Other});
  return matrices;
}

static std::string makeCacheKey(const VkPhysicalDeviceProperties &properties) {
  std::string key;
  for (uint8_t byte : properties.pipelineCacheUUID)
    key += fmt::format("{:02x}", byte);
  return fmt::format("{}-{:x}-{:x}-{:x}", key, properties.vendorID, properties.deviceID, properties.driverVersion);
}

DeviceInfo queryDevice(const InstanceTable &vk, VkPhysicalDevice device) {
  DeviceInfo info;
  info.handle = device;
  DeviceCaps &caps = info.caps;
  Properties properties;
  vk.vkGetPhysicalDeviceProperties(device, &properties.core.properties);
  const VkPhysicalDeviceProperties &core = properties.core.properties;
  caps.name = core.deviceName;
  caps.apiVersion = core.apiVersion;
  caps.vendorId = core.vendorID;
  caps.discrete = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  caps.software = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU && !assumesGpu();
  // A software device loads from a storage buffer lane by lane, with a check for each lane. It fetches texels for all
  // lanes at once.
  caps.prefersTexels = caps.software;
  caps.driver = formatVersion(core.driverVersion);
  if (core.apiVersion < VK_API_VERSION_1_3) {
    caps.unusable = fmt::format("it has Vulkan {}, but 1.3 is needed", formatVersion(core.apiVersion));
    return info;
  }
  Features features;
  vk.vkGetPhysicalDeviceProperties2(device, &properties.core);
  vk.vkGetPhysicalDeviceFeatures2(device, &features.core);
  caps.driver = fmt::format("{} {}", properties.v12.driverName, properties.v12.driverInfo);
  info.cacheKey = makeCacheKey(core);
  readLimits(properties, caps);
  info.bindingAlignment =
      std::max(core.limits.minStorageBufferOffsetAlignment, core.limits.minTexelBufferOffsetAlignment);
  readMemory(vk, device, caps);
  info.hostImportAlignment = readHostImportAlignment(vk, device, caps);
  caps.unusable = readFeatures(properties, features, caps);
  caps.matrices = readMatrices(vk, device, caps);
  if (caps.unusable.empty() && !findQueueFamily(vk, device, info))
    caps.unusable = "it has no queue for compute";
  info.timestamps.period = properties.core.properties.limits.timestampPeriod;
  info.timestamps.canCalibrate = canCalibrate(vk, device);
  return info;
}

StatusOr<std::vector<DeviceInfo>> queryDevices(const VulkanInstance &instance) {
  StatusOr<std::vector<VkPhysicalDevice>> handles = instance.physicalDevices();
  if (!handles.isOk())
    return handles.status();
  std::vector<DeviceInfo> infos;
  for (VkPhysicalDevice handle : *handles)
    infos.push_back(queryDevice(instance.vk, handle));
  return infos;
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Vulkan layer for drivers that compile for a GPU that the machine lacks. It lets the driver keep statistics of each
// compute pipeline, and provides what needs hardware (StandIns.cpp). The loader finds it by its manifest.

#include "Tables.h"

#include <cstring>
#include <vector>

using namespace inlay::layer;

static constexpr char kExtension[] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;

Registry<Instance> &inlay::layer::instances() {
  static Registry<Instance> registry;
  return registry;
}

Registry<Device> &inlay::layer::devices() {
  static Registry<Device> registry;
  return registry;
}

/// Finds the loader's link to the next layer in the chain of a create info, or null.
template <typename Link>
static Link *findLink(const void *chain, VkStructureType type) {
  auto *link = static_cast<Link *>(const_cast<void *>(chain));
  while (link && !(link->sType == type && link->function == VK_LAYER_LINK_INFO))
    link = static_cast<Link *>(const_cast<void *>(link->pNext));
  return link;
}

static VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator, VkInstance *instance) {
  auto *link = findLink<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (!link)
    return VK_ERROR_INITIALIZATION_FAILED;
  PFN_vkGetInstanceProcAddr getAddress = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  auto create = reinterpret_cast<PFN_vkCreateInstance>(getAddress(VK_NULL_HANDLE, "vkCreateInstance"));
  VkResult result = create(info, allocator, instance);
  if (result == VK_SUCCESS)
    instances().add(*instance, {*instance, getAddress});
  return result;
}

static VKAPI_ATTR void VKAPI_CALL destroyInstance(VkInstance instance, const VkAllocationCallbacks *allocator) {
  if (!instance)
    return;
  PFN_vkGetInstanceProcAddr getAddress = instances().find(instance).getAddress;
  instances().remove(instance);
  reinterpret_cast<PFN_vkDestroyInstance>(getAddress(instance, "vkDestroyInstance"))(instance, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator, VkDevice *device) {
  auto *link = findLink<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (!link)
    return VK_ERROR_INITIALIZATION_FAILED;
  PFN_vkGetInstanceProcAddr getInstanceAddress = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  PFN_vkGetDeviceProcAddr getAddress = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  std::vector<const char *> extensions(info->ppEnabledExtensionNames,
                                       info->ppEnabledExtensionNames + info->enabledExtensionCount);
  extensions.push_back(kExtension);
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, const_cast<void *>(info->pNext),
      VK_TRUE};
  VkDeviceCreateInfo extended = *info;
  extended.pNext = &feature;
  extended.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  extended.ppEnabledExtensionNames = extensions.data();
  auto create =
      reinterpret_cast<PFN_vkCreateDevice>(getInstanceAddress(instances().find(physical).handle, "vkCreateDevice"));
  VkResult result = create(physical, &extended, allocator, device);
  if (result == VK_SUCCESS)
    devices().add(*device, {*device, getAddress});
  return result;
}

static VKAPI_ATTR void VKAPI_CALL destroyDevice(VkDevice device, const VkAllocationCallbacks *allocator) {
  if (!device)
    return;
  Device next = devices().find(device);
  devices().remove(device);
  next.get<PFN_vkDestroyDevice>("vkDestroyDevice")(device, allocator);
}

/// Creates each pipeline without a cache, because drivers may keep no statistics of pipelines that they find in one.
static VKAPI_ATTR VkResult VKAPI_CALL createComputePipelines(VkDevice device, VkPipelineCache, uint32_t count,
                                                             const VkComputePipelineCreateInfo *infos,
                                                             const VkAllocationCallbacks *allocator,
                                                             VkPipeline *pipelines) {
  Device next = devices().find(device);
  std::vector<VkComputePipelineCreateInfo> extended(infos, infos + count);
  for (VkComputePipelineCreateInfo &info : extended)
    info.flags |=
        VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  VkResult result = next.get<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(
      device, VK_NULL_HANDLE, count, extended.data(), allocator, pipelines);
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i)
    writeStatistics(next, pipelines[i], infos[i].stage.pName);
  return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceAddress(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getInstanceAddress(VkInstance instance, const char *name);

/// Returns the layer's function `name`, or null if the layer passes it on.
static PFN_vkVoidFunction findOwn(const char *name) {
  const std::pair<const char *, PFN_vkVoidFunction> functions[] = {
      {"vkGetInstanceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(getInstanceAddress)},
      {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(getDeviceAddress)},
      {"vkCreateInstance", reinterpret_cast<PFN_vkVoidFunction>(createInstance)},
      {"vkDestroyInstance", reinterpret_cast<PFN_vkVoidFunction>(destroyInstance)},
      {"vkCreateDevice", reinterpret_cast<PFN_vkVoidFunction>(createDevice)},
      {"vkDestroyDevice", reinterpret_cast<PFN_vkVoidFunction>(destroyDevice)},
      {"vkCreateComputePipelines", reinterpret_cast<PFN_vkVoidFunction>(createComputePipelines)},
  };
  for (auto [known, function] : functions)
    if (std::strcmp(name, known) == 0)
      return function;
  return findStandIn(name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceAddress(VkDevice device, const char *name) {
  if (PFN_vkVoidFunction own = findOwn(name))
    return own;
  return devices().find(device).getAddress(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getInstanceAddress(VkInstance instance, const char *name) {
  if (PFN_vkVoidFunction own = findOwn(name))
    return own;
  return instance ? instances().find(instance).getAddress(instance, name) : nullptr;
}

extern "C" VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = getInstanceAddress;
  version->pfnGetDeviceProcAddr = getDeviceAddress;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

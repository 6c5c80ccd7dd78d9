// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a device that need hardware: its memory types, fences, semaphores and waits. Nothing runs on the device,
// so every wait ends at once.

#include "Tables.h"

#include <cstdint>
#include <cstring>

using namespace inlay::layer;

namespace {
/// A handle of an object that has no state.
template <typename Handle>
Handle placeholder() {
  return reinterpret_cast<Handle>(uintptr_t(1));
}
} // namespace

/// Reports the memory of a usual discrete GPU: its own, of which the host sees a part, and that of the host.
static VKAPI_ATTR void VKAPI_CALL getMemory(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties *memory) {
  constexpr VkMemoryPropertyFlags onDevice = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  shared = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkDeviceSize heapBytes = VkDeviceSize(16) << 30;
  *memory = {};
  memory->memoryHeapCount = 2;
  memory->memoryHeaps[0] = {heapBytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory->memoryHeaps[1] = {heapBytes, 0};
  memory->memoryTypeCount = 4;
  memory->memoryTypes[0] = {onDevice, 0};
  memory->memoryTypes[1] = {shared, 1};
  memory->memoryTypes[2] = {onDevice | shared, 0};
  memory->memoryTypes[3] = {shared | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
}

static VKAPI_ATTR void VKAPI_CALL getMemory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *memory) {
  getMemory(device, &memory->memoryProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL createFence(VkDevice, const VkFenceCreateInfo *, const VkAllocationCallbacks *,
                                                  VkFence *fence) {
  *fence = placeholder<VkFence>();
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroyFence(VkDevice, VkFence, const VkAllocationCallbacks *) {}

static VKAPI_ATTR VkResult VKAPI_CALL createSemaphore(VkDevice, const VkSemaphoreCreateInfo *,
                                                      const VkAllocationCallbacks *, VkSemaphore *semaphore) {
  *semaphore = placeholder<VkSemaphore>();
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroySemaphore(VkDevice, VkSemaphore, const VkAllocationCallbacks *) {}

static VKAPI_ATTR VkResult VKAPI_CALL getSemaphoreValue(VkDevice, VkSemaphore, uint64_t *value) {
  *value = UINT64_MAX;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL waitSemaphores(VkDevice, const VkSemaphoreWaitInfo *, uint64_t) {
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL waitFences(VkDevice, uint32_t, const VkFence *, VkBool32, uint64_t) {
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL waitDevice(VkDevice) { return VK_SUCCESS; }

PFN_vkVoidFunction inlay::layer::findStandIn(const char *name) {
  const std::pair<const char *, PFN_vkVoidFunction> functions[] = {
      {"vkGetPhysicalDeviceMemoryProperties", reinterpret_cast<PFN_vkVoidFunction>(getMemory)},
      {"vkGetPhysicalDeviceMemoryProperties2", reinterpret_cast<PFN_vkVoidFunction>(getMemory2)},
      {"vkCreateFence", reinterpret_cast<PFN_vkVoidFunction>(createFence)},
      {"vkDestroyFence", reinterpret_cast<PFN_vkVoidFunction>(destroyFence)},
      {"vkWaitForFences", reinterpret_cast<PFN_vkVoidFunction>(waitFences)},
      {"vkCreateSemaphore", reinterpret_cast<PFN_vkVoidFunction>(createSemaphore)},
      {"vkDestroySemaphore", reinterpret_cast<PFN_vkVoidFunction>(destroySemaphore)},
      {"vkGetSemaphoreCounterValue", reinterpret_cast<PFN_vkVoidFunction>(getSemaphoreValue)},
      {"vkWaitSemaphores", reinterpret_cast<PFN_vkVoidFunction>(waitSemaphores)},
      {"vkDeviceWaitIdle", reinterpret_cast<PFN_vkVoidFunction>(waitDevice)},
  };
  for (auto [known, function] : functions)
    if (std::strcmp(name, known) == 0)
      return function;
  return nullptr;
}

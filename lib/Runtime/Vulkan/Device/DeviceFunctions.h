// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeviceFunctions: the functions of a device that the runtime calls.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEFUNCTIONS_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEFUNCTIONS_H

#include <volk.h>

namespace inlay::rt::vulkan {

/// All functions of devices that the runtime calls.
#define INLAY_DEVICE_FUNCTIONS(X)                                                                                      \
  X(vkAllocateCommandBuffers)                                                                                          \
  X(vkAllocateDescriptorSets)                                                                                          \
  X(vkAllocateMemory)                                                                                                  \
  X(vkBeginCommandBuffer)                                                                                              \
  X(vkBindBufferMemory)                                                                                                \
  X(vkCmdBindDescriptorSets)                                                                                           \
  X(vkCmdBindPipeline)                                                                                                 \
  X(vkCmdCopyBuffer)                                                                                                   \
  X(vkCmdDispatch)                                                                                                     \
  X(vkCmdPipelineBarrier2)                                                                                             \
  X(vkCmdPushConstants)                                                                                                \
  X(vkCmdResetQueryPool)                                                                                               \
  X(vkCmdWriteTimestamp2)                                                                                              \
  X(vkCreateBuffer)                                                                                                    \
  X(vkCreateBufferView)                                                                                                \
  X(vkCreateCommandPool)                                                                                               \
  X(vkCreateComputePipelines)                                                                                          \
  X(vkCreateDescriptorPool)                                                                                            \
  X(vkCreateDescriptorSetLayout)                                                                                       \
  X(vkCreatePipelineCache)                                                                                             \
  X(vkCreatePipelineLayout)                                                                                            \
  X(vkCreateQueryPool)                                                                                                 \
  X(vkCreateSemaphore)                                                                                                 \
  X(vkCreateShaderModule)                                                                                              \
  X(vkDestroyBuffer)                                                                                                   \
  X(vkDestroyBufferView)                                                                                               \
  X(vkDestroyCommandPool)                                                                                              \
  X(vkDestroyDescriptorPool)                                                                                           \
  X(vkDestroyDescriptorSetLayout)                                                                                      \
  X(vkDestroyDevice)                                                                                                   \
  X(vkDestroyPipeline)                                                                                                 \
  X(vkDestroyPipelineCache)                                                                                            \
  X(vkDestroyPipelineLayout)                                                                                           \
  X(vkDestroyQueryPool)                                                                                                \
  X(vkDestroySemaphore)                                                                                                \
  X(vkDestroyShaderModule)                                                                                             \
  X(vkDeviceWaitIdle)                                                                                                  \
  X(vkEndCommandBuffer)                                                                                                \
  X(vkFreeMemory)                                                                                                      \
  X(vkGetBufferMemoryRequirements)                                                                                     \
  X(vkGetCalibratedTimestampsEXT)                                                                                      \
  X(vkGetDeviceQueue)                                                                                                  \
  X(vkGetMemoryHostPointerPropertiesEXT)                                                                               \
  X(vkGetPipelineCacheData)                                                                                            \
  X(vkGetQueryPoolResults)                                                                                             \
  X(vkGetSemaphoreCounterValue)                                                                                        \
  X(vkMapMemory)                                                                                                       \
  X(vkQueueSubmit2)                                                                                                    \
  X(vkUpdateDescriptorSets)                                                                                            \
  X(vkWaitSemaphores)

/// The function table of a device. The runtime doesn't use volk's table, so that it can't call a function that the list
/// lacks: tests inject faults into all functions of the list. Functions of extensions that the device lacks are null.
struct DeviceFunctions {
#define INLAY_FUNCTION(name) PFN_##name name = nullptr;
  INLAY_DEVICE_FUNCTIONS(INLAY_FUNCTION)
#undef INLAY_FUNCTION
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_DEVICEFUNCTIONS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fault injection between the runtime and the driver. Any call of any entry point can be made to fail, or a submission
// never to end. Created and destroyed objects are counted.

#ifndef INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H
#define INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H

#include "Runtime/Vulkan/Device/Handles.h"
#include "Runtime/Vulkan/Device/VulkanInstance.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt::test {

struct Fault {
  std::string entry;            ///< "vkQueueSubmit2"
  uint32_t call = 0;            ///< Index of the call since `armFaults`.
  VkResult result = VK_SUCCESS; ///< The injected result; VK_SUCCESS for a submission that never ends.

  bool hangs() const { return result == VK_SUCCESS; }
};

/// Returns text such as "vkMapMemory call 3 returns VK_ERROR_MEMORY_MAP_FAILED".
std::string toString(const Fault &fault);

/// Returns the failures that an entry point may return: those of the Vulkan registry (vk.xml), VK_ERROR_UNKNOWN, which
/// every command may return, and for vkQueueSubmit2 VK_SUCCESS (see `Fault::result`). Empty if it can't fail. An entry
/// point that this file doesn't list fails the current test.
std::vector<VkResult> failuresOf(const std::string &entry);

/// Wraps all functions of an instance or a device. The destruction of an object that doesn't exist, or no longer, fails
/// the current test.
void wrapFunctions(vulkan::VulkanInstance &instance);
void wrapFunctions(vulkan::DeviceTable &device);

/// Restarts counting and injects each of these faults once.
void armFaults(std::vector<Fault> faults);

/// Returns the number of faults that were injected since `armFaults`.
size_t countStruck();

/// Returns the number of calls of each entry point since `armFaults`.
std::map<std::string, uint32_t> countCalls();

/// Returns the objects that weren't destroyed, by their creators: "vkCreateBuffer: 2"; empty if there are none.
std::string describeLiveObjects();

/// Forgets the live objects. Used after the runtime has leaked objects of a stuck device.
void forgetLiveObjects();

/// Leaks the instance, which has stuck devices or drivers whose threads still run.
vulkan::VulkanInstance &keepForever(std::unique_ptr<vulkan::VulkanInstance> instance);

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults put between the runtime and the driver: any call of any entry point can be made to fail, or a submission never
// to end; what is created and destroyed is counted on the way.

#ifndef INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H
#define INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H

#include "Runtime/Core/Execute/PlanInstance.h"
#include "Runtime/Vulkan/Device/Handles.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace inlay::rt::test {

struct Fault {
  std::string entry;            ///< "vkQueueSubmit2"
  uint32_t call = 0;            ///< which of the calls since `armFault`, from 0
  VkResult result = VK_SUCCESS; ///< what it returns; VK_SUCCESS for a submission that never ends

  bool hangs() const { return result == VK_SUCCESS; }
};

/// "vkMapMemory call 3 returns VK_ERROR_MEMORY_MAP_FAILED".
std::string toString(const Fault &fault);

/// What an entry point may return but success, as the Vulkan registry (vk.xml) lists it, VK_ERROR_UNKNOWN, which every
/// command may return, and for vkQueueSubmit2 VK_SUCCESS: see `Fault::result`. Empty for those that can't fail.
std::vector<VkResult> failuresOf(const std::string &entry);

/// Makes every call of a table go through here. What the runtime calls and isn't known here becomes null, so that a
/// test that reaches it crashes.
void wrapTable(vulkan::InstanceTable &table);
void wrapTable(VolkDeviceTable &table);

/// Counts from here on, and injects this if there is one.
void armFault(std::optional<Fault> fault);

/// Whether the fault has happened.
bool hasStruck();

/// Calls of each entry point since `armFault`.
std::map<std::string, uint32_t> countCalls();

/// Objects created and not destroyed, by what created them: "vkCreateBuffer: 2"; empty if there are none.
std::string describeLiveObjects();

/// Forgets these, where a stuck device makes the runtime leave them behind.
void forgetLiveObjects();

/// Never destroys it: it has devices that are stuck, or drivers whose threads go on.
vulkan::VulkanInstance &keepForever(std::unique_ptr<vulkan::VulkanInstance> instance);

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_FAULTS_H

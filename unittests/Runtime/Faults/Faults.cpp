// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Faults.h"
#include "Runtime/Vulkan/Device/Results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

namespace inlay::rt::test {

namespace {

constexpr VkResult H = VK_ERROR_OUT_OF_HOST_MEMORY, D = VK_ERROR_OUT_OF_DEVICE_MEMORY, L = VK_ERROR_DEVICE_LOST;

struct EntryInfo {
  const char *name;
  std::vector<VkResult> failures = {}; ///< Without VK_ERROR_UNKNOWN.
};

/// Entries of Vulkan 1.3.239's registry, without those of extensions that aren't used.
const std::vector<EntryInfo> &entries() {
  static const std::vector<EntryInfo> list = {
      {"vkAllocateCommandBuffers", {H, D}},
      {"vkAllocateDescriptorSets", {H, D, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY}},
      {"vkAllocateMemory", {H, D, VK_ERROR_INVALID_EXTERNAL_HANDLE, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
      {"vkBeginCommandBuffer", {H, D}},
      {"vkBindBufferMemory", {H, D, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
      {"vkCreateBuffer", {H, D, VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS}},
      {"vkCreateBufferView", {H, D}},
      {"vkCreateCommandPool", {H, D}},
      {"vkCreateComputePipelines", {H, D, VK_ERROR_INVALID_SHADER_NV}},
      {"vkCreateDebugUtilsMessengerEXT", {H}},
      {"vkCreateDescriptorPool", {H, D, VK_ERROR_FRAGMENTATION}},
      {"vkCreateDescriptorSetLayout", {H, D}},
      {"vkCreateDevice",
       {H, D, L, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_EXTENSION_NOT_PRESENT, VK_ERROR_FEATURE_NOT_PRESENT,
        VK_ERROR_TOO_MANY_OBJECTS}},
      {"vkCreateInstance",
       {H, D, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_LAYER_NOT_PRESENT, VK_ERROR_EXTENSION_NOT_PRESENT,
        VK_ERROR_INCOMPATIBLE_DRIVER}},
      {"vkCreatePipelineCache", {H, D}},
      {"vkCreatePipelineLayout", {H, D}},
      {"vkCreateQueryPool", {H, D}},
      {"vkCreateSemaphore", {H, D}},
      {"vkCreateShaderModule", {H, D, VK_ERROR_INVALID_SHADER_NV}},
      {"vkDeviceWaitIdle", {H, D, L}},
      {"vkEndCommandBuffer", {H, D}},
      {"vkEnumerateDeviceExtensionProperties", {H, D, VK_ERROR_LAYER_NOT_PRESENT, VK_INCOMPLETE}},
      {"vkEnumerateInstanceLayerProperties", {H, D, VK_INCOMPLETE}},
      {"vkEnumeratePhysicalDevices", {H, D, VK_ERROR_INITIALIZATION_FAILED, VK_INCOMPLETE}},
      {"vkGetCalibratedTimestampsEXT", {H, D}},
      {"vkGetMemoryHostPointerPropertiesEXT", {H, VK_ERROR_INVALID_EXTERNAL_HANDLE}},
      {"vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", {H, D, VK_INCOMPLETE}},
      {"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", {H, D, VK_INCOMPLETE}},
      {"vkGetPipelineCacheData", {H, D, VK_INCOMPLETE}},
      {"vkGetQueryPoolResults", {H, D, L, VK_NOT_READY}},
      {"vkGetSemaphoreCounterValue", {H, D, L}},
      {"vkMapMemory", {H, D, VK_ERROR_MEMORY_MAP_FAILED}},
      {"vkQueueSubmit2", {H, D, L, VK_SUCCESS}},
      {"vkWaitSemaphores", {H, D, L, VK_TIMEOUT}},
      {"vkCmdBindDescriptorSets"},
      {"vkCmdBindPipeline"},
      {"vkCmdCopyBuffer"},
      {"vkCmdDispatch"},
      {"vkCmdPipelineBarrier2"},
      {"vkCmdPushConstants"},
      {"vkCmdResetQueryPool"},
      {"vkCmdWriteTimestamp2"},
      {"vkDestroyBuffer"},
      {"vkDestroyBufferView"},
      {"vkDestroyCommandPool"},
      {"vkDestroyDebugUtilsMessengerEXT"},
      {"vkDestroyDescriptorPool"},
      {"vkDestroyDescriptorSetLayout"},
      {"vkDestroyDevice"},
      {"vkDestroyInstance"},
      {"vkDestroyPipeline"},
      {"vkDestroyPipelineCache"},
      {"vkDestroyPipelineLayout"},
      {"vkDestroyQueryPool"},
      {"vkDestroySemaphore"},
      {"vkDestroyShaderModule"},
      {"vkFreeMemory"},
      {"vkGetBufferMemoryRequirements"},
      {"vkGetDeviceQueue"},
      {"vkGetPhysicalDeviceFeatures2"},
      {"vkGetPhysicalDeviceMemoryProperties"},
      {"vkGetPhysicalDeviceProperties"},
      {"vkGetPhysicalDeviceProperties2"},
      {"vkGetPhysicalDeviceQueueFamilyProperties"},
      {"vkUpdateDescriptorSets"},
  };
  return list;
}

/// The state that all wrapped calls share; guarded by `mutex`.
struct State {
  std::mutex mutex;
  /// The real functions by `dispatchKey`. Devices of several instances may exist, which call different layers.
  std::map<const void *, vulkan::InstanceTable> instances;
  std::map<const void *, vulkan::DeviceFunctions> devices;
  std::vector<Fault> faults; ///< Those that haven't struck.
  size_t struck = 0;
  std::map<std::string, uint32_t> calls;
  std::set<VkQueue> stuck;
  std::map<std::string, std::set<uint64_t>> live; ///< Handles by the function that created them.
};

State &state() {
  static State &state = *new State; // never destroyed: devices are drained at exit
  return state;
}

/// Counts a call. Returns the result to inject instead of the driver's, if any.
std::optional<VkResult> enter(const char *name) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  uint32_t call = s.calls[name]++;
  auto fault = std::find_if(s.faults.begin(), s.faults.end(),
                            [&](const Fault &fault) { return fault.entry == name && fault.call == call; });
  if (fault == s.faults.end())
    return std::nullopt;
  VkResult result = fault->result;
  s.faults.erase(fault);
  ++s.struck;
  return result;
}

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// Returns "vkCreateBuffer" for "vkDestroyBuffer"; empty for a function that destroys nothing.
std::string creatorOf(const std::string &name) {
  if (name == "vkFreeMemory")
    return "vkAllocateMemory";
  if (name == "vkDestroyPipeline")
    return "vkCreateComputePipelines";
  return startsWith(name, "vkDestroy") ? "vkCreate" + name.substr(9) : "";
}

template <typename T>
uint64_t number(T value) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<uint64_t>(value);
  else
    return 0;
}

/// Records a created handle. Creators return one handle through their last argument.
template <typename... Args>
void noteCreated(const char *name, Args... args) {
  auto last = std::get<sizeof...(Args) - 1>(std::make_tuple(args...));
  if constexpr (std::is_pointer_v<decltype(last)>) {
    using Handle = std::remove_pointer_t<decltype(last)>;
    if constexpr (std::is_pointer_v<Handle> && !std::is_const_v<Handle>) {
      std::lock_guard<std::mutex> lock(state().mutex);
      state().live[name].insert(number(*last));
    }
  }
}

/// Records a destroyed handle. Destroyers take it before the allocator, which is the last argument.
template <typename... Args>
void noteDestroyed(const char *name, Args... args) {
  std::string creator = creatorOf(name);
  if constexpr (sizeof...(Args) >= 2) {
    if (creator.empty())
      return;
    uint64_t handle = number(std::get<sizeof...(Args) - 2>(std::make_tuple(args...)));
    std::lock_guard<std::mutex> lock(state().mutex);
    if (state().live[creator].erase(handle) == 0)
      ADD_FAILURE() << name << " of an object that isn't there";
  }
}

/// Returns true if a submission is dropped. A hanging queue drops all later submissions too.
bool isSwallowed(const char *name, std::optional<VkResult> injected, VkQueue queue) {
  if (std::string(name) != "vkQueueSubmit2")
    return false;
  std::lock_guard<std::mutex> lock(state().mutex);
  if (injected == VK_SUCCESS)
    state().stuck.insert(queue);
  return state().stuck.count(queue) != 0;
}

/// Returns true if the driver must do the work although a failure is reported.
bool isForwarded(const char *name, VkResult injected) {
  bool isDone = injected == VK_INCOMPLETE || injected == VK_NOT_READY;
  return isDone || std::string(name) == "vkWaitSemaphores"; // otherwise objects would be destroyed while in use
}

/// Returns what all dispatchable handles of an instance, or of a device, have in common: their first word, through
/// which the Vulkan loader finds the functions of layers and drivers. Returns null for a null handle and other types.
template <typename T>
const void *dispatchKey(T handle) {
  constexpr bool isDispatchable = std::is_same_v<T, VkInstance> || std::is_same_v<T, VkPhysicalDevice> ||
                                  std::is_same_v<T, VkDevice> || std::is_same_v<T, VkQueue> ||
                                  std::is_same_v<T, VkCommandBuffer>;
  if constexpr (isDispatchable)
    return handle ? *reinterpret_cast<const void *const *>(handle) : nullptr;
  else
    return nullptr;
}

template <typename Table>
std::map<const void *, Table> &realTables() {
  if constexpr (std::is_same_v<Table, vulkan::DeviceFunctions>)
    return state().devices;
  else
    return state().instances;
}

template <auto Member>
struct Wrapped;

template <typename Table, typename Result, typename... Args, Result (*Table::*Member)(Args...)>
struct Wrapped<Member> {
  static inline const char *name = nullptr;

  static Result call(Args... args) {
    std::optional<VkResult> injected = enter(name);
    auto first = std::get<0>(std::make_tuple(args...));
    if constexpr (std::is_same_v<Result, VkResult>) {
      if constexpr (std::is_same_v<decltype(first), VkQueue>)
        if (isSwallowed(name, injected, first))
          return VK_SUCCESS;
      if (injected && !isForwarded(name, *injected))
        return *injected;
      VkResult result = realFor(first)(args...);
      if (injected)
        return *injected;
      if (result == VK_SUCCESS && (startsWith(name, "vkCreate") || startsWith(name, "vkAllocateMemory")))
        noteCreated(name, args...);
      return result;
    } else {
      noteDestroyed(name, args...);
      realFor(first)(args...);
    }
  }

  /// Returns the function that calls with this first argument must reach.
  template <typename First>
  static Result (*realFor(First first))(Args...) {
    std::lock_guard<std::mutex> lock(state().mutex);
    return realTables<Table>()[dispatchKey(first)].*Member;
  }

  static void put(const char *entry, Table &table) {
    static std::once_flag once;
    std::call_once(once, [&] { name = entry; });
    if (table.*Member)
      table.*Member = call;
  }
};

template <typename Table>
void keepReal(const void *key, const Table &table) {
  std::lock_guard<std::mutex> lock(state().mutex);
  realTables<Table>()[key] = table;
}

} // namespace

void wrapFunctions(vulkan::VulkanInstance &instance) {
  keepReal(dispatchKey(instance.handle()), instance.vk);
#define INLAY_WRAP(entry) Wrapped<&vulkan::InstanceTable::entry>::put(#entry, instance.vk);
  INLAY_LOADER_FUNCTIONS(INLAY_WRAP)
  INLAY_INSTANCE_FUNCTIONS(INLAY_WRAP)
#undef INLAY_WRAP
}

void wrapFunctions(vulkan::DeviceTable &device) {
  keepReal(dispatchKey(device.device), device.vk);
#define INLAY_WRAP(entry) Wrapped<&vulkan::DeviceFunctions::entry>::put(#entry, device.vk);
  INLAY_DEVICE_FUNCTIONS(INLAY_WRAP)
#undef INLAY_WRAP
}

std::string toString(const Fault &fault) {
  if (fault.hangs())
    return fmt::format("{} call {} never ends", fault.entry, fault.call);
  return fmt::format("{} call {} returns {}", fault.entry, fault.call, vulkan::resultName(fault.result));
}

std::vector<VkResult> failuresOf(const std::string &entry) {
  for (const EntryInfo &info : entries()) {
    if (info.name != entry)
      continue;
    std::vector<VkResult> failures = info.failures;
    if (!failures.empty())
      failures.push_back(VK_ERROR_UNKNOWN);
    return failures;
  }
  ADD_FAILURE() << entry << " isn't in the list of entry points";
  return {};
}

void armFaults(std::vector<Fault> faults) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.faults = std::move(faults);
  s.struck = 0;
  s.calls.clear();
}

size_t countStruck() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().struck;
}

std::map<std::string, uint32_t> countCalls() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().calls;
}

std::string describeLiveObjects() {
  std::lock_guard<std::mutex> lock(state().mutex);
  std::string text;
  for (const auto &[creator, handles] : state().live)
    if (!handles.empty() && creator != "vkCreateInstance" && creator != "vkCreateDebugUtilsMessengerEXT")
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", creator, handles.size());
  return text;
}

void forgetLiveObjects() {
  std::lock_guard<std::mutex> lock(state().mutex);
  for (auto &[creator, handles] : state().live)
    if (creator != "vkCreateInstance" && creator != "vkCreateDebugUtilsMessengerEXT")
      handles.clear();
}

vulkan::VulkanInstance &keepForever(std::unique_ptr<vulkan::VulkanInstance> instance) {
  static auto *kept =
      new std::vector<std::unique_ptr<vulkan::VulkanInstance>>; // reachable at exit, so not reported as a leak
  kept->push_back(std::move(instance));
  return *kept->back();
}

} // namespace inlay::rt::test

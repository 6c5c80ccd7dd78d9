// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates the instance, with validation on request, and lists physical devices. Drivers.cpp opens the Vulkan loader.

#include "VulkanInstance.h"
#include "Results.h"
#include "inlay/Runtime/Vulkan/DeviceSelection.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace inlay::rt::vulkan {

static constexpr char loaderLibrary[] = "libvulkan.so.1";
static constexpr char validationLayer[] = "VK_LAYER_KHRONOS_validation";

void ValidationLog::add(std::string message) {
  std::fprintf(stderr, "inlay: vulkan validation: %s\n", message.c_str());
  std::lock_guard<std::mutex> lock(mutex_);
  messages_.push_back(std::move(message));
}

Status ValidationLog::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (messages_.empty())
    return Status::ok();
  std::string text =
      fmt::format("the validation layer reported {} message{}", messages_.size(), messages_.size() == 1 ? "" : "s");
  for (const std::string &message : messages_)
    text += "\n  " + message;
  messages_.clear();
  return {StatusCode::Internal, std::move(text)};
}

static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                                const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
  static_cast<ValidationLog *>(user)->add(data->pMessage ? data->pMessage : "(no text)");
  return VK_FALSE;
}

bool wantsValidation() {
  const char *value = std::getenv("INLAY_VULKAN_VALIDATION");
  return value && *value && std::strcmp(value, "0") != 0;
}

Status VulkanInstance::findLayer() const {
  uint32_t count = 0;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkEnumerateInstanceLayerProperties", vk.vkEnumerateInstanceLayerProperties(&count, nullptr)));
  std::vector<VkLayerProperties> layers(count);
  INLAY_RETURN_IF_ERROR(
      checkResult("vkEnumerateInstanceLayerProperties", vk.vkEnumerateInstanceLayerProperties(&count, layers.data())));
  for (const VkLayerProperties &layer : layers)
    if (std::strcmp(layer.layerName, validationLayer) == 0)
      return Status::ok();
  return {StatusCode::NotFound, fmt::format("INLAY_VULKAN_VALIDATION is set, but the layer {} was not found (Debian: "
                                            "vulkan-validationlayers)",
                                            validationLayer)};
}

Status VulkanInstance::listen() {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = onMessage;
  info.pUserData = &log_;
  return checkResult("vkCreateDebugUtilsMessengerEXT",
                     vk.vkCreateDebugUtilsMessengerEXT(handle_, &info, nullptr, &messenger_));
}

Status VulkanInstance::create(const WrapInstance &wrap) {
  StatusOr<PFN_vkGetInstanceProcAddr> loader = openLoader(loaderLibrary);
  if (!loader.isOk())
    return loader.status();
  volkInitializeCustom(*loader);
#define INLAY_LOAD(name) vk.name = reinterpret_cast<PFN_##name>((*loader)(handle_, #name));
  INLAY_LOADER_FUNCTIONS(INLAY_LOAD)
  if (wrap)
    wrap(*this);
  bool validate = wantsValidation();
  if (validate)
    INLAY_RETURN_IF_ERROR(findLayer());

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "inlay";
  application.apiVersion = VK_API_VERSION_1_3;
  const char *layers[] = {validationLayer};
  const char *extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = validate ? &features : nullptr;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = validate ? 1 : 0;
  info.ppEnabledLayerNames = layers;
  info.enabledExtensionCount = validate ? 2 : 0;
  info.ppEnabledExtensionNames = extensions;
  Status status = checkResult("vkCreateInstance", vk.vkCreateInstance(&info, nullptr, &handle_));
  if (!status.isOk())
    return {status.code(),
            fmt::format("{}: {} found no working driver; {}", status.message(), loaderLibrary, explainDrivers())};
  volkLoadInstanceOnly(handle_);
  INLAY_INSTANCE_FUNCTIONS(INLAY_LOAD)
#undef INLAY_LOAD
  if (wrap)
    wrap(*this);
  return validate ? listen() : Status::ok();
}

StatusOr<std::unique_ptr<VulkanInstance>> VulkanInstance::make(const WrapInstance &wrap) {
  auto made = std::make_unique<VulkanInstance>();
  INLAY_RETURN_IF_ERROR(made->create(wrap));
  return made;
}

VulkanInstance::~VulkanInstance() {
  if (messenger_ != VK_NULL_HANDLE)
    vk.vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  if (handle_ != VK_NULL_HANDLE)
    vk.vkDestroyInstance(handle_, nullptr);
}

namespace {
/// Lets one thread at a time create the instance of the process. In contrast to a mutex, a child of fork can see that a
/// thread of its parent has the lock, and thus locks of the Vulkan loader too.
class CreationLock {
public:
  CreationLock() {
    for (pid_t owner = 0; !owner_.compare_exchange_strong(owner, getpid()); owner = 0) {
      isInterrupted_ = owner != getpid();
      if (isInterrupted_)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~CreationLock() {
    if (!isInterrupted_)
      owner_ = 0;
  }
  CreationLock(const CreationLock &) = delete;
  CreationLock &operator=(const CreationLock &) = delete;

  Status status() const {
    if (isInterrupted_)
      return {StatusCode::Unavailable,
              "this process can't use Vulkan, because it was forked while another thread of its "
              "parent opened Vulkan: fork before that or after it"};
    return Status::ok();
  }

private:
  static inline std::atomic<pid_t> owner_{0};
  bool isInterrupted_ = false;
};
} // namespace

StatusOr<VulkanInstance *> VulkanInstance::get() {
  static std::atomic<VulkanInstance *> instance{nullptr}; // never destroyed: at exit the driver may have been unloaded
  if (instance)
    return instance.load();
  CreationLock lock;
  INLAY_RETURN_IF_ERROR(lock.status());
  if (instance)
    return instance.load();
  auto made = std::make_unique<VulkanInstance>();
  INLAY_RETURN_IF_ERROR(made->create());
  instance = made.release();
  return instance.load();
}

StatusOr<std::vector<VkPhysicalDevice>> VulkanInstance::physicalDevices() const {
  uint32_t count = 0;
  Status status = checkResult("vkEnumeratePhysicalDevices", vk.vkEnumeratePhysicalDevices(handle_, &count, nullptr));
  std::vector<VkPhysicalDevice> devices(count);
  if (status.isOk() && count > 0)
    status = checkResult("vkEnumeratePhysicalDevices", vk.vkEnumeratePhysicalDevices(handle_, &count, devices.data()));
  if (!status.isOk() || count == 0)
    return Status(StatusCode::Unavailable,
                  fmt::format("{}: {}", status.isOk() ? "no Vulkan device" : status.message(), explainDrivers()));
  devices.resize(count);
  return devices;
}

} // namespace inlay::rt::vulkan

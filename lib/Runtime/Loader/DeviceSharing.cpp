// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens each device once per process and replaces a lost one. Runtime/Vulkan/Device/DeviceSelection.cpp chooses the
// device.

#include "DeviceSharing.h"
#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/LazyStatic.h"
#include "inlay/Runtime/Vulkan/DeviceSelection.h"
#include "inlay/Runtime/Vulkan/Limits.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <cstdlib>
#include <map>

namespace inlay::rt {

void markUnsuitable(std::vector<vulkan::DeviceCaps> &devices, const Plan &plan) {
  for (vulkan::DeviceCaps &caps : devices)
    for (const Engine &engine : plan.engines)
      for (const Kernel &kernel : engine.kernels) {
        if (!caps.unusable.empty())
          break;
        if (Status status = vulkan::checkKernelLimits(caps, kernel); !status.isOk())
          caps.unusable = status.message();
      }
}

namespace {
/// Open devices by their index in the Vulkan loader's order. A device is closed with the last program that uses it.
class DeviceRegistry {
public:
  StatusOr<std::shared_ptr<Device>> share(size_t number) {
    std::shared_ptr<Device> device = open_[number].lock();
    if (device && device->state().isOk()) // a lost device may still be held by programs without recovery
      return device;
    return openAt(number);
  }

  StatusOr<std::shared_ptr<Device>> reopen(const std::shared_ptr<Device> &lost) {
    auto known = numbers_.find(lost);
    if (known == numbers_.end())
      return Status(StatusCode::InvalidArgument, "the lost device isn't shared by any program");
    std::shared_ptr<Device> device = open_[known->second].lock();
    if (device && device != lost)
      return device;
    return openAt(known->second);
  }

private:
  StatusOr<std::shared_ptr<Device>> openAt(size_t number) {
    for (auto entry = numbers_.begin(); entry != numbers_.end();)
      entry = entry->first.expired() ? numbers_.erase(entry) : std::next(entry);
    StatusOr<std::shared_ptr<Device>> device = vulkan::openDevice(std::to_string(number));
    if (device.isOk()) {
      open_[number] = *device;
      numbers_[*device] = number;
    }
    return device;
  }

  std::map<size_t, std::weak_ptr<Device>> open_;
  std::map<std::weak_ptr<Device>, size_t, std::owner_less<>> numbers_;
};
} // namespace

/// The devices that this process shares.
static SharedCache<DeviceRegistry> &sharedDevices() {
  static LazyStatic<SharedCache<DeviceRegistry>> devices;
  return devices.get();
}

StatusOr<std::shared_ptr<Device>> shareDevice(const std::string &selector, const Plan &plan) {
  StatusOr<std::vector<vulkan::DeviceCaps>> devices = vulkan::listDevices();
  if (!devices.isOk())
    return devices.status();
  markUnsuitable(*devices, plan);
  const char *environment = std::getenv("INLAY_DEVICE");
  StatusOr<size_t> number = vulkan::chooseDevice(*devices, selector, environment ? environment : "");
  if (!number.isOk())
    return number.status();
  return sharedDevices().use([&](DeviceRegistry &devices) { return devices.share(*number); });
}

StatusOr<std::shared_ptr<Device>> reopenDevice(const std::shared_ptr<Device> &lost) {
  return sharedDevices().use([&](DeviceRegistry &devices) { return devices.reopen(lost); });
}

} // namespace inlay::rt

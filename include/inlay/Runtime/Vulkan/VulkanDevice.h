// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vulkan 1.3 devices that implement the executor's Device interface.

#ifndef INLAY_RUNTIME_VULKAN_VULKANDEVICE_H
#define INLAY_RUNTIME_VULKAN_VULKANDEVICE_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// Returns all devices that the Vulkan loader reports, usable or not (`caps.unusable` gives the reason).
StatusOr<std::vector<DeviceCaps>> listDevices();

/// Opens the device that `selector` names: an index, a part of the name (case-insensitive), or "" for INLAY_DEVICE,
/// else the best one. INLAY_VULKAN_VALIDATION=1 turns the validation layer on. Each of its messages is printed to
/// stderr and makes the next call on the device fail.
StatusOr<std::shared_ptr<Device>> openDevice(const std::string &selector);

/// Returns the capabilities of the device that `openDevice(selector)` would open, without opening it.
StatusOr<DeviceCaps> selectDevice(const std::string &selector);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_VULKANDEVICE_H

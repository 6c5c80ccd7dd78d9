// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vulkan 1.3 devices behind the executor's Device interface.

#ifndef INLAY_RUNTIME_VULKAN_VULKANDEVICE_H
#define INLAY_RUNTIME_VULKAN_VULKANDEVICE_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// Every device that the loader reports, usable or not (`caps.unusable` says why not).
StatusOr<std::vector<DeviceCaps>> listDevices();

/// Opens the device that `selector` names: an index, a part of the name (case-insensitive), or "" for the environment's
/// INLAY_DEVICE, else the best one. INLAY_VULKAN_VALIDATION=1 turns the validation layer on; each of its messages is
/// printed to stderr and makes the next call on the device fail.
StatusOr<std::shared_ptr<Device>> openDevice(const std::string &selector);

/// The capabilities of the device that `openDevice(selector)` would open, without opening it.
StatusOr<DeviceCaps> selectDevice(const std::string &selector);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_VULKANDEVICE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which device to use: a pure function of what the loader reported.

#ifndef INLAY_RUNTIME_VULKAN_DEVICESELECTION_H
#define INLAY_RUNTIME_VULKAN_DEVICESELECTION_H

#include "inlay/Runtime/Core/Status.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <vector>

namespace inlay::rt::vulkan {

/// True if `selector`, or if it is empty INLAY_DEVICE, is "none": the host is to run all, whatever devices there are.
bool wantsNoDevice(const std::string &selector);

/// Returns true if the environment variable INLAY_VULKAN_VALIDATION asks for the validation layer.
bool wantsValidation();

/// The index of the device that `selector` names: an index, a part of the name (case-insensitive), or "" for what
/// `environment` (the value of INLAY_DEVICE) names the same way, else the best one. Best is the first among discrete,
/// then integrated, then software devices. Fails, listing the devices, when nothing usable matches.
StatusOr<size_t> chooseDevice(const std::vector<DeviceCaps> &devices, const std::string &selector,
                              const std::string &environment);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_DEVICESELECTION_H

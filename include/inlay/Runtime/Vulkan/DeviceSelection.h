// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device selection: pure functions of the devices that the Vulkan loader reported.

#ifndef INLAY_RUNTIME_VULKAN_DEVICESELECTION_H
#define INLAY_RUNTIME_VULKAN_DEVICESELECTION_H

#include "inlay/Runtime/Core/Status.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <vector>

namespace inlay::rt::vulkan {

/// Returns true if `selector`, or INLAY_DEVICE if it is empty, is "none": the host then runs everything.
bool wantsNoDevice(const std::string &selector);

/// Returns true if the environment variable INLAY_VULKAN_VALIDATION asks for the validation layer.
bool wantsValidation();

/// Returns the index of the device that `selector` names: an index, or a part of the name (case-insensitive). If it is
/// empty, `environment` (the value of INLAY_DEVICE) is used the same way; if that is empty too, the best device is
/// chosen: the first discrete one, else the first integrated one, else the first software one. If no usable device
/// matches, the error lists the devices.
StatusOr<size_t> chooseDevice(const std::vector<DeviceCaps> &devices, const std::string &selector,
                              const std::string &environment);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_DEVICESELECTION_H

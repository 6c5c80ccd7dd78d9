// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeviceSharing: devices that the programs of a process share.

#ifndef INLAY_LIB_RUNTIME_LOADER_DEVICESHARING_H
#define INLAY_LIB_RUNTIME_LOADER_DEVICESHARING_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// Marks the devices whose limits or features a kernel of the plan exceeds as unusable, with the reason.
void markUnsuitable(std::vector<vulkan::DeviceCaps> &devices, const Plan &plan);

/// Returns the device that `selector` names among those that can run the plan. A device that other programs use is
/// shared; otherwise it is opened. `selector` is as for `vulkan::openDevice`.
StatusOr<std::shared_ptr<Device>> shareDevice(const std::string &selector, const Plan &plan);

/// Opens a lost device again. All programs that share the same lost device get the same new one.
StatusOr<std::shared_ptr<Device>> reopenDevice(const std::shared_ptr<Device> &lost);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_LOADER_DEVICESHARING_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices that the programs of a process share.

#ifndef INLAY_RUNTIME_LOADER_DEVICESHARING_H
#define INLAY_RUNTIME_LOADER_DEVICESHARING_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// Marks the devices whose limits or features a kernel of the plan exceeds as unusable, and says by what.
void markUnsuitable(std::vector<vulkan::DeviceCaps> &devices, const Plan &plan);

/// The device that `selector` names among those that can run the plan: the one that programs use already, or else
/// opened. Devices are named as for `vulkan::openDevice`.
StatusOr<std::shared_ptr<Device>> shareDevice(const std::string &selector, const Plan &plan);

/// Opens a device again, for programs that find the one they share lost. Whoever comes with the same lost device gets
/// the same new one.
StatusOr<std::shared_ptr<Device>> reopenDevice(const std::shared_ptr<Device> &lost);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_DEVICESHARING_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two halves of openDevice. Between them, tests can change the function table to inject faults.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_OPENCONTEXT_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_OPENCONTEXT_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt::vulkan {

StatusOr<std::shared_ptr<Context>> openContext(const std::string &selector);
StatusOr<std::shared_ptr<Context>> openContext(VulkanInstance &instance, const std::string &selector,
                                               const WrapDevice &wrap = {});
std::shared_ptr<Device> makeDevice(std::shared_ptr<Context> context);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_OPENCONTEXT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of VkResult to Status.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H

#include "inlay/Runtime/Core/Status.h"

#include <volk.h>

namespace inlay::rt::vulkan {

/// Returns the name of a result, "VK_ERROR_DEVICE_LOST", or "VkResult <number>" if it is unknown.
std::string resultName(VkResult result);

/// Returns ok for VK_SUCCESS, else a status that names the call and the result.
Status checkResult(const char *call, VkResult result);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H

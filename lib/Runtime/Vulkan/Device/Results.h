// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From VkResult to Status.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H

#include "inlay/Runtime/Core/Status.h"

#include <volk.h>

namespace inlay::rt::vulkan {

/// "VK_ERROR_DEVICE_LOST"; a number in words for one that is unknown.
std::string resultName(VkResult result);

/// Ok for VK_SUCCESS, else a status that names the call and the result.
Status checkResult(const char *call, VkResult result);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_RESULTS_H

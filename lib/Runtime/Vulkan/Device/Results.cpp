// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps codes of Vulkan to names and status codes.

#include "Results.h"

#include <fmt/format.h>

namespace inlay::rt::vulkan {

std::string resultName(VkResult result) {
  switch (result) {
#define INLAY_RESULT(value)                                                                                            \
  case value:                                                                                                          \
    return #value;
    INLAY_RESULT(VK_SUCCESS)
    INLAY_RESULT(VK_NOT_READY)
    INLAY_RESULT(VK_TIMEOUT)
    INLAY_RESULT(VK_INCOMPLETE)
    INLAY_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    INLAY_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    INLAY_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    INLAY_RESULT(VK_ERROR_DEVICE_LOST)
    INLAY_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    INLAY_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    INLAY_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    INLAY_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    INLAY_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    INLAY_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    INLAY_RESULT(VK_ERROR_FORMAT_NOT_SUPPORTED)
    INLAY_RESULT(VK_ERROR_FRAGMENTED_POOL)
    INLAY_RESULT(VK_ERROR_UNKNOWN)
    INLAY_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
    INLAY_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    INLAY_RESULT(VK_ERROR_FRAGMENTATION)
    INLAY_RESULT(VK_PIPELINE_COMPILE_REQUIRED)
    INLAY_RESULT(VK_ERROR_INVALID_SHADER_NV)
    INLAY_RESULT(VK_ERROR_VALIDATION_FAILED_EXT)
#undef INLAY_RESULT
  default:
    return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

static StatusCode codeOf(VkResult result) {
  switch (result) {
  case VK_ERROR_OUT_OF_HOST_MEMORY:
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_TOO_MANY_OBJECTS:
  case VK_ERROR_FRAGMENTED_POOL:
  case VK_ERROR_OUT_OF_POOL_MEMORY:
  case VK_ERROR_FRAGMENTATION:
  case VK_ERROR_MEMORY_MAP_FAILED:
    return StatusCode::ResourceExhausted;
  case VK_ERROR_DEVICE_LOST:
    return StatusCode::DeviceLost;
  case VK_ERROR_INITIALIZATION_FAILED:
  case VK_ERROR_LAYER_NOT_PRESENT:
  case VK_ERROR_EXTENSION_NOT_PRESENT:
  case VK_ERROR_FEATURE_NOT_PRESENT:
  case VK_ERROR_INCOMPATIBLE_DRIVER:
    return StatusCode::Unavailable;
  default:
    return StatusCode::Internal;
  }
}

Status checkResult(const char *call, VkResult result) {
  if (result == VK_SUCCESS)
    return Status::ok();
  return {codeOf(result), fmt::format("{} failed with {}", call, resultName(result))};
}

} // namespace inlay::rt::vulkan

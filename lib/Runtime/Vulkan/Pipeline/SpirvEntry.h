// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The properties of a SPIR-V module that the runtime needs before a driver gets it.

#ifndef INLAY_LIB_RUNTIME_VULKAN_PIPELINE_SPIRVENTRY_H
#define INLAY_LIB_RUNTIME_VULKAN_PIPELINE_SPIRVENTRY_H

#include "inlay/Runtime/Core/Status.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace inlay::rt::vulkan {

struct SpirvEntry {
  std::string name;
  std::optional<std::array<uint32_t, 3>> localSize; ///< Not set if specialization constants define it.
};

/// Finds the compute entry point called `name`, or the only one there is. Walks the instructions with bounds checks,
/// but does not validate them.
StatusOr<SpirvEntry> findEntry(const std::vector<uint32_t> &words, const std::string &name);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_SPIRVENTRY_H

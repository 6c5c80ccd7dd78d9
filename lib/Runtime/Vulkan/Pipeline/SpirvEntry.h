// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime must know of a SPIR-V module before a driver sees it.

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
  std::optional<std::array<uint32_t, 3>> localSize; ///< none if it is a specialization matter
};

/// The compute entry point called `name`, or the only one there is. Walks the instruction stream with bounds checked;
/// it is no validator.
StatusOr<SpirvEntry> findEntry(const std::vector<uint32_t> &words, const std::string &name);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_SPIRVENTRY_H

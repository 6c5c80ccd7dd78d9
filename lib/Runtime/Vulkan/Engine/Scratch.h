// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of an engine's scratch buffers in one allocation.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

namespace inlay::rt::vulkan {

struct ScratchLayout {
  std::vector<size_t> sizes;     ///< Per scratch buffer, in bytes.
  std::vector<uint64_t> offsets; ///< Per scratch buffer, in bytes.
  uint64_t bytes = 0;            ///< Size of the allocation; 0 if there are no buffers.
};

/// Evaluates the sizes for these inputs. Buffers that are never live at the same time share their bytes.
StatusOr<ScratchLayout> layOutScratch(const Engine &engine, const DeviceCaps &caps, const InputDims &inputs);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an engine's own buffers lie in one allocation.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

namespace inlay::rt::vulkan {

struct ScratchLayout {
  std::vector<size_t> sizes;     ///< per scratch buffer, in bytes
  std::vector<uint64_t> offsets; ///< per scratch buffer
  uint64_t bytes = 0;            ///< of the allocation; 0 if there are no buffers
};

/// Evaluates the sizes for these inputs; buffers that no two dispatches need at once share their bytes.
StatusOr<ScratchLayout> layOutScratch(const Engine &engine, const DeviceCaps &caps, const InputDims &inputs);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_SCRATCH_H

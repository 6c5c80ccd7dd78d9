// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts buffers that a kernel accesses in vectors of four elements.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Converts arguments that `func` accesses in vectors to buffers of vectors, because SPIR-V cannot point to a vector in
/// an array of scalars. All accesses to such a buffer must be aligned vectors of four elements; other accesses are an
/// error.
llvm::LogicalResult makeVectorBuffers(mlir::gpu::GPUFuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

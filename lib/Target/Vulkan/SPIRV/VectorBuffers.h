// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers that a kernel reads and writes as vectors of four.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Makes buffers of vectors of those arguments that `func` accesses by vectors: SPIR-V has no pointer to a vector in an
/// array of scalars. All accesses to such a buffer must be aligned vectors of four; others are an error.
llvm::LogicalResult makeVectorBuffers(mlir::gpu::GPUFuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts buffers that a kernel accesses in vectors of four elements, and those that it reads in words.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Converts arguments that `func` accesses in vectors to buffers of vectors, because SPIR-V cannot point to a vector in
/// an array of scalars. All accesses to such a buffer must be aligned vectors of four elements; other accesses are an
/// error. dividesTerms: true to compute the number of a vector term by term, which compilers of GPU drivers turn into
/// fewer integer operations, and those of software drivers into more.
llvm::LogicalResult makeVectorBuffers(mlir::gpu::GPUFuncOp func, bool dividesTerms);

/// Converts arguments of 8 or 16 bits that `func` reads only as vectors with bitcasts to i32 to buffers of i32, so that
/// the device needs no such types. The vectors must start and end at multiples of 4 bytes.
void makeWordBuffers(mlir::gpu::GPUFuncOp func, bool dividesTerms);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_VECTORBUFFERS_H

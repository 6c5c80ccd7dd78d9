// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts storage buffers that a kernel only reads to texel buffers.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H

#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace inlay {

/// Converts storage buffers of f32 or vector<4xf32> to uniform texel buffers if `module` only loads from them and they
/// have at most `maxElements` elements of that type. Returns the resulting kind of each of the bindings 0 to `bindings`
/// - 1 of set 0.
llvm::SmallVector<plan::BindingKind> makeTexelBuffers(mlir::spirv::ModuleOp module, unsigned bindings,
                                                      int64_t maxElements);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H

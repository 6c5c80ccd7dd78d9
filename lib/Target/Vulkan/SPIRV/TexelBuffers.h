// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage buffers that a kernel only reads, as texel buffers.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H

#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace inlay {

/// Makes uniform texel buffers of the storage buffers of f32 or vector<4xf32> that `module` only loads from and that
/// have at most `maxElements` of these. Returns what each of the bindings 0 to `bindings` - 1 of set 0 is then.
llvm::SmallVector<plan::BindingKind> makeTexelBuffers(mlir::spirv::ModuleOp module, unsigned bindings,
                                                      int64_t maxElements);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_TEXELBUFFERS_H

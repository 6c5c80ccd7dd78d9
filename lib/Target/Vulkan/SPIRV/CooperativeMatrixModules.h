// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What SPIR-V modules with cooperative matrices need besides them.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

#include <string>

namespace inlay {

/// True if `module` multiplies matrices.
bool hasMatrices(mlir::spirv::ModuleOp module);

/// Gives a module that multiplies matrices the Vulkan memory model, which it must have then: what its invocations hand
/// each other in a workgroup's memory is no longer private, and barriers make it visible.
void useVulkanMemoryModel(mlir::spirv::ModuleOp module);

/// The shapes of the products in `module`, as "16x8x16xf16xf32".
llvm::SmallVector<std::string> listMatrixShapes(mlir::spirv::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H

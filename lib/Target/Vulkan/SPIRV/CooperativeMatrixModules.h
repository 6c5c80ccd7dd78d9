// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completes SPIR-V modules that use cooperative matrices.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

#include <string>

namespace inlay {

/// Returns true if `module` multiplies cooperative matrices.
bool hasMatrices(mlir::spirv::ModuleOp module);

/// Switches a module that multiplies cooperative matrices to the Vulkan memory model, which such modules require.
/// Accesses to workgroup memory that invocations share become non-private, and barriers make it visible.
void useVulkanMemoryModel(mlir::spirv::ModuleOp module);

/// Returns the matrix shapes of the products in `module`, for example "16x8x16xf16xf32".
llvm::SmallVector<std::string> listMatrixShapes(mlir::spirv::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_COOPERATIVEMATRIXMODULES_H

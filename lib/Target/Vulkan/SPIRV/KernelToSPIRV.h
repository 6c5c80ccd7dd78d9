// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One GPU kernel to SPIR-V words.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// A kernel as the runtime loads it.
struct SPIRVKernel {
  llvm::SmallVector<uint32_t> words;
  llvm::SmallVector<std::string> requirements; ///< optional device features: "float16", "int64", ...
  llvm::SmallVector<plan::BindingKind> kinds;  ///< of the memref arguments, in their order
};

/// Converts the kernel `func` (flat memref arguments first, then `index` scalars, which become push constants) for
/// `target`. `func` is left alone. The words pass SPIRV-Tools' validator for Vulkan 1.3. Emits diagnostics on failure;
/// what the target can't express starts with a reason code.
mlir::FailureOr<SPIRVKernel> convertKernelToSPIRV(mlir::gpu::GPUFuncOp func, VulkanAttr target,
                                                  llvm::ArrayRef<int64_t> block);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H

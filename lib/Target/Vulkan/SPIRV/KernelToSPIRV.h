// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts one GPU kernel to SPIR-V words.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// A kernel in the form that the runtime loads.
struct SPIRVKernel {
  llvm::SmallVector<uint32_t> words;
  llvm::SmallVector<std::string> requirements; ///< Optional device features: "float16", "int64", ...
  llvm::SmallVector<plan::BindingKind> kinds;  ///< Binding kind of each memref argument.
};

/// Converts the kernel `func` for `target`. Its arguments are flat memrefs followed by `index` scalars, which become
/// push constants. `func` does not change. The words pass SPIRV-Tools' validator for Vulkan 1.3. Emits diagnostics on
/// failure. If the target cannot express the kernel, the message starts with a reason code.
mlir::FailureOr<SPIRVKernel> convertKernelToSPIRV(mlir::gpu::GPUFuncOp func, VulkanAttr target,
                                                  llvm::ArrayRef<int64_t> block);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_KERNELTOSPIRV_H

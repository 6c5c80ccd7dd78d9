// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes conversions to f16 round to the nearest, as on the host. Otherwise drivers choose the rounding, even
// differently from one conversion to the next.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace inlay {

/// Rounds f32 values to numbers of f16 before they are converted, unless they are stored directly in a buffer.
void roundInnerHalves(mlir::Operation *root);

/// Makes the other conversions to f16 round to the nearest. SPIR-V allows the decoration FPRoundingMode only for values
/// that are stored directly in a buffer.
void roundStoredHalves(mlir::spirv::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes conversions to 16-bit floats round to the nearest, as on the host. Otherwise drivers choose the rounding, even
// differently from one conversion to the next.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace inlay {

/// Makes conversions to f16 in `module` round to the nearest, and ties to even. SPIR-V allows the decoration
/// FPRoundingMode only for values that are stored directly in a buffer. Other values are rounded by integer arithmetic.
/// Call it before sums are decorated as exact, because it adds sums.
void roundHalves(mlir::spirv::ModuleOp module);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_ROUNDHALVES_H

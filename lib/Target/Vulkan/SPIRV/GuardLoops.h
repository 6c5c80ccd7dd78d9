// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards loops that may have no iteration.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Wraps each loop in `root` that carries values and may have no iteration in an `scf.if`, which otherwise yields the
/// initial values. Conversion to SPIR-V leaves the results of such a loop undefined.
void guardLoops(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the Convert phase that only the Vulkan target runs.

#ifndef INLAY_TARGET_VULKAN_PASSES_H
#define INLAY_TARGET_VULKAN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace inlay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "inlay/Target/Vulkan/Passes.h.inc"

} // namespace inlay

#endif // INLAY_TARGET_VULKAN_PASSES_H

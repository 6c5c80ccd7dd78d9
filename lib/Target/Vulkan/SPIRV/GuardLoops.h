// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that may have no iteration.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Puts each loop in `root` that carries values and may have no iteration into an `scf.if` that then gives what the
/// loop starts from: conversion to SPIR-V leaves the results of such a loop undefined.
void guardLoops(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_GUARDLOOPS_H

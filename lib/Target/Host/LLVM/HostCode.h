// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles host segments to native code: from linalg on tensors to the LLVM dialect, and from a common module to object
// files.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H
#define INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Bufferizes all functions of `module` and emits vectorized loop nests.
mlir::LogicalResult lowerToLoops(mlir::ModuleOp module);

/// Lowers loop nests to the LLVM dialect. Each function `f` on buffers becomes `f(ptr)`, whose argument is an array
/// with one data pointer per buffer. Two more pointers may follow: to the values of the symbols if the function has
/// any, and to the InlayHostContext if it calls kernels.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// Adds the LLVM functions and globals of `code` to the module of host code that is nested in `module`. Symbols whose
/// name is taken are renamed.
mlir::LogicalResult addHostCode(mlir::ModuleOp module, mlir::ModuleOp code);

/// Compiles the nested module of host code, if there is one, and replaces it by a `plan.object`. If the attribute
/// `plan.host_cpus` names several processors, emits one object for each, the most capable first.
mlir::LogicalResult emitHostObjects(mlir::ModuleOp module);

/// Registers the translations that `emitHostObjects` needs.
void registerHostCodeTranslations(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H

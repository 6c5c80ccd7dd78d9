// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native code of host segments: from linalg on tensors to LLVM, gathered in one module, to object files.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H
#define INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Bufferizes and emits vectorized loop nests for all functions of `module`.
mlir::LogicalResult lowerToLoops(mlir::ModuleOp module);

/// Lowers loop nests to the LLVM dialect. Each function `f` on buffers becomes `f(ptr)`, which takes an array of data
/// pointers, one per buffer.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// Adds the LLVM functions and globals of `code`, renaming those whose name is taken, to the module of host code nested
/// in `module`.
mlir::LogicalResult addHostCode(mlir::ModuleOp module, mlir::ModuleOp code);

/// Compiles the nested module of host code, if there is one, to a `plan.object` that replaces it; to several, the best
/// first, if the module's `plan.host_cpus` names several processors.
mlir::LogicalResult emitHostObjects(mlir::ModuleOp module);

/// Registers the translations that `emitHostObjects` needs.
void registerHostCodeTranslations(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_HOSTCODE_H

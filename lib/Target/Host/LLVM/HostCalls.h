// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the calling convention of host functions in generated code: `InlayHostContext` and `HostEntry`.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H
#define INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace inlay {

/// Replaces the calls of kernels in `func` by calls through the InlayHostContext, which is the last argument of `func`.
void callThroughContext(mlir::LLVM::LLVMFuncOp func);

/// Renames `func` and creates a wrapper with its old name. The arguments of `func` must be numbers followed by bare
/// data pointers. The wrapper takes an array of these pointers, followed by the numbers.
void packArguments(mlir::LLVM::LLVMFuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

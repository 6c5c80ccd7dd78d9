// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the calling convention of host functions in generated code: `InlayHostContext` and `HostEntry`.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H
#define INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace inlay {

/// Replaces the calls of kernels in `func` by calls through the InlayHostContext, which is the last argument of `func`.
void callThroughContext(mlir::LLVM::LLVMFuncOp func);

/// Renames `func`, whose arguments are numbers and then bare data pointers. A wrapper gets its old name. The wrapper
/// takes an array of the pointers and then the numbers.
void packArguments(mlir::LLVM::LLVMFuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

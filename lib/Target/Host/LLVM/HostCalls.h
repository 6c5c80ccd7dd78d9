// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How host functions are called, and how they call back: the code side of `InlayHostContext` and `HostEntry`.

#ifndef INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H
#define INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace inlay {

/// Makes the calls of kernels in `func`, whose last argument is an InlayHostContext, calls through that.
void callThroughContext(mlir::LLVM::LLVMFuncOp func);

/// Renames `func`, on numbers and then bare data pointers, and gives its name to a wrapper that takes the pointers in
/// an array, and after it the numbers.
void packArguments(mlir::LLVM::LLVMFuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LLVM_HOSTCALLS_H

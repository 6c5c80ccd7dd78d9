// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the host's library, on tensors: how the graph becomes them, and how they bufferize.

#ifndef INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H
#define INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// Makes products, convolutions and attention, of f32 and worth a call, calls of the library with what follows them.
void formLibraryCalls(mlir::func::FuncOp func);

/// Registers how calls of the library bufferize.
void registerLibraryCallBufferization(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H

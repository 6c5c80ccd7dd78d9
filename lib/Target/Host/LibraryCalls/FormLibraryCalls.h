// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the host library on tensors: their formation from graph ops, and their bufferization.

#ifndef INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H
#define INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// Converts products, convolutions and attention of f32 to library calls if a call pays. The calls absorb ops that
/// follow.
void formLibraryCalls(mlir::func::FuncOp func);

/// Registers the bufferization of library calls.
void registerLibraryCallBufferization(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LIBRARYCALLS_FORMLIBRARYCALLS_H

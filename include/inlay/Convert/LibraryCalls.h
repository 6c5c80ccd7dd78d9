// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the host's library, on tensors: how the graph becomes them, and how they bufferize.

#ifndef INLAY_CONVERT_LIBRARYCALLS_H
#define INLAY_CONVERT_LIBRARYCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// Attribute, a unit, of the arguments of an outlined segment that are the same at each call: weights.
inline constexpr llvm::StringLiteral kConstantArgumentAttr = "plan.constant";

/// Makes products, convolutions and attention, of f32 and worth a call, calls of the library with what follows them.
void formLibraryCalls(mlir::func::FuncOp func);

/// Registers how calls of the library bufferize.
void registerLibraryCallBufferization(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_CONVERT_LIBRARYCALLS_H

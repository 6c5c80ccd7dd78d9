// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values are where they enter or leave converted code, which knows tensors alone: a scalar is a tensor without
// dims, an index one of 64 bits.

#ifndef INLAY_DIALECT_INLAY_IR_BORDER_H
#define INLAY_DIALECT_INLAY_IR_BORDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace inlay {

/// The tensor type that stands for a ranked tensor or a scalar; null for other types.
mlir::RankedTensorType getBorderType(mlir::Type type);

/// The tensor that stands for `value`, which is a tensor or a scalar.
mlir::Value toBorder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The value of this `type` that `tensor` stands for.
mlir::Value fromBorder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::Type type);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_BORDER_H

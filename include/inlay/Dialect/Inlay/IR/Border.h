// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of values at a segment border. Converted code handles only tensors: a scalar becomes a tensor of rank 0,
// and an index becomes a tensor of rank 0 with 64-bit integers.

#ifndef INLAY_DIALECT_INLAY_IR_BORDER_H
#define INLAY_DIALECT_INLAY_IR_BORDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace inlay {

/// Returns the tensor type that represents a ranked tensor or a scalar at a border, or null for other types.
mlir::RankedTensorType getBorderType(mlir::Type type);

/// Returns the tensor that represents `value`, a tensor or a scalar, at a border.
mlir::Value toBorder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Returns the value of type `type` that `tensor` represents at a border.
mlir::Value fromBorder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::Type type);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_BORDER_H

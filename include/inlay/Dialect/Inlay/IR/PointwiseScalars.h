// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar functions of pointwise ops, as the op records name them. Each emits arith and math ops on scalars and returns
// null, with nothing emitted, where the element type has no such function.

#ifndef INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H
#define INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <type_traits>

namespace inlay::scalar {

/// FloatOp on floats, IntOp on integers; void where the function isn't defined.
template <typename FloatOp, typename IntOp>
mlir::Value floatOr(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args) {
  mlir::Type type = args[0].getType();
  if constexpr (!std::is_void_v<FloatOp>)
    if (mlir::isa<mlir::FloatType>(type))
      return FloatOp::create(builder, loc, mlir::TypeRange{type}, args)->getResult(0);
  if constexpr (!std::is_void_v<IntOp>)
    if (type.isInteger() && !type.isInteger(1))
      return IntOp::create(builder, loc, mlir::TypeRange{type}, args)->getResult(0);
  return nullptr;
}

mlir::Value gelu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value lgamma(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value neg(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value reciprocal(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value relu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value sigmoid(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value silu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);

} // namespace inlay::scalar

#endif // INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H

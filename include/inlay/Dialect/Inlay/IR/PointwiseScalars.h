// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar functions of the pointwise ops, under the names that the op records use. Each emits arith and math ops on
// scalars of a kind that the op's record lists. It returns null and emits nothing if the function does not exist for
// the given type.

#ifndef INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H
#define INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <type_traits>

namespace inlay::scalar {

/// Kinds of elements, as flags.
enum Kind : unsigned { Floats = 1, Integers = 2, Booleans = 4 };

/// Returns the kind of a scalar type, or 0 if it has none.
inline unsigned kindOf(mlir::Type type) {
  if (mlir::isa<mlir::FloatType>(type))
    return Floats;
  if (!type.isInteger())
    return 0;
  return type.isInteger(1) ? Booleans : Integers;
}

/// Returns true if the type is of one of `kinds`.
inline bool isOneOf(mlir::Type type, unsigned kinds) { return (kindOf(type) & kinds) != 0; }

/// Emits FloatOp for floats, IntOp for integers and BoolOp for booleans. `void` marks kinds without such a function.
template <typename FloatOp, typename IntOp = void, typename BoolOp = void>
mlir::Value typed(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args) {
  mlir::Type type = args[0].getType();
  [[maybe_unused]] unsigned kind = kindOf(type);
  if constexpr (!std::is_void_v<FloatOp>)
    if (kind == Floats)
      return FloatOp::create(builder, loc, mlir::TypeRange{type}, args)->getResult(0);
  if constexpr (!std::is_void_v<IntOp>)
    if (kind == Integers)
      return IntOp::create(builder, loc, mlir::TypeRange{type}, args)->getResult(0);
  if constexpr (!std::is_void_v<BoolOp>)
    if (kind == Booleans)
      return BoolOp::create(builder, loc, mlir::TypeRange{type}, args)->getResult(0);
  return nullptr;
}

/// Emits FloatOp for floats. Returns integers unchanged.
template <typename FloatOp>
mlir::Value rounding(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args) {
  return isOneOf(args[0].getType(), Integers) ? args[0] : typed<FloatOp>(builder, loc, args);
}

/// Emits a test for values other than zero. NaN counts as nonzero.
mlir::Value isNonzero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Emits a comparison of floats or of signed integers. For booleans, false is less than true.
mlir::Value compareBy(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args,
                      mlir::arith::CmpFPredicate floats, mlir::arith::CmpIPredicate integers);

template <mlir::arith::CmpFPredicate floats, mlir::arith::CmpIPredicate integers>
mlir::Value compare(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args) {
  return compareBy(builder, loc, args, floats, integers);
}

/// Applies `Op` to the results of testing both arguments for nonzero.
template <typename Op>
mlir::Value logical(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args) {
  mlir::Value lhs = isNonzero(builder, loc, args[0]), rhs = isNonzero(builder, loc, args[1]);
  return Op::create(builder, loc, lhs, rhs);
}

mlir::Value bitwiseNot(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value floorDiv(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value fmod(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value gelu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value isinf(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value isnan(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value leftShift(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value lgamma(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value logicalNot(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value neg(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value pow(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value reciprocal(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value relu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value remainder(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value rightShift(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value sigmoid(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value sign(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value signbit(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value silu(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value truncDiv(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
mlir::Value where(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);

} // namespace inlay::scalar

#endif // INLAY_DIALECT_INLAY_IR_POINTWISESCALARS_H

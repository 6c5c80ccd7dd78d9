// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients, remainders and powers with PyTorch's semantics. The emitted code never divides by an integer 0 or -1,
// because these divisions may trap.

#include "inlay/Dialect/Inlay/IR/PointwiseScalars.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
/// Emits scalar code for two operands of one type.
class Pair {
public:
  Pair(OpBuilder &builder, Location loc, ValueRange args)
      : builder(loc, builder), lhs(args[0]), rhs(args[1]), type(lhs.getType()) {}

  bool isFloat() const { return isa<FloatType>(type); }
  Value floatConstant(double value) {
    return arith::ConstantOp::create(builder, builder.getFloatAttr(cast<FloatType>(type), value));
  }
  Value intConstant(int64_t value) {
    APInt bits(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true);
    return arith::ConstantOp::create(builder, builder.getIntegerAttr(type, bits));
  }
  Value compare(CmpFPredicate predicate, Value a, Value b) { return arith::CmpFOp::create(builder, predicate, a, b); }
  Value compare(CmpIPredicate predicate, Value a, Value b) { return arith::CmpIOp::create(builder, predicate, a, b); }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(builder, condition, yes, no); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, a, b); }

  Value floatRemainder(bool floor);
  Value floatFloorDiv();
  Value intDiv(bool floor);
  Value intRemainder(bool floor);
  Value intPower();

private:
  /// Returns the divisor, or 1 if it is 0 or -1.
  Value safeDivisor() {
    Value next = arith::AddIOp::create(builder, rhs, intConstant(1));
    return select(compare(CmpIPredicate::ule, next, intConstant(1)), intConstant(1), rhs);
  }

  /// Returns true if the remainder is not 0 and its sign differs from that of the divisor.
  Value needsCorrection(Value remainder) {
    Value differ = compare(CmpIPredicate::slt, arith::XOrIOp::create(builder, remainder, rhs), intConstant(0));
    return both(compare(CmpIPredicate::ne, remainder, intConstant(0)), differ);
  }

  ImplicitLocOpBuilder builder;
  Value lhs, rhs;
  Type type;
};
} // namespace

Value Pair::floatRemainder(bool floor) {
  Value rest = arith::RemFOp::create(builder, lhs, rhs);
  if (!floor)
    return rest;
  Value zero = floatConstant(0);
  Value differ =
      compare(CmpIPredicate::ne, compare(CmpFPredicate::OLT, rhs, zero), compare(CmpFPredicate::OLT, rest, zero));
  Value mustCorrect = both(compare(CmpFPredicate::UNE, rest, zero), differ);
  return select(mustCorrect, arith::AddFOp::create(builder, rest, rhs), rest);
}

Value Pair::floatFloorDiv() {
  Value zero = floatConstant(0), one = floatConstant(1), quotient = arith::DivFOp::create(builder, lhs, rhs);
  Value rest = arith::RemFOp::create(builder, lhs, rhs);
  Value whole = arith::DivFOp::create(builder, arith::SubFOp::create(builder, lhs, rest), rhs);
  Value differ =
      compare(CmpIPredicate::ne, compare(CmpFPredicate::OLT, rhs, zero), compare(CmpFPredicate::OLT, rest, zero));
  Value mustCorrect = both(compare(CmpFPredicate::UNE, rest, zero), differ);
  whole = select(mustCorrect, arith::SubFOp::create(builder, whole, one), whole);
  // The division may have been inexact, so the quotient is rounded to the nearest integer.
  Value down = math::FloorOp::create(builder, whole);
  Value far = compare(CmpFPredicate::OGT, arith::SubFOp::create(builder, whole, down), floatConstant(0.5));
  down = select(far, arith::AddFOp::create(builder, down, one), down);
  Value none = math::CopySignOp::create(builder, zero, quotient);
  Value result = select(compare(CmpFPredicate::UNE, whole, zero), down, none);
  return select(compare(CmpFPredicate::OEQ, rhs, zero), quotient, result);
}

Value Pair::intDiv(bool floor) {
  Value zero = intConstant(0), safe = safeDivisor();
  Value quotient = arith::DivSIOp::create(builder, lhs, safe);
  if (floor) {
    Value down = arith::SubIOp::create(builder, quotient, intConstant(1));
    quotient = select(needsCorrection(arith::RemSIOp::create(builder, lhs, safe)), down, quotient);
  }
  Value negated = arith::SubIOp::create(builder, zero, lhs);
  quotient = select(compare(CmpIPredicate::eq, rhs, intConstant(-1)), negated, quotient);
  return select(compare(CmpIPredicate::eq, rhs, zero), zero, quotient);
}

Value Pair::intRemainder(bool floor) {
  // The remainder of a division by 1 is 0, as is that of a division by -1.
  Value rest = arith::RemSIOp::create(builder, lhs, safeDivisor());
  return floor ? select(needsCorrection(rest), arith::AddIOp::create(builder, rest, rhs), rest) : rest;
}

/// Emits exponentiation by squaring, modulo 2^width. A negative power is 0 unless the base is 1 or -1.
Value Pair::intPower() {
  Value zero = intConstant(0), one = intConstant(1), power = one, square = lhs;
  unsigned bits = type.getIntOrFloatBitWidth() - 1;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value flag = arith::AndIOp::create(builder, rhs, intConstant(int64_t(1) << bit));
    power = select(compare(CmpIPredicate::ne, flag, zero), arith::MulIOp::create(builder, power, square), power);
    if (bit + 1 < bits)
      square = arith::MulIOp::create(builder, square, square);
  }
  Value odd = compare(CmpIPredicate::ne, arith::AndIOp::create(builder, rhs, one), zero);
  Value isOne = compare(CmpIPredicate::eq, lhs, one), isMinusOne = compare(CmpIPredicate::eq, lhs, intConstant(-1));
  Value negative = select(isMinusOne, select(odd, lhs, one), zero);
  negative = select(isOne, one, negative);
  return select(compare(CmpIPredicate::slt, rhs, zero), negative, power);
}

Value inlay::scalar::floorDiv(OpBuilder &builder, Location loc, ValueRange args) {
  Pair pair(builder, loc, args);
  return pair.isFloat() ? pair.floatFloorDiv() : pair.intDiv(/*floor=*/true);
}

Value inlay::scalar::truncDiv(OpBuilder &builder, Location loc, ValueRange args) {
  Pair pair(builder, loc, args);
  if (!pair.isFloat())
    return pair.intDiv(/*floor=*/false);
  return math::TruncOp::create(builder, loc, arith::DivFOp::create(builder, loc, args[0], args[1]));
}

Value inlay::scalar::remainder(OpBuilder &builder, Location loc, ValueRange args) {
  Pair pair(builder, loc, args);
  return pair.isFloat() ? pair.floatRemainder(/*floor=*/true) : pair.intRemainder(/*floor=*/true);
}

Value inlay::scalar::fmod(OpBuilder &builder, Location loc, ValueRange args) {
  Pair pair(builder, loc, args);
  return pair.isFloat() ? pair.floatRemainder(/*floor=*/false) : pair.intRemainder(/*floor=*/false);
}

Value inlay::scalar::pow(OpBuilder &builder, Location loc, ValueRange args) {
  Pair pair(builder, loc, args);
  return pair.isFloat() ? math::PowFOp::create(builder, loc, args[0], args[1]).getResult() : pair.intPower();
}

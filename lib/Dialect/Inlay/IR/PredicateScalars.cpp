// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar functions for predicates, selection and bit operations.

#include "inlay/Dialect/Inlay/IR/PointwiseScalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Value zero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

static Value allOnes(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, APInt::getAllOnes(type.getIntOrFloatBitWidth())));
}

Value inlay::scalar::isNonzero(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(builder, loc, CmpFPredicate::UNE, value, zero(builder, loc, type));
  if (type.isInteger(1))
    return value;
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, value, zero(builder, loc, type));
}

Value inlay::scalar::compareBy(OpBuilder &builder, Location loc, ValueRange args, CmpFPredicate floats,
                               CmpIPredicate integers) {
  if (isa<FloatType>(args[0].getType()))
    return arith::CmpFOp::create(builder, loc, floats, args[0], args[1]);
  if (args[0].getType().isInteger(1)) // As a signed number, true would be -1.
    switch (integers) {
    case CmpIPredicate::slt:
      integers = CmpIPredicate::ult;
      break;
    case CmpIPredicate::sle:
      integers = CmpIPredicate::ule;
      break;
    case CmpIPredicate::sgt:
      integers = CmpIPredicate::ugt;
      break;
    case CmpIPredicate::sge:
      integers = CmpIPredicate::uge;
      break;
    default:
      break;
    }
  return arith::CmpIOp::create(builder, loc, integers, args[0], args[1]);
}

Value inlay::scalar::logicalNot(OpBuilder &builder, Location loc, ValueRange args) {
  Value truth = isNonzero(builder, loc, args[0]);
  return arith::XOrIOp::create(builder, loc, truth, allOnes(builder, loc, truth.getType()));
}

Value inlay::scalar::isnan(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::CmpFOp::create(builder, loc, CmpFPredicate::UNO, args[0], args[0]);
}

Value inlay::scalar::isinf(OpBuilder &builder, Location loc, ValueRange args) {
  Type type = args[0].getType();
  Value infinity =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, std::numeric_limits<double>::infinity()));
  Value size = math::AbsFOp::create(builder, loc, args[0]);
  return arith::CmpFOp::create(builder, loc, CmpFPredicate::OEQ, size, infinity);
}

Value inlay::scalar::signbit(OpBuilder &builder, Location loc, ValueRange args) {
  Value bits = args[0];
  if (isa<FloatType>(bits.getType()))
    bits = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits.getType().getIntOrFloatBitWidth()), bits);
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, bits, zero(builder, loc, bits.getType()));
}

Value inlay::scalar::sign(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  Type type = x.getType();
  if (type.isInteger(1))
    return x;
  Value none = zero(builder, loc, type), one, minusOne;
  if (isa<FloatType>(type)) {
    one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, 1.0));
    minusOne = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, -1.0));
  } else {
    one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 1));
    minusOne = allOnes(builder, loc, type);
  }
  Value below = compareBy(builder, loc, {x, none}, CmpFPredicate::OLT, CmpIPredicate::slt);
  Value above = compareBy(builder, loc, {x, none}, CmpFPredicate::OGT, CmpIPredicate::sgt);
  Value rest = arith::SelectOp::create(builder, loc, below, minusOne, none);
  return arith::SelectOp::create(builder, loc, above, one, rest);
}

Value inlay::scalar::bitwiseNot(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::XOrIOp::create(builder, loc, args[0], allOnes(builder, loc, args[0].getType()));
}

/// Returns true if the number of bits to shift by is at least 0 and less than the width of the type.
static Value isShift(OpBuilder &builder, Location loc, Value count) {
  Type type = count.getType();
  Value width = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, type.getIntOrFloatBitWidth()));
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::ult, count, width);
}

Value inlay::scalar::leftShift(OpBuilder &builder, Location loc, ValueRange args) {
  Value none = zero(builder, loc, args[0].getType()), fits = isShift(builder, loc, args[1]);
  Value count = arith::SelectOp::create(builder, loc, fits, args[1], none);
  Value shifted = arith::ShLIOp::create(builder, loc, args[0], count);
  return arith::SelectOp::create(builder, loc, fits, shifted, none);
}

Value inlay::scalar::rightShift(OpBuilder &builder, Location loc, ValueRange args) {
  Type type = args[0].getType();
  Value maxCount =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, type.getIntOrFloatBitWidth() - 1));
  Value count = arith::SelectOp::create(builder, loc, isShift(builder, loc, args[1]), args[1], maxCount);
  return arith::ShRSIOp::create(builder, loc, args[0], count);
}

Value inlay::scalar::where(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
}

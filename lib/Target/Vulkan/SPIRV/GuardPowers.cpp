// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits checks of the base and the exponent around each pow. GuardDomains.cpp handles the other functions.

#include "GuardPowers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace {
/// Emits the guarded form of one power.
class PowerGuard {
public:
  explicit PowerGuard(math::PowFOp op)
      : builder(op.getLoc(), op), type(op.getType()), base(op.getLhs()), exponent(op.getRhs()) {}

  Value emit() {
    Value zero = constant(0), one = constant(1), infinity = constant(std::numeric_limits<double>::infinity());
    Value size = create<math::AbsFOp>(base);
    Value isFinite = both(compare(CmpFPredicate::OGT, size, zero), compare(CmpFPredicate::OLT, size, infinity));
    Value power = math::PowFOp::create(builder, select(isFinite, size, one), exponent);

    // For zeros and infinities, the sign of the exponent decides which of the two is the result.
    Value grows = compare(CmpFPredicate::OGT, exponent, zero);
    Value isZero = compare(CmpFPredicate::OEQ, size, zero), isInfinite = compare(CmpFPredicate::OEQ, size, infinity);
    power = select(isZero, select(grows, zero, infinity), power);
    power = select(isInfinite, select(grows, infinity, zero), power);
    Value endless = compare(CmpFPredicate::OEQ, create<math::AbsFOp>(exponent), infinity);
    Value above = compare(CmpFPredicate::OGT, size, one), below = compare(CmpFPredicate::OLT, size, one);
    Value limit = select(above, select(grows, infinity, zero), select(below, select(grows, zero, infinity), one));
    power = select(endless, limit, power);

    // For negative bases, odd exponents keep the sign, and fractional exponents have no result unless the base is
    // infinite.
    Value whole = compare(CmpFPredicate::OEQ, create<math::FloorOp>(exponent), exponent);
    Value half = arith::MulFOp::create(builder, exponent, constant(0.5));
    Value odd = both(whole, both(compare(CmpFPredicate::ONE, create<math::FloorOp>(half), half), finiteExponent()));
    power = select(odd, math::CopySignOp::create(builder, power, base), power);
    Value nan = constant(std::numeric_limits<double>::quiet_NaN());
    Value fraction = both(compare(CmpFPredicate::OLT, base, zero), arith::XOrIOp::create(builder, whole, truth()));
    power = select(both(fraction, both(isFinite, finiteExponent())), nan, power);

    power = select(compare(CmpFPredicate::UNO, base, exponent), nan, power);
    power = select(compare(CmpFPredicate::OEQ, base, one), one, power);
    return select(compare(CmpFPredicate::OEQ, exponent, zero), one, power);
  }

private:
  Value constant(double value) {
    return arith::ConstantOp::create(builder, builder.getFloatAttr(cast<FloatType>(type), value));
  }
  Value truth() { return arith::ConstantIntOp::create(builder, 1, 1); }
  Value finiteExponent() {
    return compare(CmpFPredicate::OLT, create<math::AbsFOp>(exponent),
                   constant(std::numeric_limits<double>::infinity()));
  }
  template <typename Op>
  Value create(Value operand) {
    return Op::create(builder, operand);
  }
  Value compare(CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, predicate, lhs, rhs);
  }
  Value both(Value lhs, Value rhs) { return arith::AndIOp::create(builder, lhs, rhs); }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(builder, condition, yes, no); }

  ImplicitLocOpBuilder builder;
  Type type;
  Value base, exponent;
};
} // namespace

void inlay::guardPowers(Operation *root) {
  SmallVector<math::PowFOp> powers;
  root->walk([&](math::PowFOp op) {
    if (isa<FloatType>(op.getType()))
      powers.push_back(op);
  });
  for (math::PowFOp op : powers) {
    op.replaceAllUsesWith(PowerGuard(op).emit());
    op.erase();
  }
}

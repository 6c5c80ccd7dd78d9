// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace {
/// Emits the expansion of one op in front of it.
class Expander {
public:
  explicit Expander(Operation *op) : b(op->getLoc(), op), type(op->getResult(0).getType()) {}

  Value trunc(Value x) { return sign(call<math::FloorOp>(size(x)), x); }
  Value expm1(Value x);
  Value log1p(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value atan(Value x);
  Value atan2(Value y, Value x);
  Value asin(Value x) { return atan(div(x, squareRootOfRest(x))); }
  Value acos(Value x);
  Value remainder(Value lhs, Value rhs);
  Value difference(arith::SubFOp op);
  Value product(arith::MulFOp op);
  Value quotient(arith::DivFOp op);

private:
  Value constant(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(cast<FloatType>(type), value)); }
  template <typename Op>
  Value call(Value x) {
    return Op::create(b, x);
  }
  Value infinity() { return constant(std::numeric_limits<double>::infinity()); }
  Value nan() { return constant(std::numeric_limits<double>::quiet_NaN()); }
  Value signedZero(Value zero, Value like);
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value size(Value x) { return math::AbsFOp::create(b, x); }
  Value sign(Value of, Value from) { return math::CopySignOp::create(b, of, from); }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }
  Value compare(CmpFPredicate predicate, Value x, Value y) { return arith::CmpFOp::create(b, predicate, x, y); }
  Value less(Value x, double y) { return compare(CmpFPredicate::OLT, x, constant(y)); }
  Value greater(Value x, double y) { return compare(CmpFPredicate::OGT, x, constant(y)); }
  Value polynomial(Value x, ArrayRef<double> coefficients);
  std::pair<Value, Value> halvesOfExponential(Value size);
  std::pair<Value, Value> split(Value x);
  Value squareRootOfRest(Value x) { return call<math::SqrtOp>(mul(sub(constant(1), x), add(constant(1), x))); }

  ImplicitLocOpBuilder b;
  Type type;
};
} // namespace

/// By Horner's rule, the highest power first.
Value Expander::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = add(mul(sum, x), constant(coefficient));
  return sum;
}

//===-- Exponentials, logarithms --------------------------------------------------------------------------------===//

Value Expander::expm1(Value x) {
  Value series =
      polynomial(x, {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1});
  Value far = sub(call<math::ExpOp>(x), constant(1));
  return select(less(size(x), 0.5), mul(x, series), far);
}

Value Expander::log1p(Value x) {
  // log((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + ...).
  Value s = div(x, add(x, constant(2)));
  Value series = polynomial(mul(s, s), {2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2});
  Value far = call<math::LogOp>(add(x, constant(1)));
  return select(less(size(x), 0.3), mul(s, series), far);
}

/// exp(size) / 2 without overflow before the half's own, and exp(-size) / 2.
std::pair<Value, Value> Expander::halvesOfExponential(Value size) {
  Value half = constant(0.5), root = call<math::ExpOp>(mul(size, half));
  return {mul(mul(half, root), root), div(div(half, root), root)};
}

Value Expander::sinh(Value x) {
  Value square = mul(x, x);
  Value near = mul(x, polynomial(square, {1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1}));
  auto [grows, fades] = halvesOfExponential(size(x));
  return select(less(size(x), 1), near, sign(sub(grows, fades), x));
}

Value Expander::cosh(Value x) {
  auto [grows, fades] = halvesOfExponential(size(x));
  return add(grows, fades);
}

Value Expander::asinh(Value x) {
  Value magnitude = size(x), square = mul(x, x), one = constant(1);
  Value root = call<math::SqrtOp>(add(square, one));
  Value near = log1p(add(magnitude, div(square, add(one, root))));
  Value far = add(call<math::LogOp>(magnitude), constant(M_LN2));
  return sign(select(greater(magnitude, 1e6), far, near), x);
}

Value Expander::acosh(Value x) {
  Value above = sub(x, constant(1));
  Value near = log1p(add(above, call<math::SqrtOp>(add(add(above, above), mul(above, above)))));
  Value far = add(call<math::LogOp>(x), constant(M_LN2));
  Value value = select(greater(x, 1e6), far, near);
  return select(less(x, 1), nan(), value);
}

Value Expander::atanh(Value x) {
  Value magnitude = size(x), doubled = add(magnitude, magnitude);
  return sign(mul(constant(0.5), log1p(div(doubled, sub(constant(1), magnitude)))), x);
}

//===-- Angles --------------------------------------------------------------------------------------------------===//

/// The ranges and the polynomial of Cephes' atanf (S. Moshier, netlib.org/cephes).
Value Expander::atan(Value x) {
  Value magnitude = size(x), one = constant(1);
  Value isLarge = greater(magnitude, 2.414213562373095), isMiddle = greater(magnitude, 0.4142135623730950);
  Value large = div(constant(-1), magnitude), middle = div(sub(magnitude, one), add(magnitude, one));
  Value reduced = select(isLarge, large, select(isMiddle, middle, magnitude));
  Value start = select(isLarge, constant(M_PI_2), select(isMiddle, constant(M_PI_4), constant(0)));
  Value square = mul(reduced, reduced);
  Value series = polynomial(square, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return sign(add(start, add(mul(mul(series, square), reduced), reduced)), x);
}

Value Expander::atan2(Value y, Value x) {
  Value height = size(y), width = size(x), one = constant(1);
  Value steep = compare(CmpFPredicate::OGT, height, width);
  Value least = select(steep, width, height), most = select(steep, height, width);
  // Both infinite make half a right angle, and both zero none.
  Value ratio = select(compare(CmpFPredicate::OEQ, least, most), one, div(least, most));
  ratio = select(compare(CmpFPredicate::OEQ, most, constant(0)), most, ratio);
  Value angle = atan(ratio);
  angle = select(steep, sub(constant(M_PI_2), angle), angle);
  Value left = less(sign(one, x), 0);
  angle = sign(select(left, sub(constant(M_PI), angle), angle), y);
  return select(compare(CmpFPredicate::UNO, x, y), add(x, y), angle);
}

Value Expander::acos(Value x) {
  Value one = constant(1), doubled = atan2(call<math::SqrtOp>(sub(one, x)), call<math::SqrtOp>(add(one, x)));
  return add(doubled, doubled);
}

//===-- Remainders ----------------------------------------------------------------------------------------------===//

/// Halves of the digits, whose products are exact (Veltkamp, by way of Dekker, Numer. Math. 18, 1971).
std::pair<Value, Value> Expander::split(Value x) {
  unsigned precision = cast<FloatType>(type).getFPMantissaWidth();
  Value scaled = mul(x, constant(std::ldexp(1.0, static_cast<int>((precision + 1) / 2)) + 1));
  Value high = sub(scaled, sub(scaled, x));
  return {high, sub(x, high)};
}

/// Exact while the quotient has no more digits than the type.
Value Expander::remainder(Value lhs, Value rhs) {
  Value dividend = size(lhs), divisor = size(rhs), zero = constant(0);
  Value quotient = call<math::FloorOp>(div(dividend, divisor));
  auto [high, low] = split(quotient);
  auto [rhsHigh, rhsLow] = split(divisor);
  Value product = mul(quotient, divisor);
  Value error = sub(product, mul(high, rhsHigh));
  error = sub(sub(error, mul(low, rhsHigh)), mul(high, rhsLow));
  error = sub(mul(low, rhsLow), error); // product + error is quotient * divisor
  Value rest = sub(sub(dividend, product), error);
  // The quotient may have been rounded up or down to a whole number.
  rest = select(compare(CmpFPredicate::OLT, rest, zero), add(rest, divisor), rest);
  rest = select(compare(CmpFPredicate::OGE, rest, divisor), sub(rest, divisor), rest);
  rest = select(compare(CmpFPredicate::OLT, dividend, divisor), dividend, rest);
  rest = sign(rest, lhs);
  Value none = arith::OrIOp::create(b, compare(CmpFPredicate::UEQ, dividend, infinity()),
                                    compare(CmpFPredicate::UEQ, divisor, zero));
  return select(none, nan(), rest);
}

//===-- What Mesa's llvmpipe takes for simpler than it is -------------------------------------------------------===//
//
// It folds x - x and a product with a constant 0 to 0, and leaves a quotient by a constant 0 undefined, whatever x is.
// Each of these returns null for what it folds rightly.

/// 0 with the product of two signs: that of `zero`, a constant, and that of `like`.
Value Expander::signedZero(Value zero, Value like) {
  Value result = sign(constant(0), like);
  return matchPattern(zero, m_NegZeroFloat()) ? arith::NegFOp::create(b, result) : result;
}

Value Expander::difference(arith::SubFOp op) {
  Value x = op.getLhs();
  if (x != op.getRhs())
    return nullptr;
  return select(compare(CmpFPredicate::OLT, size(x), infinity()), constant(0), nan());
}

Value Expander::product(arith::MulFOp op) {
  for (auto [x, zero] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (matchPattern(zero, m_AnyZeroFloat()))
      return select(compare(CmpFPredicate::OLT, size(x), infinity()), signedZero(zero, x), nan());
  return nullptr;
}

Value Expander::quotient(arith::DivFOp op) {
  Value x = op.getLhs(), y = op.getRhs();
  if (matchPattern(y, m_AnyZeroFloat()))
    return mul(x, matchPattern(y, m_NegZeroFloat()) ? constant(-HUGE_VAL) : infinity());
  if (matchPattern(x, m_AnyZeroFloat()))
    return select(greater(size(y), 0), signedZero(x, y), nan());
  return nullptr;
}

static Value expand(Operation *op) {
  Expander e(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::TruncOp o) { return e.trunc(o.getOperand()); })
      .Case([&](math::ExpM1Op o) { return e.expm1(o.getOperand()); })
      .Case([&](math::Log1pOp o) { return e.log1p(o.getOperand()); })
      .Case([&](math::SinhOp o) { return e.sinh(o.getOperand()); })
      .Case([&](math::CoshOp o) { return e.cosh(o.getOperand()); })
      .Case([&](math::AsinhOp o) { return e.asinh(o.getOperand()); })
      .Case([&](math::AcoshOp o) { return e.acosh(o.getOperand()); })
      .Case([&](math::AtanhOp o) { return e.atanh(o.getOperand()); })
      .Case([&](math::AtanOp o) { return e.atan(o.getOperand()); })
      .Case([&](math::Atan2Op o) { return e.atan2(o.getLhs(), o.getRhs()); })
      .Case([&](math::AsinOp o) { return e.asin(o.getOperand()); })
      .Case([&](math::AcosOp o) { return e.acos(o.getOperand()); })
      .Case([&](arith::RemFOp o) { return e.remainder(o.getLhs(), o.getRhs()); })
      .Case([&](arith::SubFOp o) { return e.difference(o); })
      .Case([&](arith::MulFOp o) { return e.product(o); })
      .Case([&](arith::DivFOp o) { return e.quotient(o); })
      .Default(Value());
}

/// Upstream's conversion takes the sign from the operand's absolute value, which the least integer has none of.
static void expandRemainder(arith::RemSIOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value quotient = arith::DivSIOp::create(builder, loc, op.getLhs(), op.getRhs());
  Value whole = arith::MulIOp::create(builder, loc, quotient, op.getRhs());
  op.replaceAllUsesWith(arith::SubIOp::create(builder, loc, op.getLhs(), whole).getResult());
  op.erase();
}

void inlay::expandMath(Operation *root) {
  root->walk([](Operation *op) {
    if (auto remainder = dyn_cast<arith::RemSIOp>(op))
      return expandRemainder(remainder);
    if (op->getNumResults() != 1 || !isa<FloatType>(op->getResult(0).getType()))
      return;
    if (Value value = expand(op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  });
}

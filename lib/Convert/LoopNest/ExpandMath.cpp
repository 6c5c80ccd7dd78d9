// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands math functions into arithmetic that is accurate on every target. The vectorized polynomials of generated
// host code are chosen in Target/Host/LLVM/HostCode.cpp (`approximateMath`), and those of library kernels are in
// Runtime/Host/Portable/SimdMath.inc.

#include "inlay/Convert/LoopNest/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  Value tanh(Value x);
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
  Value constant(double value);
  unsigned precision() { return cast<FloatType>(getElementTypeOrSelf(type)).getFPMantissaWidth(); }
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
  Value series(Value x, double maxSize, llvm::function_ref<double(unsigned)> coefficient);
  Value expm1Near(Value x);
  std::pair<Value, Value> halvesOfExponential(Value size);
  Value squareRootOfRest(Value x) { return call<math::SqrtOp>(mul(sub(constant(1), x), add(constant(1), x))); }

  using State = SmallVector<Value>;
  State iterate(const State &start, llvm::function_ref<Value(ValueRange)> goesOn,
                llvm::function_ref<State(ValueRange)> next);

  ImplicitLocOpBuilder b;
  Type type;
};
} // namespace

Value Expander::constant(double value) {
  auto scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, Attribute(scalar)));
  return arith::ConstantOp::create(b, scalar);
}

/// Evaluates the polynomial by Horner's rule. The coefficient of the highest power comes first.
Value Expander::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = add(mul(sum, x), constant(coefficient));
  return sum;
}

/// Emits a while loop that computes the next state as long as `goesOn`. Returns the last state.
Expander::State Expander::iterate(const State &start, llvm::function_ref<Value(ValueRange)> goesOn,
                                  llvm::function_ref<State(ValueRange)> next) {
  SmallVector<Type> types(start.size(), type);
  SmallVector<Location> locs(start.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, start);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  scf::ConditionOp::create(b, goesOn(before->getArguments()), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  scf::YieldOp::create(b, next(after->getArguments()));
  return loop.getResults();
}

//===-- Exponentials, logarithms --------------------------------------------------------------------------------===//

/// Below these absolute values, differences from 1 have too few digits.
static constexpr double kNearExpm1 = 0.5, kNearLog1p = 0.3;

/// Returns the sum of `coefficient(n)` times x to the power of n for absolute values of x up to `maxSize`. The sum has
/// as many terms as the precision needs.
Value Expander::series(Value x, double maxSize, llvm::function_ref<double(unsigned)> coefficient) {
  auto matters = [&](unsigned number) {
    double share = coefficient(number) / coefficient(0) * std::pow(maxSize, number);
    return share > std::ldexp(0.25, -static_cast<int>(precision()));
  };
  SmallVector<double> coefficients;
  for (unsigned number = 0; matters(number); ++number)
    coefficients.insert(coefficients.begin(), coefficient(number));
  return polynomial(x, coefficients);
}

/// Computes x + x^2 / 2! + x^3 / 3! + ... for absolute values up to `kNearExpm1`.
Value Expander::expm1Near(Value x) {
  return mul(x, series(x, kNearExpm1, [](unsigned number) { return 1 / std::tgamma(number + 2); }));
}

Value Expander::expm1(Value x) {
  return select(less(size(x), kNearExpm1), expm1Near(x), sub(call<math::ExpOp>(x), constant(1)));
}

/// Uses log((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + ...), where s is x / (x + 2).
Value Expander::log1p(Value x) {
  const double maxS = kNearLog1p / (2 - kNearLog1p);
  Value s = div(x, add(x, constant(2)));
  Value sum = series(mul(s, s), maxS * maxS, [](unsigned number) { return 2.0 / (2 * number + 1); });
  Value far = call<math::LogOp>(add(x, constant(1)));
  return select(less(size(x), kNearLog1p), mul(s, sum), far);
}

/// Drivers compute tanh by the difference of two exponentials, which loses all digits if they are close to each other.
Value Expander::tanh(Value x) {
  Value grown = expm1Near(add(x, x));
  return select(less(size(x), kNearExpm1 / 2), div(grown, add(grown, constant(2))), math::TanhOp::create(b, x));
}

/// Returns exp(size) / 2, which only overflows if the result does, and exp(-size) / 2.
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

/// Uses the ranges and the polynomial of Cephes' atanf (S. Moshier, netlib.org/cephes).
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
  Value shorter = select(steep, width, height), longer = select(steep, height, width);
  // The angle is 45 degrees if both are infinite and 0 if both are zero.
  Value ratio = select(compare(CmpFPredicate::OEQ, shorter, longer), one, div(shorter, longer));
  ratio = select(compare(CmpFPredicate::OEQ, longer, constant(0)), longer, ratio);
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

/// Uses binary long division, whose subtractions are exact. Some devices flush denormal numbers to 0.
Value Expander::remainder(Value lhs, Value rhs) {
  Value dividend = size(lhs), divisor = size(rhs), zero = constant(0), half = constant(0.5);
  Value none = arith::OrIOp::create(b, compare(CmpFPredicate::UEQ, dividend, infinity()),
                                    compare(CmpFPredicate::UEQ, divisor, zero));
  Value start = select(none, zero, dividend), halved = mul(start, half);
  auto both = [&](Value lhs, Value rhs) -> Value { return arith::AndIOp::create(b, lhs, rhs); };
  // The largest power of two times the divisor that is at most the dividend. The loop takes no step for NaN or 0.
  Value greatest = iterate(
      {divisor}, [&](ValueRange now) { return both(compare(CmpFPredicate::OLE, now[0], halved), greater(now[0], 0)); },
      [&](ValueRange now) { return State{add(now[0], now[0])}; })[0];
  Value rest = iterate(
      {start, greatest},
      [&](ValueRange now) { return both(compare(CmpFPredicate::OGE, now[0], divisor), greater(now[1], 0)); },
      [&](ValueRange now) {
        Value fits = compare(CmpFPredicate::OGE, now[0], now[1]);
        return State{select(fits, sub(now[0], now[1]), now[0]), mul(now[1], half)};
      })[0];
  return select(none, nan(), sign(rest, lhs));
}

//===-- Workarounds for Mesa's llvmpipe --------------------------------------------------------------------------===//
// llvmpipe folds x - x and a product with a constant 0 to 0, and leaves a quotient by a constant 0 undefined, for all
// values of x. Each function returns null if the folding is correct.

/// Returns 0 whose sign is the product of the signs of `zero`, a constant, and `like`.
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
      .Case([&](math::TanhOp o) { return e.tanh(o.getOperand()); })
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

static void replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

/// Upstream's conversion takes the sign from the absolute value of the operand, which does not exist for the smallest
/// integer.
static void expandRemainder(arith::RemSIOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value quotient = arith::DivSIOp::create(builder, loc, op.getLhs(), op.getRhs());
  Value whole = arith::MulIOp::create(builder, loc, quotient, op.getRhs());
  op.replaceAllUsesWith(arith::SubIOp::create(builder, loc, op.getLhs(), whole).getResult());
  op.erase();
}

void inlay::expandDifferencesFromOne(Operation *root) {
  root->walk([](Operation *op) {
    if (isa<math::ExpM1Op, math::Log1pOp>(op))
      replace(op, expand(op));
  });
}

void inlay::expandMath(Operation *root) {
  root->walk([](Operation *op) {
    if (auto remainder = dyn_cast<arith::RemSIOp>(op))
      return expandRemainder(remainder);
    if (op->getNumResults() != 1 || !isa<FloatType>(op->getResult(0).getType()))
      return;
    if (Value value = expand(op))
      replace(op, value);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces results of GLSL functions outside their reliable domains. GuardPowers.cpp handles pow, and
// Convert/LoopNest/ExpandMath.cpp expands functions that GLSL lacks.

#include "GuardDomains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace {
/// Emits the driver's function of one number, and the result that replaces it outside the reliable domain.
class DomainGuard {
public:
  explicit DomainGuard(Operation *op)
      : b(op->getLoc(), op), type(op->getResult(0).getType()), x(op->getOperand(0)), known(b.clone(*op)->getResult(0)) {
  }

  Value exponential() { return select(isNaN(), x, known); }
  Value logarithm() {
    Value finiteOrInfinite = select(compare(CmpFPredicate::OEQ, x, constant(infinity)), x, known);
    Value special = select(compare(CmpFPredicate::OEQ, x, constant(0)), constant(-infinity), constant(nan));
    return select(isAboveZero(), finiteOrInfinite, special);
  }
  Value root() { return select(compare(CmpFPredicate::OGE, x, constant(0)), known, constant(nan)); }
  Value inverseRoot() {
    Value pole = math::CopySignOp::create(b, constant(infinity), x);
    Value special = select(compare(CmpFPredicate::OEQ, x, constant(0)), pole, constant(nan));
    return select(isAboveZero(), known, special);
  }
  /// Above 10 the result is 1 in all formats. The driver's quotient of sums of exponentials would be NaN.
  Value hyperbolicTangent() {
    Value isFar = compare(CmpFPredicate::OGT, math::AbsFOp::create(b, x), constant(10));
    Value limit = math::CopySignOp::create(b, constant(1), x);
    return select(isFar, limit, select(isNaN(), x, known));
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  Value constant(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(cast<FloatType>(type), value)); }
  Value compare(CmpFPredicate predicate, Value lhs, Value rhs) { return arith::CmpFOp::create(b, predicate, lhs, rhs); }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }
  Value isNaN() { return compare(CmpFPredicate::UNO, x, x); }
  Value isAboveZero() { return compare(CmpFPredicate::OGT, x, constant(0)); }

  ImplicitLocOpBuilder b;
  Type type;
  Value x, known;
};
} // namespace

static Value guard(Operation *op) {
  DomainGuard g(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return g.exponential(); })
      .Case<math::LogOp, math::Log2Op, math::Log10Op>([&](Operation *) { return g.logarithm(); })
      .Case([&](math::SqrtOp) { return g.root(); })
      .Case([&](math::RsqrtOp) { return g.inverseRoot(); })
      .Case([&](math::TanhOp) { return g.hyperbolicTangent(); })
      .Default(Value());
}

void inlay::guardDomains(Operation *root) {
  SmallVector<Operation *> functions;
  root->walk([&](Operation *op) {
    if (isa<math::ExpOp, math::LogOp, math::Log2Op, math::Log10Op, math::SqrtOp, math::RsqrtOp, math::TanhOp>(op) &&
        isa<FloatType>(op->getResult(0).getType()))
      functions.push_back(op);
  });
  for (Operation *op : functions) {
    op->getResult(0).replaceAllUsesWith(guard(op));
    op->erase();
  }
}

void inlay::roundDoubles(Operation *root) {
  SmallVector<math::RoundEvenOp> roundings;
  root->walk([&](math::RoundEvenOp op) {
    if (op.getType().isF64())
      roundings.push_back(op);
  });
  for (math::RoundEvenOp op : roundings) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    // Doubles from 2^52 on are whole. The sum of 2^52 and a smaller number is rounded to a whole number.
    Value limit = arith::ConstantOp::create(b, b.getF64FloatAttr(0x1p52));
    Value size = math::AbsFOp::create(b, op.getOperand());
    Value rounded = arith::SubFOp::create(b, arith::AddFOp::create(b, size, limit), limit);
    Value isSmall = arith::CmpFOp::create(b, CmpFPredicate::OLT, size, limit);
    Value result = arith::SelectOp::create(b, isSmall, rounded, size);
    op.replaceAllUsesWith(math::CopySignOp::create(b, result, op.getOperand()).getResult());
    op.erase();
  }
}

void inlay::selectSigns(Operation *root) {
  SmallVector<math::CopySignOp> signs;
  root->walk([&](math::CopySignOp op) {
    if (isa<FloatType>(op.getType()))
      signs.push_back(op);
  });
  for (math::CopySignOp op : signs) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value sign = op.getRhs(); // In f32, because devices may lack integers of other sizes.
    if (op.getType().getIntOrFloatBitWidth() < 32)
      sign = arith::ExtFOp::create(b, b.getF32Type(), sign);
    else if (op.getType().getIntOrFloatBitWidth() > 32)
      sign = arith::TruncFOp::create(b, b.getF32Type(), sign);
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), sign);
    Value isNegative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits, arith::ConstantIntOp::create(b, b.getI32Type(), 0));
    Value size = math::AbsFOp::create(b, op.getLhs());
    Value result = arith::SelectOp::create(b, isNegative, arith::NegFOp::create(b, size), size);
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

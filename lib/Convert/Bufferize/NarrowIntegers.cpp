// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrows 64-bit integer arithmetic in the bodies of structured ops to 32 bits if MLIR's integer ranges prove that the
// results are the same. MLIR's own narrowing pass has no ranges for these bodies, and it also narrows indices, which
// makes address computations slower.

#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace inlay {
#define GEN_PASS_DEF_NARROWINTEGERSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

static constexpr unsigned kWide = 64, kNarrow = 32;

static bool isIntegral(Type type) { return type.isIntOrIndex(); }

static bool isWide(Value value) { return value.getType().isInteger(kWide); }

namespace {
/// Narrows the body of one op, starting with the first op of the body.
class Narrower {
public:
  explicit Narrower(linalg::LinalgOp op) : op(op), builder(op.getContext()) {}

  void run() {
    for (Operation &inner : llvm::make_early_inc_range(op.getBlock()->without_terminator())) {
      infer(&inner);
      if (isNarrowable(&inner))
        narrow(&inner);
    }
    auto inside = llvm::map_to_vector(op.getBlock()->without_terminator(), [](Operation &inner) { return &inner; });
    for (Operation *inner : llvm::reverse(inside))
      if (isOpTriviallyDead(inner))
        inner->erase();
  }

private:
  ConstantIntRanges getRange(Value value) const {
    auto found = ranges.find(value);
    return found != ranges.end() ? found->second
                                 : ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(value.getType()));
  }

  void infer(Operation *inner) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      int64_t size = op.getStaticLoopRanges()[index.getDim()];
      int64_t last = ShapedType::isDynamic(size) ? std::numeric_limits<int64_t>::max() : std::max<int64_t>(size, 1) - 1;
      APInt zero(IndexType::kInternalStorageBitWidth, 0), maxIndex(IndexType::kInternalStorageBitWidth, last);
      ranges.insert({index.getResult(), ConstantIntRanges(zero, maxIndex, zero, maxIndex)});
    } else if (auto inferrable = dyn_cast<InferIntRangeInterface>(inner);
               inferrable && llvm::all_of(inner->getOperandTypes(), isIntegral)) {
      auto operands = llvm::map_to_vector(inner->getOperands(), [&](Value value) { return getRange(value); });
      inferrable.inferResultRanges(
          operands, [&](Value value, const ConstantIntRanges &range) { ranges.insert_or_assign(value, range); });
    }
  }

  bool fits(Value value, bool isUnsigned) const {
    ConstantIntRanges range = getRange(value);
    return range.smin().isSignedIntN(kNarrow) && range.smax().isSignedIntN(kNarrow) &&
           (!isUnsigned || !range.smin().isNegative());
  }

  /// Returns true for arithmetic, and for casts of its results, if 32 bits suffice.
  bool isNarrowable(Operation *inner) const {
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::CmpIOp,
             arith::SIToFPOp, arith::TruncIOp, arith::IndexCastOp>(inner))
      return false;
    auto isMadeOf = [](ValueRange values) { return llvm::any_of(values, isWide); };
    if (!isMadeOf(
            inner->getOperands())) // Casts from other types only produce wide values; there is no arithmetic to narrow.
      return false;
    auto compare = dyn_cast<arith::CmpIOp>(inner);
    bool isUnsigned = compare && compare.getPredicate() >= arith::CmpIPredicate::ult;
    auto fitsIfWide = [&](Value value) { return !isWide(value) || fits(value, isUnsigned); };
    return llvm::all_of(inner->getOperands(), fitsIfWide) && llvm::all_of(inner->getResults(), fitsIfWide);
  }

  /// Returns `value`, which must fit, in 32 bits.
  Value shorten(Location loc, Value value) {
    Type type = builder.getIntegerType(kNarrow);
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, constant.trunc(kNarrow)));
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      return arith::IndexCastOp::create(builder, loc, type, cast.getIn());
    if (auto extension = value.getDefiningOp<arith::ExtSIOp>()) {
      Value from = extension.getIn();
      return from.getType() == type ? from : arith::ExtSIOp::create(builder, loc, type, from).getResult();
    }
    return arith::TruncIOp::create(builder, loc, type, value);
  }

  void narrow(Operation *inner) {
    builder.setInsertionPoint(inner);
    Location loc = inner->getLoc();
    auto truncation = dyn_cast<arith::TruncIOp>(inner);
    SmallVector<Value> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(isWide(operand) ? shorten(loc, operand) : operand);
    if (truncation && truncation.getType().isInteger(kNarrow)) {
      inner->getResult(0).replaceAllUsesWith(operands.front());
      return;
    }
    OperationState state(loc, inner->getName(), operands, {}, {});
    for (Type type : inner->getResultTypes())
      state.types.push_back(type.isInteger(kWide) ? builder.getIntegerType(kNarrow) : type);
    if (auto compare = dyn_cast<arith::CmpIOp>(inner)) // Other ops only have overflow flags as attributes.
      state.addAttribute(compare.getPredicateAttrName(), compare.getPredicateAttr());
    Value result = builder.create(state)->getResult(0), old = inner->getResult(0);
    if (isWide(old)) {
      ConstantIntRanges range = getRange(old);
      result = arith::ExtSIOp::create(builder, loc, old.getType(), result);
      ranges.insert_or_assign(result, range);
    }
    old.replaceAllUsesWith(result);
  }

  linalg::LinalgOp op;
  OpBuilder builder;
  DenseMap<Value, ConstantIntRanges> ranges;
};

struct NarrowIntegersPass : inlay::impl::NarrowIntegersPassBase<NarrowIntegersPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) { Narrower(op).run(); });
  }
};
} // namespace

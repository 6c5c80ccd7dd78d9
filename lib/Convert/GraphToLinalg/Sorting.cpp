// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts by counting: the position of an element is the number of elements before it. The work is quadratic in the size
// of the dim, but all of it is independent.

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Returns true if `lhs` is less than `rhs`. NaN is greater than any number.
static Value isLess(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!isa<FloatType>(lhs.getType())) {
    auto predicate = lhs.getType().isInteger(1) ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value less = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, lhs, rhs);
  Value number = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, lhs, lhs);
  Value nan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, rhs, rhs);
  return arith::OrIOp::create(builder, loc, less, arith::AndIOp::create(builder, loc, number, nan));
}

namespace {
struct ConvertArgsort : GraphToLinalgPattern<ArgsortOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ArgsortOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Returns for each element the number of elements along `dim` that come before it.
static Value countBefore(OpBuilder &builder, Location loc, ArgsortOp op, int64_t dim, ArrayRef<AffineMap> maps) {
  Value input = op.getInput();
  Type wide = accumulatorType(tensorType(input).getElementType());
  Value zeros = createFilled(builder, loc, getSizes(builder, loc, input), builder.getI32IntegerAttr(0));
  auto body = [&](OpBuilder &nested, Location bodyLoc, ValueRange args) -> Value {
    Value element = castScalar(nested, bodyLoc, args[0], wide), other = castScalar(nested, bodyLoc, args[1], wide);
    if (op.getDescending())
      std::swap(element, other);
    Value before = isLess(nested, bodyLoc, other, element), after = isLess(nested, bodyLoc, element, other);
    Value earlier = arith::CmpIOp::create(nested, bodyLoc, arith::CmpIPredicate::ult,
                                          linalg::IndexOp::create(nested, bodyLoc, tensorType(input).getRank()),
                                          linalg::IndexOp::create(nested, bodyLoc, dim));
    Value isTrue = arith::ConstantOp::create(nested, bodyLoc, nested.getBoolAttr(true));
    Value isEqual = arith::XOrIOp::create(nested, bodyLoc, after, isTrue);
    isEqual = arith::AndIOp::create(nested, bodyLoc, isEqual, earlier);
    Value counts = arith::OrIOp::create(nested, bodyLoc, before, isEqual);
    counts = arith::ExtUIOp::create(nested, bodyLoc, nested.getI32Type(), counts);
    return arith::AddIOp::create(nested, bodyLoc, args[2], counts);
  };
  return createReduction(builder, loc, {input, input}, maps, zeros, body);
}

FailureOr<Value> ConvertArgsort::convert(ArgsortOp op, PatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = tensorType(op.getInput());
  int64_t rank = type.getRank(), dim = *normalizeDim(op.getDim(), rank);
  if (!type.isDynamicDim(dim) && !llvm::isInt<32>(type.getDimSize(dim)))
    return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                    "expected fewer than 2^31 elements to sort, but got " + spell(type));
  // Loops: the dims of the input, then `dim` again.
  AffineMap identity = dropLoops(op.getContext(), rank + 1, rank);
  SmallVector<AffineExpr> exprs(identity.getResults());
  exprs[dim] = rewriter.getAffineDimExpr(rank);
  AffineMap other = makeMap(op.getContext(), rank + 1, exprs);
  Value places = countBefore(rewriter, loc, op, dim, {identity, other, identity});
  // The element at a position is the one whose position equals the loop index.
  Sizes sizes = getSizes(rewriter, loc, op.getInput());
  Value zeros = createFilled(rewriter, loc, sizes, rewriter.getI32IntegerAttr(0));
  auto find = [&](OpBuilder &builder, Location bodyLoc, ValueRange args) -> Value {
    Value place = linalg::IndexOp::create(builder, bodyLoc, dim),
          number = linalg::IndexOp::create(builder, bodyLoc, rank);
    place = arith::IndexCastOp::create(builder, bodyLoc, builder.getI32Type(), place);
    number = arith::IndexCastOp::create(builder, bodyLoc, builder.getI32Type(), number);
    Value here = arith::CmpIOp::create(builder, bodyLoc, arith::CmpIPredicate::eq, args[0], place);
    return arith::SelectOp::create(builder, bodyLoc, here, number, args[1]);
  };
  Value order = createReduction(rewriter, loc, places, {other, identity}, zeros, find);
  return castElements(rewriter, loc, order, rewriter.getI64Type());
}

void inlay::populateSortingPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertArgsort>(patterns.getContext());
}

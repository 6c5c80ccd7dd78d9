// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts matrix products with any broadcast dims to a start value and one generic.

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
struct ConvertMatmul : GraphToLinalgPattern<MatmulOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(MatmulOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getLhs(), /*integers=*/true)))
      return failure();
    Location loc = op.getLoc();
    RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
    Type element = lhs.getElementType(), sum = accumulatorType(element);
    Sizes sizes = broadcastSizes(rewriter, loc, {op.getLhs(), op.getRhs()}, /*dropBack=*/2);
    unsigned batch = sizes.size();
    sizes.push_back(getSize(rewriter, loc, op.getLhs(), lhs.getRank() - 2));
    sizes.push_back(getSize(rewriter, loc, op.getRhs(), rhs.getRank() - 1));

    // Loops: leading dims, row, column, summation.
    AffineExpr row = rewriter.getAffineDimExpr(batch), column = rewriter.getAffineDimExpr(batch + 1),
               inner = rewriter.getAffineDimExpr(batch + 2);
    auto makeOperandMap = [&](RankedTensorType type, AffineExpr first, AffineExpr second) {
      AffineMap leading =
          broadcastMap(op.getContext(), type.getShape().drop_back(2), ArrayRef<OpFoldResult>(sizes).take_front(batch));
      SmallVector<AffineExpr> exprs(leading.getResults());
      exprs.append({first, second});
      return makeMap(op.getContext(), batch + 3, exprs);
    };
    Value init = createFilled(rewriter, loc, sizes, cast<TypedAttr>(rewriter.getZeroAttr(sum)));
    AffineMap maps[] = {makeOperandMap(lhs, row, inner), makeOperandMap(rhs, inner, column),
                        dropLoops(op.getContext(), batch + 3, batch + 2)};
    Value result = createReduction(rewriter, loc, op.getOperands(), maps, init, multiplyAdd);
    return castElements(rewriter, loc, result, element);
  }
};

struct ConvertLinear : GraphToLinalgPattern<LinearOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(LinearOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    Type element = tensorType(op.getInput()).getElementType(), sum = accumulatorType(element);
    Sizes sizes = getSizes(rewriter, loc, op.getInput());
    sizes.back() = getSize(rewriter, loc, op.getWeight(), 0);
    // Loops: leading dims, output feature, summation.
    unsigned rank = sizes.size();
    AffineExpr feature = rewriter.getAffineDimExpr(rank - 1), inner = rewriter.getAffineDimExpr(rank);
    Value init = createStart(rewriter, loc, op.getBias(), makeMap(context, rank, feature), sizes, sum);
    AffineMap maps[] = {dropLoops(context, rank + 1, rank - 1), makeMap(context, rank + 1, {feature, inner}),
                        dropLoops(context, rank + 1, rank)};
    Value weight = readUnpermuted(op.getWeight(), maps[1]);
    Value result = createReduction(rewriter, loc, {op.getInput(), weight}, maps, init, multiplyAdd);
    return castElements(rewriter, loc, result, element);
  }
};
} // namespace

/// Returns the number of the matrix for each row: the number of offsets that are at most the row.
static Value countOffsets(OpBuilder &builder, Location loc, Value offsets, OpFoldResult rows) {
  Value zeros = createFilled(builder, loc, rows, builder.getI32IntegerAttr(0));
  MLIRContext *context = builder.getContext();
  AffineExpr row = builder.getAffineDimExpr(0), group = builder.getAffineDimExpr(1);
  return createReduction(builder, loc, offsets, {makeMap(context, 2, group), makeMap(context, 2, row)}, zeros,
                         [](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
                           Value at = linalg::IndexOp::create(nested, nestedLoc, 0);
                           Value offset =
                               normalizeIndex(nested, nestedLoc, args[0], nested.getIndexAttr(0), /*fromEnd=*/false);
                           at = arith::IndexCastOp::create(nested, nestedLoc, offset.getType(), at);
                           Value past = arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::sle, offset, at);
                           past = arith::ExtUIOp::create(nested, nestedLoc, nested.getI32Type(), past);
                           return arith::AddIOp::create(nested, nestedLoc, args[1], past);
                         });
}

namespace {
struct ConvertGroupedMatmul : GraphToLinalgPattern<GroupedMatmulOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(GroupedMatmulOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)) ||
        failed(checkStaticDim(rewriter, op, op.getWeight(), 0)))
      return failure();
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    RankedTensorType weight = tensorType(op.getWeight()), type = inferResultType(op);
    int64_t groups = weight.getDimSize(0);
    Type element = type.getElementType(), sum = accumulatorType(element);
    Value group = countOffsets(rewriter, loc, op.getOffsets(), getSize(rewriter, loc, op.getInput(), 0));
    AffineExpr row = rewriter.getAffineDimExpr(0), inner = rewriter.getAffineDimExpr(2);
    Sizes sizes{getSize(rewriter, loc, op.getInput(), 0), getSize(rewriter, loc, op.getWeight(), 2)};
    Value init = createFilled(rewriter, loc, sizes, cast<TypedAttr>(rewriter.getZeroAttr(sum)));
    AffineMap maps[] = {makeMap(context, 3, {row, inner}), makeMap(context, 3, row), dropLoops(context, 3, 2)};
    auto body = [&](OpBuilder &builder, Location nestedLoc, ValueRange args) -> Value {
      Value column = linalg::IndexOp::create(builder, nestedLoc, 1),
            at = linalg::IndexOp::create(builder, nestedLoc, 2);
      Value matrix = clampIndex(builder, nestedLoc, args[1], builder.getIndexAttr(groups), /*fromEnd=*/false);
      Value factor = tensor::ExtractOp::create(builder, nestedLoc, op.getWeight(), ValueRange{matrix, at, column});
      Value next = multiplyAdd(builder, nestedLoc, {args[0], factor, args[2]});
      Value end = scalarConstant(builder, nestedLoc, args[1].getType(), static_cast<double>(groups));
      Value inside = arith::CmpIOp::create(builder, nestedLoc, arith::CmpIPredicate::slt, args[1], end);
      return arith::SelectOp::create(builder, nestedLoc, inside, next, args[2]);
    };
    Value result = createReduction(rewriter, loc, {op.getInput(), group}, maps, init, body);
    return castElements(rewriter, loc, result, element);
  }
};
} // namespace

void inlay::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertMatmul, ConvertLinear, ConvertGroupedMatmul>(patterns.getContext());
}

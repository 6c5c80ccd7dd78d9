// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products: a start value and one generic, whatever dims broadcast.

#include "GraphPattern.h"
#include "Structured.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
struct ConvertMatmul : GraphPattern<MatmulOp> {
  using GraphPattern::GraphPattern;

  FailureOr<Value> convert(MatmulOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getLhs(), /*integers=*/true)))
      return failure();
    Location loc = op.getLoc();
    RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
    Type element = lhs.getElementType(), sum = accumulatorType(element);
    Sizes sizes = broadcastSizes(rewriter, loc, {op.getLhs(), op.getRhs()}, /*dropBack=*/2);
    unsigned batch = sizes.size();
    sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getLhs(), lhs.getRank() - 2));
    sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getRhs(), rhs.getRank() - 1));

    // Loops: leading dims, row, column, then the one that is summed.
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

struct ConvertLinear : GraphPattern<LinearOp> {
  using GraphPattern::GraphPattern;

  FailureOr<Value> convert(LinearOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    Type element = tensorType(op.getInput()).getElementType(), sum = accumulatorType(element);
    Sizes sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    sizes.back() = tensor::getMixedSize(rewriter, loc, op.getWeight(), 0);
    // Loops: leading dims, output feature, then the one that is summed.
    unsigned rank = sizes.size();
    AffineExpr feature = rewriter.getAffineDimExpr(rank - 1), inner = rewriter.getAffineDimExpr(rank);
    Value init = createStart(rewriter, loc, op.getBias(), makeMap(context, rank, feature), sizes, sum);
    AffineMap maps[] = {dropLoops(context, rank + 1, rank - 1), makeMap(context, rank + 1, {feature, inner}),
                        dropLoops(context, rank + 1, rank)};
    Value result = createReduction(rewriter, loc, {op.getInput(), op.getWeight()}, maps, init, multiplyAdd);
    return castElements(rewriter, loc, result, element);
  }
};
} // namespace

void inlay::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertMatmul, ConvertLinear>(patterns.getContext());
}

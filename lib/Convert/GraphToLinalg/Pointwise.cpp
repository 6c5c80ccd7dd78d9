// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts all pointwise ops with one pattern, and casts and constants.

#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Emits the scalar function of the op as PyTorch computes it: in f32 for 16-bit floats. Returns null if there is none.
static Value emitScalar(PointwiseOpInterface op, OpBuilder &builder, Location loc, ValueRange args) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  auto wide = llvm::map_to_vector(
      args, [&](Value arg) { return castScalar(builder, loc, arg, accumulatorType(arg.getType())); });
  Value value = op.createScalar(builder, loc, wide);
  return value ? castScalar(builder, loc, value, element) : nullptr;
}

/// Returns true if the op has a scalar function on its element types. Tries to emit it in a scratch block.
static bool hasScalar(PointwiseOpInterface op) {
  Block scratch;
  for (Value operand : op->getOperands())
    scratch.addArgument(getElementTypeOrSelf(operand.getType()), op->getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  return emitScalar(op, builder, op->getLoc(), scratch.getArguments()) != nullptr;
}

namespace {
struct ConvertPointwise : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(PointwiseOpInterface op, PatternRewriter &rewriter) const override {
    if (failed(checkTensorTypes(rewriter, op)))
      return failure();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (!hasScalar(op))
      return refuseOp(rewriter, op, ReasonCode::UnsupportedType,
                      op->getName().getStringRef() + " isn't defined on elements of " +
                          spell(getElementTypeOrSelf(op->getOperands().back().getType())));
    Sizes sizes = broadcastSizes(rewriter, op->getLoc(), op->getOperands());
    SmallVector<AffineMap> maps;
    for (Value operand : op->getOperands())
      maps.push_back(broadcastMap(op->getContext(), tensorType(operand).getShape(), sizes));
    auto body = [&](OpBuilder &builder, Location loc, ValueRange args) { return emitScalar(op, builder, loc, args); };
    Value result = createPointwise(rewriter, op->getLoc(), op->getOperands(), maps, sizes, element, body);
    replaceWithRefined(rewriter, op, result);
    return success();
  }
};

struct ConvertCast : GraphToLinalgPattern<CastOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(CastOp op, PatternRewriter &rewriter) const override {
    return castElements(rewriter, op.getLoc(), op.getInput(), op.getDtype());
  }
};

struct ConvertConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    if (failed(checkTensorTypes(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, cast<TypedAttr>(op.getValue()));
    return success();
  }
};
} // namespace

void inlay::populatePointwisePatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertPointwise, ConvertCast, ConvertConstant>(patterns.getContext());
}

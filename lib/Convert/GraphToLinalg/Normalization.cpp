// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts normalizations to reductions and pointwise generics, in f32 for 16-bit floats.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Casts `args` to `type`.
static SmallVector<Value> castScalars(OpBuilder &builder, Location loc, ValueRange args, Type type) {
  return llvm::map_to_vector(args, [&](Value arg) { return castScalar(builder, loc, arg, type); });
}

/// Computes `(x - mean) * (weight / sqrt(variance + eps)) + bias`. The scale is computed first, because it is invariant
/// in inner loops.
static Value normalize(OpBuilder &builder, Location loc, Value x, Value mean, Value variance, Value weight, Value bias,
                       double eps) {
  Value shifted = arith::AddFOp::create(builder, loc, variance, scalarConstant(builder, loc, x.getType(), eps));
  Value scale = arith::MulFOp::create(builder, loc, math::RsqrtOp::create(builder, loc, shifted), weight);
  Value centered = arith::SubFOp::create(builder, loc, x, mean);
  return arith::AddFOp::create(builder, loc, arith::MulFOp::create(builder, loc, centered, scale), bias);
}

namespace {
struct ConvertBatchNorm : GraphToLinalgPattern<BatchNormOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(BatchNormOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = tensorType(op.getInput());
    Type element = type.getElementType(), wide = accumulatorType(element);
    AffineMap channel = makeMap(op.getContext(), type.getRank(), rewriter.getAffineDimExpr(1));
    AffineMap maps[] = {rewriter.getMultiDimIdentityMap(type.getRank()), channel, channel, channel, channel};
    double eps = op.getEps().convertToDouble();
    return createPointwise(rewriter, loc, op.getOperands(), maps, getSizes(rewriter, loc, op.getInput()), element,
                           [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                             SmallVector<Value> in = castScalars(builder, nestedLoc, args, wide);
                             Value result = normalize(builder, nestedLoc, in[0], in[3], in[4], in[1], in[2], eps);
                             return castScalar(builder, nestedLoc, result, element);
                           });
  }
};

struct ConvertSoftmax : GraphToLinalgPattern<SoftmaxOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(SoftmaxOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = tensorType(op.getInput());
    Type element = type.getElementType(), wide = accumulatorType(element);
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    AffineMap maps[] = {identity, dropLoops(op.getContext(), type.getRank(), dim)};
    Sizes sizes = getSizes(rewriter, loc, op.getInput());
    Value largest = maxDims(rewriter, loc, op.getInput(), dim);
    Value exps = createPointwise(rewriter, loc, {op.getInput(), largest}, maps, sizes, wide,
                                 [&](OpBuilder &builder, Location nestedLoc, ValueRange args) -> Value {
                                   SmallVector<Value> in = castScalars(builder, nestedLoc, args, wide);
                                   Value below = arith::SubFOp::create(builder, nestedLoc, in[0], in[1]);
                                   return math::ExpOp::create(builder, nestedLoc, below);
                                 });
    Value sums = sumDims(rewriter, loc, exps, dim);
    return createPointwise(rewriter, loc, {exps, sums}, maps, sizes, element,
                           [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                             Value share = arith::DivFOp::create(builder, nestedLoc, args[0], args[1]);
                             return castScalar(builder, nestedLoc, share, element);
                           });
  }
};

struct ConvertLayerNorm : GraphToLinalgPattern<LayerNormOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(LayerNormOp op, PatternRewriter &rewriter) const override;
};

struct ConvertGroupNorm : GraphToLinalgPattern<GroupNormOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(GroupNormOp op, PatternRewriter &rewriter) const override;
};

struct ConvertRmsNorm : GraphToLinalgPattern<RmsNormOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(RmsNormOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Returns the sums over `dims` of the squared differences from the mean. `sums` are the sums of the elements and
/// `share` is one over their number.
static Value sumSquares(OpBuilder &builder, Location loc, Value input, Value sums, ArrayRef<AffineMap> maps,
                        ArrayRef<int64_t> dims, Value share, Type wide) {
  return reduceDims(builder, loc, {input, sums}, maps, getSizes(builder, loc, input), dims,
                    builder.getFloatAttr(wide, 0.0),
                    [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
                      Value mean = arith::MulFOp::create(nested, nestedLoc, args[1], share);
                      Value x = castScalar(nested, nestedLoc, args[0], wide);
                      Value centered = arith::SubFOp::create(nested, nestedLoc, x, mean);
                      Value square = arith::MulFOp::create(nested, nestedLoc, centered, centered);
                      return arith::AddFOp::create(nested, nestedLoc, args[2], square);
                    });
}

/// Returns one over the number of elements along `dims`.
static Value createShare(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, Type wide) {
  Value one = scalarConstant(builder, loc, wide, 1.0);
  return arith::DivFOp::create(builder, loc, one, countDims(builder, loc, input, dims, wide));
}

/// Normalizes `input` over `dims`, then scales it by `weight` and adds `bias`, which are both read through `affine`.
static Value normalizeDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, Value weight,
                           Value bias, AffineMap affine, double eps) {
  RankedTensorType type = tensorType(input);
  Type element = type.getElementType(), wide = accumulatorType(element);
  AffineMap whole = builder.getMultiDimIdentityMap(type.getRank()),
            outer = dropLoops(builder.getContext(), type.getRank(), dims);
  Value share = createShare(builder, loc, input, dims, wide);
  Value sums = sumDims(builder, loc, input, dims);
  Value squares = sumSquares(builder, loc, input, sums, {whole, outer}, dims, share, wide);
  return createPointwise(builder, loc, {input, sums, squares, weight, bias}, {whole, outer, outer, affine, affine},
                         getSizes(builder, loc, input), element,
                         [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                           SmallVector<Value> in = castScalars(nested, nestedLoc, args, wide);
                           Value mean = arith::MulFOp::create(nested, nestedLoc, in[1], share);
                           Value variance = arith::MulFOp::create(nested, nestedLoc, in[2], share);
                           Value result = normalize(nested, nestedLoc, in[0], mean, variance, in[3], in[4], eps);
                           return castScalar(nested, nestedLoc, result, element);
                         });
}

FailureOr<Value> ConvertLayerNorm::convert(LayerNormOp op, PatternRewriter &rewriter) const {
  int64_t rank = tensorType(op.getInput()).getRank(), kept = rank - tensorType(op.getWeight()).getRank();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(kept, rank)), leading = llvm::to_vector(llvm::seq<int64_t>(0, kept));
  return normalizeDims(rewriter, op.getLoc(), op.getInput(), dims, op.getWeight(), op.getBias(),
                       dropLoops(op.getContext(), rank, leading), op.getEps().convertToDouble());
}

FailureOr<Value> ConvertGroupNorm::convert(GroupNormOp op, PatternRewriter &rewriter) const {
  if (failed(checkStaticDim(rewriter, op, op.getInput(), 1)))
    return failure();
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  Value input = splitDim(rewriter, loc, op.getInput(), 1, groups);
  int64_t rank = tensorType(input).getRank();
  AffineMap affine = makeMap(op.getContext(), rank, {rewriter.getAffineDimExpr(1), rewriter.getAffineDimExpr(2)});
  Value result = normalizeDims(rewriter, loc, input, llvm::to_vector(llvm::seq<int64_t>(2, rank)),
                               splitDim(rewriter, loc, op.getWeight(), 0, groups),
                               splitDim(rewriter, loc, op.getBias(), 0, groups), affine, op.getEps().convertToDouble());
  return mergeDim(rewriter, loc, result, 1);
}

FailureOr<Value> ConvertRmsNorm::convert(RmsNormOp op, PatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Value input = op.getInput();
  int64_t rank = tensorType(input).getRank(), kept = rank - tensorType(op.getWeight()).getRank();
  Type element = tensorType(input).getElementType(), wide = accumulatorType(element);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(kept, rank)), leading = llvm::to_vector(llvm::seq<int64_t>(0, kept));
  AffineMap whole = rewriter.getMultiDimIdentityMap(rank), outer = dropLoops(op.getContext(), rank, dims),
            inner = dropLoops(op.getContext(), rank, leading);
  Sizes sizes = getSizes(rewriter, loc, input);
  Value share = createShare(rewriter, loc, input, dims, wide);
  Value squares = reduceDims(rewriter, loc, input, whole, sizes, dims, rewriter.getFloatAttr(wide, 0.0),
                             [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                               return multiplyAdd(builder, nestedLoc, {args[0], args[0], args[1]});
                             });
  double eps = op.getEps().convertToDouble();
  return createPointwise(rewriter, loc, {input, squares, op.getWeight()}, {whole, outer, inner}, sizes, element,
                         [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                           SmallVector<Value> in = castScalars(builder, nestedLoc, args, wide);
                           Value mean = arith::MulFOp::create(builder, nestedLoc, in[1], share);
                           mean = arith::AddFOp::create(builder, nestedLoc, mean,
                                                        scalarConstant(builder, nestedLoc, wide, eps));
                           Value scale = math::RsqrtOp::create(builder, nestedLoc, mean);
                           Value result = arith::MulFOp::create(builder, nestedLoc, in[0], scale);
                           result = arith::MulFOp::create(builder, nestedLoc, result, in[2]);
                           return castScalar(builder, nestedLoc, result, element);
                         });
}

void inlay::populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertBatchNorm, ConvertSoftmax, ConvertLayerNorm, ConvertGroupNorm, ConvertRmsNorm>(
      patterns.getContext());
}

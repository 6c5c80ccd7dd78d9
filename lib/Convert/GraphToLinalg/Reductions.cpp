// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts reductions over any dims to a start value and one generic. A reshape adds the kept dims.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

Value inlay::reduceDims(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps,
                        ArrayRef<OpFoldResult> loops, ArrayRef<int64_t> dims, TypedAttr init, ScalarBody body) {
  Sizes sizes;
  for (auto [loop, size] : llvm::enumerate(loops))
    if (!llvm::is_contained(dims, loop))
      sizes.push_back(size);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(dropLoops(builder.getContext(), loops.size(), dims));
  return createReduction(builder, loc, inputs, allMaps, createFilled(builder, loc, sizes, init), body);
}

/// Reduces `input` over `dims` with `join`, starting with `init`. Elements are cast to the type of `init`.
static Value joinDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, TypedAttr init,
                      function_ref<Value(OpBuilder &, Location, Value, Value)> join) {
  return reduceDims(builder, loc, input, builder.getMultiDimIdentityMap(tensorType(input).getRank()),
                    getSizes(builder, loc, input), dims, init,
                    [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                      return join(nested, nestedLoc, args[1], castScalar(nested, nestedLoc, args[0], init.getType()));
                    });
}

Value inlay::sumDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type sum = accumulatorType(tensorType(input).getElementType());
  return joinDims(builder, loc, input, dims, cast<TypedAttr>(builder.getZeroAttr(sum)), addScalars);
}

Value inlay::maxDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  return joinDims(builder, loc, input, dims, lowestValue(tensorType(input).getElementType()), maxScalars);
}

Value inlay::minDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  return joinDims(builder, loc, input, dims, highestValue(tensorType(input).getElementType()), minScalars);
}

Value inlay::countDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, Type type) {
  double known = 1;
  Value open;
  for (int64_t dim : dims) {
    if (!tensorType(input).isDynamicDim(dim)) {
      known *= tensorType(input).getDimSize(dim);
      continue;
    }
    Value size = cast<Value>(getSize(builder, loc, input, dim));
    open = open ? arith::MulIOp::create(builder, loc, open, size).getResult() : size;
  }
  Value count = scalarConstant(builder, loc, type, known);
  if (!open)
    return count;
  open = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), open);
  return arith::MulFOp::create(builder, loc, count, arith::SIToFPOp::create(builder, loc, type, open));
}

Value inlay::keepDims(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> dims, int64_t rank) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  Sizes sizes;
  SmallVector<ReassociationIndices> parts(type.getRank());
  int64_t next = 0; // Dim of the reduced tensor.
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool reduced = llvm::is_contained(dims, dim);
    // A dim of size 1 joins the group of the dim before, or the first group.
    if (!parts.empty())
      parts[reduced ? std::max<int64_t>(next - 1, 0) : next].push_back(dim);
    sizes.push_back(reduced ? OpFoldResult(builder.getIndexAttr(1)) : getSize(builder, loc, value, next));
    shape.push_back(reduced ? 1 : type.getDimSize(next++));
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, parts, sizes);
}

namespace {
/// The pattern of all reductions. `check` refuses unsupported ops. `reduce` returns the tensor without `dims`, of any
/// element type.
template <typename Op>
struct ConvertReduction : GraphToLinalgPattern<Op> {
  using GraphToLinalgPattern<Op>::GraphToLinalgPattern;

  virtual LogicalResult check(Op op, PatternRewriter &rewriter) const = 0;
  virtual Value reduce(Op op, PatternRewriter &rewriter, ArrayRef<int64_t> dims) const = 0;

  FailureOr<Value> convert(Op op, PatternRewriter &rewriter) const final {
    int64_t rank = tensorType(op.getInput()).getRank();
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getDims())
      dims.push_back(*normalizeDim(dim, rank));
    if (failed(check(op, rewriter)))
      return failure();
    Value result = reduce(op, rewriter, dims);
    result = castElements(rewriter, op.getLoc(), result, tensorType(op.getResult()).getElementType());
    return op.getKeepdim() ? keepDims(rewriter, op.getLoc(), result, dims, rank) : result;
  }
};

struct ConvertSum : ConvertReduction<SumOp> {
  using ConvertReduction::ConvertReduction;

  LogicalResult check(SumOp op, PatternRewriter &rewriter) const override {
    return checkElements(rewriter, op, op.getInput(), /*integers=*/true);
  }
  Value reduce(SumOp op, PatternRewriter &rewriter, ArrayRef<int64_t> dims) const override {
    return sumDims(rewriter, op.getLoc(), op.getInput(), dims);
  }
};

struct ConvertMean : ConvertReduction<MeanOp> {
  using ConvertReduction::ConvertReduction;

  LogicalResult check(MeanOp op, PatternRewriter &rewriter) const override {
    return checkElements(rewriter, op, op.getInput(), /*integers=*/false);
  }
  Value reduce(MeanOp op, PatternRewriter &rewriter, ArrayRef<int64_t> dims) const override {
    Value sums = sumDims(rewriter, op.getLoc(), op.getInput(), dims);
    RankedTensorType type = tensorType(sums);
    Value count = countDims(rewriter, op.getLoc(), op.getInput(), dims, type.getElementType());
    Type element = tensorType(op.getInput()).getElementType();
    return createPointwise(rewriter, op.getLoc(), sums, rewriter.getMultiDimIdentityMap(type.getRank()),
                           getSizes(rewriter, op.getLoc(), sums), element,
                           [&](OpBuilder &builder, Location loc, ValueRange args) {
                             Value mean = arith::DivFOp::create(builder, loc, args[0], count);
                             return castScalar(builder, loc, mean, element);
                           });
  }
};

/// The pattern of reductions that combine elements of any type one by one.
template <typename Op>
struct ConvertJoin : ConvertReduction<Op> {
  using Join = Value (*)(OpBuilder &, Location, Value, ArrayRef<int64_t>);
  ConvertJoin(MLIRContext *context, Join join) : ConvertReduction<Op>(context), join(join) {}

  LogicalResult check(Op, PatternRewriter &) const override { return success(); }
  Value reduce(Op op, PatternRewriter &rewriter, ArrayRef<int64_t> dims) const override {
    return join(rewriter, op.getLoc(), op.getInput(), dims);
  }

private:
  Join join;
};
} // namespace

static Value mulDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type element = tensorType(input).getElementType(), product = accumulatorType(element);
  TypedAttr one = isa<FloatType>(product)
                      ? TypedAttr(builder.getFloatAttr(product, 1.0))
                      : TypedAttr(builder.getIntegerAttr(product, APInt(product.getIntOrFloatBitWidth(), 1)));
  return joinDims(builder, loc, input, dims, one, mulScalars);
}

/// Tests if any element, or with `all` every element, differs from zero.
template <bool all>
static Value testDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type boolean = builder.getI1Type();
  return joinDims(builder, loc, input, dims, all ? highestValue(boolean) : lowestValue(boolean),
                  all ? minScalars : maxScalars);
}

void inlay::populateReductionPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertSum, ConvertMean>(context);
  patterns.add<ConvertJoin<AmaxOp>>(context, maxDims);
  patterns.add<ConvertJoin<AminOp>>(context, minDims);
  patterns.add<ConvertJoin<ProdOp>>(context, mulDims);
  patterns.add<ConvertJoin<AllOp>>(context, testDims<true>);
  patterns.add<ConvertJoin<AnyOp>>(context, testDims<false>);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over any dims: a start value and one generic; kept dims are added by a reshape.

#include "Reductions.h"
#include "GraphPattern.h"
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

Value inlay::sumDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(input);
  Type sum = accumulatorType(type.getElementType());
  return reduceDims(builder, loc, input, builder.getMultiDimIdentityMap(type.getRank()),
                    tensor::getMixedSizes(builder, loc, input), dims, cast<TypedAttr>(builder.getZeroAttr(sum)),
                    [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                      return addScalars(nested, nestedLoc, args[1], castScalar(nested, nestedLoc, args[0], sum));
                    });
}

Value inlay::maxDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(input);
  return reduceDims(builder, loc, input, builder.getMultiDimIdentityMap(type.getRank()),
                    tensor::getMixedSizes(builder, loc, input), dims, lowestValue(type.getElementType()),
                    [](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                      return maxScalars(nested, nestedLoc, args[1], args[0]);
                    });
}

Value inlay::countDims(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, Type type) {
  double known = 1;
  Value open;
  for (int64_t dim : dims) {
    if (!tensorType(input).isDynamicDim(dim)) {
      known *= tensorType(input).getDimSize(dim);
      continue;
    }
    Value size = tensor::DimOp::create(builder, loc, input, dim);
    open = open ? arith::MulIOp::create(builder, loc, open, size).getResult() : size;
  }
  Value count = scalarConstant(builder, loc, type, known);
  if (!open)
    return count;
  open = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), open);
  return arith::MulFOp::create(builder, loc, count, arith::SIToFPOp::create(builder, loc, type, open));
}

/// Adds dims of size 1 at `dims` of the `rank` dims that the reduced `value` had.
static Value keepDims(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> dims, int64_t rank) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> parts(type.getRank());
  int64_t next = 0; // the reduced tensor's dim
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool reduced = llvm::is_contained(dims, dim);
    // A dim of size 1 goes with the dim before, those in front with the first.
    if (!parts.empty())
      parts[reduced ? std::max<int64_t>(next - 1, 0) : next].push_back(dim);
    shape.push_back(reduced ? 1 : type.getDimSize(next++));
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, parts);
}

namespace {
/// One pattern for all: `reduce` gives the tensor without the dims, in the accumulator's type, and what it needs.
template <typename Op>
struct ConvertReduction : GraphPattern<Op> {
  using GraphPattern<Op>::GraphPattern;

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
    result = castElements(rewriter, op.getLoc(), result, tensorType(op.getInput()).getElementType());
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
                           tensor::getMixedSizes(rewriter, op.getLoc(), sums), element,
                           [&](OpBuilder &builder, Location loc, ValueRange args) {
                             Value mean = arith::DivFOp::create(builder, loc, args[0], count);
                             return castScalar(builder, loc, mean, element);
                           });
  }
};

struct ConvertAmax : ConvertReduction<AmaxOp> {
  using ConvertReduction::ConvertReduction;

  LogicalResult check(AmaxOp op, PatternRewriter &rewriter) const override { return success(); }
  Value reduce(AmaxOp op, PatternRewriter &rewriter, ArrayRef<int64_t> dims) const override {
    return maxDims(rewriter, op.getLoc(), op.getInput(), dims);
  }
};
} // namespace

void inlay::populateReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertSum, ConvertMean, ConvertAmax>(patterns.getContext());
}

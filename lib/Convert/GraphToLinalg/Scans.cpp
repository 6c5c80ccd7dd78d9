// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts argmax and argmin, and cumulative sums and products.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace inlay;

//===-- Indices of extremes --------------------------------------------------------------------------------------===//

/// Returns true if `value` is the extreme of its dim. NaN is more extreme than any number.
static Value isExtreme(OpBuilder &builder, Location loc, Value value, Value extreme) {
  if (!isa<FloatType>(value.getType()))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value, extreme);
  Value equal = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, extreme);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::OrIOp::create(builder, loc, equal, isNaN);
}

namespace {
/// Returns the lowest index at which the extreme is.
template <typename Op>
struct ConvertArg : GraphToLinalgPattern<Op> {
  using Extreme = Value (*)(OpBuilder &, Location, Value, ArrayRef<int64_t>);
  ConvertArg(MLIRContext *context, Extreme extreme) : GraphToLinalgPattern<Op>(context), extreme(extreme) {}

  FailureOr<Value> convert(Op op, PatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    Value input = op.getInput();
    int64_t rank = tensorType(input).getRank(), dim = *normalizeDim(op.getDim(), rank);
    Value best = extreme(rewriter, loc, input, dim);
    TypedAttr maxIndex = rewriter.getI64IntegerAttr(std::numeric_limits<int64_t>::max());
    AffineMap maps[] = {rewriter.getMultiDimIdentityMap(rank), dropLoops(rewriter.getContext(), rank, dim)};
    auto body = [&](OpBuilder &builder, Location bodyLoc, ValueRange args) -> Value {
      Value index = linalg::IndexOp::create(builder, bodyLoc, dim);
      index = arith::IndexCastOp::create(builder, bodyLoc, builder.getI64Type(), index);
      Value lower = arith::MinSIOp::create(builder, bodyLoc, args[2], index);
      return arith::SelectOp::create(builder, bodyLoc, isExtreme(builder, bodyLoc, args[0], args[1]), lower, args[2]);
    };
    Value place = reduceDims(rewriter, loc, {input, best}, maps, getSizes(rewriter, loc, input), dim, maxIndex, body);
    return op.getKeepdim() ? keepDims(rewriter, loc, place, dim, rank) : place;
  }

private:
  Extreme extreme;
};

//===-- Cumulative sums and products -----------------------------------------------------------------------------===//

using Join = Value (*)(OpBuilder &, Location, Value, Value);

/// Combines each element with the element `distance` before it along `dim`.
Value joinWithEarlier(OpBuilder &builder, Location loc, Value input, int64_t dim, int64_t distance, Join join) {
  RankedTensorType type = tensorType(input);
  auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    SmallVector<Value> indices;
    for (int64_t loop = 0; loop < type.getRank(); ++loop)
      indices.push_back(linalg::IndexOp::create(nested, nestedLoc, loop));
    Value step = arith::ConstantIndexOp::create(nested, nestedLoc, distance);
    Value exists = arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::uge, indices[dim], step);
    Value earlier = arith::SubIOp::create(nested, nestedLoc, indices[dim], step);
    indices[dim] = arith::SelectOp::create(nested, nestedLoc, exists, earlier, indices[dim]);
    Value joined = join(nested, nestedLoc, tensor::ExtractOp::create(nested, nestedLoc, input, indices), args[0]);
    return arith::SelectOp::create(nested, nestedLoc, exists, joined, args[0]);
  };
  return createPointwise(builder, loc, input, builder.getMultiDimIdentityMap(type.getRank()),
                         getSizes(builder, loc, input), type.getElementType(), body);
}

/// Returns the maximum size of dim `dim` of the op's result. Refuses the op if the size is unbounded.
FailureOr<int64_t> getMaxElements(PatternRewriter &rewriter, Operation *op, int64_t dim) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  constexpr int64_t kMax = int64_t(1) << 31; // Each power of two takes a round.
  int64_t maxElements = type.getDimSize(dim);
  if (type.isDynamicDim(dim)) {
    std::optional<SmallVector<AffineExpr>> dims = getDims(op->getResult(0));
    maxElements = dims ? getRange((*dims)[dim], getSymbols(op)).max : std::numeric_limits<int64_t>::max();
  }
  if (maxElements <= kMax)
    return maxElements;
  return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                  "expected a dim of bounded size, but got dim " + Twine(dim) + " of " + spell(type));
}

/// Scans in rounds that double the distance (Hillis and Steele, "Data parallel algorithms", 1986).
template <typename Op>
struct ConvertScan : GraphToLinalgPattern<Op> {
  ConvertScan(MLIRContext *context, Join join) : GraphToLinalgPattern<Op>(context), join(join) {}

  FailureOr<Value> convert(Op op, PatternRewriter &rewriter) const final {
    RankedTensorType type = tensorType(op.getInput());
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    FailureOr<int64_t> maxElements = getMaxElements(rewriter, op, dim);
    if (failed(maxElements))
      return failure();
    Type element = type.getElementType();
    Value value = castElements(rewriter, op.getLoc(), op.getInput(), accumulatorType(element));
    for (int64_t distance = 1; distance < *maxElements; distance *= 2)
      value = joinWithEarlier(rewriter, op.getLoc(), value, dim, distance, join);
    return castElements(rewriter, op.getLoc(), value, element);
  }

private:
  Join join;
};
} // namespace

void inlay::populateScanPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertArg<ArgmaxOp>>(context, maxDims);
  patterns.add<ConvertArg<ArgminOp>>(context, minDims);
  patterns.add<ConvertScan<CumsumOp>>(context, addScalars);
  patterns.add<ConvertScan<CumprodOp>>(context, mulScalars);
}

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

/// Combines the values of all inputs at an earlier position with those at a later position.
using JoinBody = function_ref<Value(OpBuilder &, Location, ValueRange earlier, ValueRange later)>;

/// Combines each element of `inputs` with the element `distance` before it along `dim`. Where no such element
/// exists, the result is the element of the last input.
Value joinWithEarlier(OpBuilder &builder, Location loc, ValueRange inputs, int64_t dim, int64_t distance,
                      JoinBody join) {
  RankedTensorType type = tensorType(inputs.back());
  auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    SmallVector<Value> indices;
    for (int64_t loop = 0; loop < type.getRank(); ++loop)
      indices.push_back(linalg::IndexOp::create(nested, nestedLoc, loop));
    Value step = arith::ConstantIndexOp::create(nested, nestedLoc, distance);
    Value exists = arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::uge, indices[dim], step);
    Value before = arith::SubIOp::create(nested, nestedLoc, indices[dim], step);
    indices[dim] = arith::SelectOp::create(nested, nestedLoc, exists, before, indices[dim]);
    SmallVector<Value> earlier;
    for (Value input : inputs)
      earlier.push_back(tensor::ExtractOp::create(nested, nestedLoc, input, indices));
    Value joined = join(nested, nestedLoc, earlier, args);
    return arith::SelectOp::create(nested, nestedLoc, exists, joined, args.back());
  };
  SmallVector<AffineMap> maps(inputs.size(), builder.getMultiDimIdentityMap(type.getRank()));
  return createPointwise(builder, loc, inputs, maps, getSizes(builder, loc, inputs.back()), type.getElementType(),
                         body);
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

using Join = Value (*)(OpBuilder &, Location, Value, Value);

/// Scans in rounds that double the distance (Hillis and Steele, "Data parallel algorithms", 1986).
Value scan(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t maxElements, Join join) {
  auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange earlier, ValueRange later) {
    return join(nested, nestedLoc, earlier[0], later[0]);
  };
  for (int64_t distance = 1; distance < maxElements; distance *= 2)
    value = joinWithEarlier(builder, loc, value, dim, distance, body);
  return value;
}

/// Returns the rounding error of the sum of two floats (Knuth, "The Art of Computer Programming", volume 2, 4.2.2). It
/// is NaN if the sum is not finite.
Value errorOfSum(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  Value sum = arith::AddFOp::create(builder, loc, lhs, rhs);
  Value ofRhs = arith::SubFOp::create(builder, loc, sum, lhs), ofLhs = arith::SubFOp::create(builder, loc, sum, ofRhs);
  return arith::AddFOp::create(builder, loc, arith::SubFOp::create(builder, loc, lhs, ofLhs),
                               arith::SubFOp::create(builder, loc, rhs, ofRhs));
}

/// Scans a sum like `scan`, and adds the rounding errors of all its additions at the end. PyTorch sums f32 in f64,
/// which some devices lack.
Value scanCompensated(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t maxElements) {
  RankedTensorType type = tensorType(value);
  Type element = type.getElementType();
  Value error = createFilled(builder, loc, getSizes(builder, loc, value), builder.getZeroAttr(element));
  auto addErrors = [](OpBuilder &nested, Location nestedLoc, ValueRange earlier, ValueRange later) -> Value {
    Value made = errorOfSum(nested, nestedLoc, earlier[0], later[0]);
    Value errors = arith::AddFOp::create(nested, nestedLoc, earlier[1], later[1]);
    return arith::AddFOp::create(nested, nestedLoc, errors, made);
  };
  auto addValues = [](OpBuilder &nested, Location nestedLoc, ValueRange earlier, ValueRange later) -> Value {
    return arith::AddFOp::create(nested, nestedLoc, earlier[0], later[0]);
  };
  for (int64_t distance = 1; distance < maxElements; distance *= 2) {
    error = joinWithEarlier(builder, loc, {value, error}, dim, distance, addErrors);
    value = joinWithEarlier(builder, loc, value, dim, distance, addValues);
  }
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  return createPointwise(builder, loc, {value, error}, maps, getSizes(builder, loc, value), element,
                         [](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
                           Value isFinite =
                               arith::CmpFOp::create(nested, nestedLoc, arith::CmpFPredicate::ORD, args[1], args[1]);
                           Value exact = arith::AddFOp::create(nested, nestedLoc, args[0], args[1]);
                           return arith::SelectOp::create(nested, nestedLoc, isFinite, exact, args[0]);
                         });
}

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
    if (std::is_same_v<Op, CumsumOp> && element.isF32())
      return scanCompensated(rewriter, op.getLoc(), op.getInput(), dim, *maxElements);
    Value value = castElements(rewriter, op.getLoc(), op.getInput(), accumulatorType(element));
    value = scan(rewriter, op.getLoc(), value, dim, *maxElements, join);
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

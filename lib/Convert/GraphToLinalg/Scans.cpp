// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts argmax and argmin, and cumulative sums and products.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <tuple>

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

/// Multiplies each element of `value` by the factor of its row along `dim`.
Value scaleRows(OpBuilder &builder, Location loc, Value value, Value factors, int64_t dim) {
  RankedTensorType type = tensorType(value);
  AffineMap maps[] = {builder.getMultiDimIdentityMap(type.getRank()),
                      dropLoops(builder.getContext(), type.getRank(), dim)};
  auto body = [](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    return arith::MulFOp::create(nested, nestedLoc, args[0], args[1]);
  };
  return createPointwise(builder, loc, {value, factors}, maps, getSizes(builder, loc, value), type.getElementType(),
                         body);
}

/// Returns `factor` for each row with a number of size `bound` or more or a NaN, and 1 for each other row. `largest`
/// has the largest size of each row. It is NaN for a row with a NaN, which may have large numbers too.
Value factorsOfLargeRows(OpBuilder &builder, Location loc, Value largest, double bound, double factor) {
  RankedTensorType type = tensorType(largest);
  auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    auto constant = [&](double number) { return scalarConstant(nested, nestedLoc, type.getElementType(), number); };
    Value isLarge = arith::CmpFOp::create(nested, nestedLoc, arith::CmpFPredicate::UGE, args[0], constant(bound));
    return arith::SelectOp::create(nested, nestedLoc, isLarge, constant(factor), constant(1));
  };
  return createPointwise(builder, loc, largest, builder.getMultiDimIdentityMap(type.getRank()),
                         getSizes(builder, loc, largest), type.getElementType(), body);
}

/// Scans sums of floats. The rounds add numbers in another order than from the first to the last. Rows with numbers
/// whose sum in any order may overflow are scaled for the time of the scan.
Value scanFloatSums(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t maxElements) {
  auto scanScaled = [&](Value scaled) {
    return tensorType(value).getElementType().isF32() ? scanCompensated(builder, loc, scaled, dim, maxElements)
                                                      : scan(builder, loc, scaled, dim, maxElements, addScalars);
  };
  if (maxElements <= 2) // The only order.
    return scanScaled(value);
  RankedTensorType type = tensorType(value);
  auto size = [](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    return math::AbsFOp::create(nested, nestedLoc, args[0]);
  };
  Value sizes = createPointwise(builder, loc, value, builder.getMultiDimIdentityMap(type.getRank()),
                                getSizes(builder, loc, value), type.getElementType(), size);
  Value largest = maxDims(builder, loc, sizes, dim);
  int exponent = static_cast<int>(llvm::Log2_64_Ceil(maxElements)) + 1;
  int largestExponent = llvm::APFloat::semanticsMaxExponent(cast<FloatType>(type.getElementType()).getFloatSemantics());
  double bound = std::ldexp(1.0, largestExponent - exponent), down = std::ldexp(1.0, -exponent);
  Value scaled = scaleRows(builder, loc, value, factorsOfLargeRows(builder, loc, largest, bound, down), dim);
  return scaleRows(builder, loc, scanScaled(scaled), factorsOfLargeRows(builder, loc, largest, bound, 1 / down), dim);
}

/// Emits the decomposition of floats into numbers from 1 to 2 and powers of two, and its inverse. Uses only comparisons
/// and products by powers of two, so it needs no integers of the floats' width.
class Decomposition {
public:
  Decomposition(OpBuilder &builder, Location loc, Type type) : b(loc, builder), type(type) {}

  struct Parts {
    Value fraction, exponent;
  };

  /// Returns x as fraction * 2^exponent, both in the type of x. Zeros, infinities and NaN are their own fractions.
  Parts split(Value x) {
    Value exponent = constant(0);
    for (int step = largestStep(); step >= 1; step /= 2)
      std::tie(x, exponent) = shiftIf(compare(CmpFPredicate::OGE, absolute(x), power(step)), x, exponent, step);
    auto isSmall = [&](int step) { return compare(CmpFPredicate::OLT, absolute(x), power(1 - step)); };
    // The exponents of subnormal numbers are below -2 * largestStep().
    std::tie(x, exponent) = shiftIf(isSmall(largestStep()), x, exponent, -largestStep());
    for (int step = largestStep(); step >= 1; step /= 2)
      std::tie(x, exponent) = shiftIf(isSmall(step), x, exponent, -step);
    return {x, exponent};
  }

  /// Returns the product of two numbers, both given and returned as fraction and exponent.
  Parts multiply(Parts lhs, Parts rhs) {
    Value product = arith::MulFOp::create(b, lhs.fraction, rhs.fraction);
    Value exponent = arith::AddFOp::create(b, lhs.exponent, rhs.exponent);
    auto [fraction, shifted] =
        shiftIf(compare(CmpFPredicate::OGE, absolute(product), constant(2)), product, exponent, 1);
    return {fraction, shifted};
  }

  /// Returns fraction * 2^exponent, rounded once.
  Value join(Parts parts) {
    int most = 4 * largestStep() - 1; // Such a power of two overflows, and its inverse becomes 0.
    Value size = arith::MinimumFOp::create(b, absolute(parts.exponent), constant(most));
    Value digits = arith::FPToSIOp::create(b, b.getI32Type(), size);
    Value isNegative = compare(CmpFPredicate::OLT, parts.exponent, constant(0)), x = parts.fraction;
    // From the smallest step to the largest, so that only one product is subnormal and inexact.
    for (int digit = 1; digit <= 2 * largestStep(); digit *= 2) {
      int step = std::min(digit, largestStep());
      Value factor = select(isNegative, power(-step), power(step));
      Value scaled = arith::MulFOp::create(b, x, factor);
      if (digit > step)
        scaled = arith::MulFOp::create(b, scaled, factor);
      Value bit = arith::AndIOp::create(b, digits, arith::ConstantIntOp::create(b, b.getI32Type(), digit));
      Value isSet =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, arith::ConstantIntOp::create(b, b.getI32Type(), 0));
      x = select(isSet, scaled, x);
    }
    return x;
  }

private:
  using CmpFPredicate = arith::CmpFPredicate;

  /// Half of the power of two above the largest exponent of the type.
  int largestStep() const { return type.isF64() ? 512 : 64; }
  Value constant(double value) { return scalarConstant(b, b.getLoc(), type, value); }
  Value power(int exponent) { return constant(std::ldexp(1.0, exponent)); }
  Value absolute(Value x) { return math::AbsFOp::create(b, x); }
  Value compare(CmpFPredicate predicate, Value lhs, Value rhs) { return arith::CmpFOp::create(b, predicate, lhs, rhs); }
  Value select(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }

  /// Moves a power of two from a number to its exponent if `condition` is true.
  std::pair<Value, Value> shiftIf(Value condition, Value x, Value exponent, int step) {
    Value shifted = arith::MulFOp::create(b, x, power(-step));
    Value larger = arith::AddFOp::create(b, exponent, constant(step));
    return {select(condition, shifted, x), select(condition, larger, exponent)};
  }

  ImplicitLocOpBuilder b;
  Type type;
};

/// Scans products of floats. The rounds multiply numbers in another order than from the first to the last, so the
/// exponents are kept apart, where they can't overflow.
Value scanFloatProducts(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t maxElements) {
  if (maxElements <= 2) // The only order.
    return scan(builder, loc, value, dim, maxElements, mulScalars);
  RankedTensorType type = tensorType(value);
  Type element = type.getElementType();
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  auto transform = [&](ValueRange inputs, ScalarBody body) {
    SmallVector<AffineMap> maps(inputs.size(), identity);
    return createPointwise(builder, loc, inputs, maps, getSizes(builder, loc, value), element, body);
  };
  Value fraction = transform(value, [&](OpBuilder &nested, Location at, ValueRange args) {
    return Decomposition(nested, at, element).split(args[0]).fraction;
  });
  Value exponent = transform(value, [&](OpBuilder &nested, Location at, ValueRange args) {
    return Decomposition(nested, at, element).split(args[0]).exponent;
  });
  // The result of `joinWithEarlier` starts with its last input.
  auto fractions = [&](OpBuilder &nested, Location at, ValueRange earlier, ValueRange later) {
    return Decomposition(nested, at, element).multiply({earlier[1], earlier[0]}, {later[1], later[0]}).fraction;
  };
  auto exponents = [&](OpBuilder &nested, Location at, ValueRange earlier, ValueRange later) {
    return Decomposition(nested, at, element).multiply({earlier[0], earlier[1]}, {later[0], later[1]}).exponent;
  };
  for (int64_t distance = 1; distance < maxElements; distance *= 2) {
    Value joined = joinWithEarlier(builder, loc, {exponent, fraction}, dim, distance, fractions);
    exponent = joinWithEarlier(builder, loc, {fraction, exponent}, dim, distance, exponents);
    fraction = joined;
  }
  return transform({fraction, exponent}, [&](OpBuilder &nested, Location at, ValueRange args) {
    return Decomposition(nested, at, element).join({args[0], args[1]});
  });
}

template <typename Op>
struct ConvertScan : GraphToLinalgPattern<Op> {
  using Scan = Value (*)(OpBuilder &, Location, Value, int64_t dim, int64_t maxElements);
  ConvertScan(MLIRContext *context, Join join, Scan floats)
      : GraphToLinalgPattern<Op>(context), join(join), floats(floats) {}

  FailureOr<Value> convert(Op op, PatternRewriter &rewriter) const final {
    RankedTensorType type = tensorType(op.getInput());
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    FailureOr<int64_t> maxElements = getMaxElements(rewriter, op, dim);
    if (failed(maxElements))
      return failure();
    Location loc = op.getLoc();
    Type element = type.getElementType();
    if (!isa<FloatType>(element)) // Sums and products modulo a power of two don't depend on the order.
      return scan(rewriter, loc, op.getInput(), dim, *maxElements, join);
    Value value = castElements(rewriter, loc, op.getInput(), accumulatorType(element));
    return castElements(rewriter, loc, floats(rewriter, loc, value, dim, *maxElements), element);
  }

private:
  Join join;
  Scan floats;
};
} // namespace

void inlay::populateScanPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertArg<ArgmaxOp>>(context, maxDims);
  patterns.add<ConvertArg<ArgminOp>>(context, minDims);
  patterns.add<ConvertScan<CumsumOp>>(context, addScalars, scanFloatSums);
  patterns.add<ConvertScan<CumprodOp>>(context, mulScalars, scanFloatProducts);
}

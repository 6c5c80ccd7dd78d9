// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts pooling to padding and one generic over the windows. For means, a second generic divides by the number of
// elements of each window.

#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Combines the elements of each window into the elements of `init`. A tensor without contents gives the kernel loops
/// their sizes.
static Value poolWindows(OpBuilder &builder, Location loc, Value input, const Window &window, TypedAttr init,
                         ArrayRef<OpFoldResult> sizes, ScalarBody body) {
  unsigned spatial = window.kernel.size(), outer = spatial + 2, loops = outer + spatial;
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> reads{builder.getAffineDimExpr(0), builder.getAffineDimExpr(1)}, kernel, writes(reads);
  for (unsigned i = 0; i < spatial; ++i) {
    AffineExpr output = builder.getAffineDimExpr(i + 2), position = builder.getAffineDimExpr(outer + i);
    reads.push_back(window.locate(i, output, position));
    kernel.push_back(position);
    writes.push_back(output);
  }
  Value shape = tensor::EmptyOp::create(builder, loc, window.kernel, tensorType(input).getElementType());
  Value start = createFilled(builder, loc, sizes, init);
  return createReduction(
      builder, loc, {input, shape},
      {makeMap(context, loops, reads), makeMap(context, loops, kernel), makeMap(context, loops, writes)}, start, body);
}

/// Returns the window of `op`. Refuses the op if the number of windows is unknown.
template <typename Op>
static FailureOr<Window> getWindow(Op op, ArrayRef<int64_t> dilation, PatternRewriter &rewriter) {
  SmallVector<int64_t> outputs(inferResultType(op).getShape().drop_front(2));
  if (op.getCeilMode() && llvm::any_of(outputs, ShapedType::isDynamic))
    return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                    "expected static spatial dims in ceil mode, but got " + spell(op.getInput().getType()));
  Window window{op.getKernel(), op.getStride(), op.getPadding(), dilation, outputs};
  if (failed(window.checkPadded(rewriter, op, op.getInput())))
    return failure();
  return window;
}

/// Returns the sizes of the pooled tensor.
static Sizes getPooledSizes(OpBuilder &builder, Location loc, Value input, const Window &window) {
  Sizes sizes{getSize(builder, loc, input, 0), getSize(builder, loc, input, 1)};
  sizes.append(window.getOutputSizes(builder, loc, input));
  return sizes;
}

namespace {
struct ConvertMaxPool : GraphToLinalgPattern<MaxPoolOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(MaxPoolOp op, PatternRewriter &rewriter) const override {
    FailureOr<Window> window = getWindow(op, op.getDilation(), rewriter);
    if (failed(window))
      return failure();
    Location loc = op.getLoc();
    TypedAttr lowest = lowestValue(tensorType(op.getInput()).getElementType());
    Sizes sizes = getPooledSizes(rewriter, loc, op.getInput(), *window);
    Value padded = window->pad(rewriter, loc, op.getInput(), lowest);
    return poolWindows(rewriter, loc, padded, *window, lowest, sizes,
                       [](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                         return maxScalars(builder, nestedLoc, args[2], args[0]);
                       });
  }
};

struct ConvertAvgPool : GraphToLinalgPattern<AvgPoolOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(AvgPoolOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Returns true if windows have different numbers of counted elements, because some reach elements that are not
/// counted: elements beyond the padding in ceil mode, and the padding itself unless it is included.
static bool hasPartialWindows(AvgPoolOp op, const Window &window) {
  for (unsigned i = 0; i < window.kernel.size(); ++i) {
    int64_t high = window.getHighPadding(i, tensorType(op.getInput()).getDimSize(i + 2));
    if (op.getCountIncludePad() ? high > window.padding[i] : high > 0 || window.padding[i] > 0)
      return true;
  }
  return false;
}

/// Emits the number of elements that the window at the loop indices averages, as a float of type `type`.
static Value countElements(OpBuilder &builder, Location loc, AvgPoolOp op, const Window &window,
                           ArrayRef<OpFoldResult> inputSizes, Type type) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
  Value count;
  for (unsigned i = 0; i < window.kernel.size(); ++i) {
    // Counts from `start` to `end` within the input, including its padding if that counts.
    int64_t counted = op.getCountIncludePad() ? window.padding[i] : 0;
    Value output = linalg::IndexOp::create(builder, loc, i + 2);
    Value scaled = arith::MulIOp::create(builder, loc, output, index(window.stride[i]));
    Value start = arith::SubIOp::create(builder, loc, scaled, index(window.padding[i]));
    Value end = arith::AddIOp::create(builder, loc, start, index(window.kernel[i]));
    Value size = getValueOrCreateConstantIndexOp(builder, loc, inputSizes[i + 2]);
    Value limit = arith::AddIOp::create(builder, loc, size, index(counted));
    start = arith::MaxSIOp::create(builder, loc, start, index(-counted));
    end = arith::MinSIOp::create(builder, loc, end, limit);
    Value length = arith::SubIOp::create(builder, loc, end, start);
    count = count ? arith::MulIOp::create(builder, loc, count, length).getResult() : length;
  }
  count = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), count);
  return arith::SIToFPOp::create(builder, loc, type, count);
}

FailureOr<Value> ConvertAvgPool::convert(AvgPoolOp op, PatternRewriter &rewriter) const {
  if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/false)))
    return failure();
  SmallVector<int64_t> dilation(op.getKernel().size(), 1);
  FailureOr<Window> window = getWindow(op, dilation, rewriter);
  if (failed(window))
    return failure();
  Location loc = op.getLoc();
  Type element = tensorType(op.getInput()).getElementType(), sum = accumulatorType(element);
  Sizes inputSizes = getSizes(rewriter, loc, op.getInput());
  Sizes sizes = getPooledSizes(rewriter, loc, op.getInput(), *window);
  Value padded = window->pad(rewriter, loc, op.getInput(), rewriter.getFloatAttr(element, 0.0));
  Value sums =
      poolWindows(rewriter, loc, padded, *window, rewriter.getFloatAttr(sum, 0.0), sizes,
                  [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                    return addScalars(builder, nestedLoc, args[2], castScalar(builder, nestedLoc, args[0], sum));
                  });
  bool partial = hasPartialWindows(op, *window);
  double whole = 1;
  for (int64_t size : window->kernel)
    whole *= size;
  return createPointwise(rewriter, loc, sums, rewriter.getMultiDimIdentityMap(sizes.size()), sizes, element,
                         [&](OpBuilder &builder, Location nestedLoc, ValueRange args) {
                           Value count = partial ? countElements(builder, nestedLoc, op, *window, inputSizes, sum)
                                                 : scalarConstant(builder, nestedLoc, sum, whole);
                           Value mean = arith::DivFOp::create(builder, nestedLoc, args[0], count);
                           return castScalar(builder, nestedLoc, mean, element);
                         });
}

void inlay::populatePoolingPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertMaxPool, ConvertAvgPool>(patterns.getContext());
}

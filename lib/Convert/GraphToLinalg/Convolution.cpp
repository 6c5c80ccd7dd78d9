// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a convolution to padding and one direct generic of any rank, stride, dilation and number of groups. A
// transposed convolution becomes a convolution of the spread-out input with the reversed kernel.

#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Merges the kernel dims of size 1, starting at dim `first`, into the dim before. They then need no loops, and a
/// pointwise convolution becomes a plain product.
static Value dropUnitKernel(OpBuilder &builder, Location loc, Value weight, int64_t first) {
  SmallVector<ReassociationIndices> parts;
  RankedTensorType type = tensorType(weight);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (i >= first && type.getDimSize(i) == 1)
      parts.back().push_back(i);
    else
      parts.push_back({i});
  }
  if (static_cast<int64_t>(parts.size()) == type.getRank())
    return weight;
  return tensor::CollapseShapeOp::create(builder, loc, weight, parts);
}

namespace {
/// The indexing maps under the loops (batch, [group,] output channel, spatial..., input channel, kernel...).
struct ConvolutionMaps {
  ConvolutionMaps(MLIRContext *context, const Window &window, bool grouped);

  AffineMap input, result;
  AffineMap weight; ///< Map of the weight with all its dims.
  AffineMap narrow; ///< Map of the weight without the kernel dims of size 1.
  AffineMap bias;   ///< Map of the bias under the parallel loops.
};
} // namespace

ConvolutionMaps::ConvolutionMaps(MLIRContext *context, const Window &window, bool grouped) {
  unsigned loops = 0;
  auto nextLoop = [&]() { return getAffineDimExpr(loops++, context); };
  AffineExpr batch = nextLoop();
  SmallVector<AffineExpr> reads{batch}, weights, narrowed, writes{batch};
  if (grouped) {
    AffineExpr group = nextLoop();
    for (auto *exprs : {&reads, &weights, &writes})
      exprs->push_back(group);
  }
  AffineExpr channel = nextLoop();
  weights.push_back(channel);
  writes.push_back(channel);
  SmallVector<AffineExpr> biases(weights);
  SmallVector<AffineExpr> outputs;
  for (size_t i = 0; i < window.kernel.size(); ++i)
    outputs.push_back(nextLoop());
  writes.append(outputs);
  unsigned parallel = loops;
  AffineExpr inputChannel = nextLoop();
  reads.push_back(inputChannel);
  weights.push_back(inputChannel);
  narrowed = weights;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    AffineExpr position = getAffineConstantExpr(0, context);
    if (window.kernel[i] != 1)
      narrowed.push_back(position = nextLoop());
    weights.push_back(position);
    reads.push_back(window.locate(i, outputs[i], position));
  }
  input = makeMap(context, loops, reads);
  weight = makeMap(context, loops, weights);
  narrow = makeMap(context, loops, narrowed);
  result = makeMap(context, loops, writes);
  bias = makeMap(context, parallel, biases);
}

namespace {
struct ConvertConv : GraphToLinalgPattern<ConvOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType weightType = tensorType(op.getWeight());
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    if (!weightType.hasStaticShape())
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected a weight with static dims, but got " + spell(weightType));
    bool grouped = op.getGroups() != 1;
    for (auto [operand, dim] : {std::pair<Value, int64_t>{op.getInput(), 1}, {op.getBias(), 0}})
      if (grouped && operand && tensorType(operand).isDynamicDim(dim))
        return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                        "expected static channels for a grouped convolution, but got " + spell(operand.getType()));
    Window window{weightType.getShape().drop_front(2), op.getStride(), op.getPadding(), op.getDilation(),
                  SmallVector<int64_t>(inferResultType(op).getShape().drop_front(2))};
    if (failed(window.checkPadded(rewriter, op, op.getInput())))
      return failure();
    return emit(op, rewriter, window, grouped);
  }

private:
  static Value emit(ConvOp op, PatternRewriter &rewriter, const Window &window, bool grouped);
};
} // namespace

Value ConvertConv::emit(ConvOp op, PatternRewriter &rewriter, const Window &window, bool grouped) {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  Type element = tensorType(op.getInput()).getElementType(), sum = accumulatorType(element);
  RankedTensorType weightType = tensorType(op.getWeight());
  Value input = window.pad(rewriter, loc, op.getInput(), cast<TypedAttr>(rewriter.getZeroAttr(element)));
  Value weight = op.getWeight(), bias = op.getBias();
  Sizes sizes{getSize(rewriter, loc, input, 0)};
  if (grouped) {
    input = splitDim(rewriter, loc, input, 1, groups);
    weight = splitDim(rewriter, loc, weight, 0, groups);
    bias = bias ? splitDim(rewriter, loc, bias, 0, groups) : bias;
    sizes.push_back(rewriter.getIndexAttr(groups));
  }
  sizes.push_back(rewriter.getIndexAttr(weightType.getDimSize(0) / groups));
  sizes.append(window.getOutputSizes(rewriter, loc, op.getInput()));

  ConvolutionMaps maps(op.getContext(), window, grouped);
  AffineMap weightMap = maps.weight;
  Value source = readUnpermuted(weight, weightMap);
  if (source == weight) {
    source = dropUnitKernel(rewriter, loc, weight, grouped ? 3 : 2);
    weightMap = maps.narrow;
  }
  Value init = createStart(rewriter, loc, bias, maps.bias, sizes, sum);
  AffineMap allMaps[] = {maps.input, weightMap, maps.result};
  Value result = createReduction(rewriter, loc, {input, source}, allMaps, init, multiplyAdd);
  result = castElements(rewriter, loc, result, element);
  return grouped ? mergeDim(rewriter, loc, result, 1) : result;
}

//===-- Transposed ----------------------------------------------------------------------------------------------===//

/// Returns the indexing maps of a transposed convolution under the loops (batch, group, output channel, spatial...,
/// input channel, kernel...). The input has been spread out, so this is a convolution of stride 1 with the reversed
/// kernel.
static SmallVector<AffineMap> makeTransposedMaps(MLIRContext *context, const Window &window) {
  unsigned spatial = window.kernel.size(), channel = 3 + spatial, loops = channel + 1 + spatial;
  auto loop = [&](unsigned number) { return getAffineDimExpr(number, context); };
  SmallVector<AffineExpr> reads{loop(0), loop(1), loop(channel)}, weights{loop(1), loop(channel), loop(2)},
      writes{loop(0), loop(1), loop(2)};
  for (unsigned i = 0; i < spatial; ++i) {
    AffineExpr output = loop(3 + i), position = loop(channel + 1 + i);
    // The input's map reverses the kernel, because each loop must index a dim of some operand directly.
    reads.push_back(output + (window.kernel[i] - 1 - position) * window.dilation[i]);
    weights.push_back(position);
    writes.push_back(output);
  }
  return {makeMap(context, loops, reads), makeMap(context, loops, weights), makeMap(context, loops, writes)};
}

/// Returns the input with its elements `stride` apart and zeros between and around them. Windows of stride 1 over it
/// yield the output.
static Value spreadInput(OpBuilder &builder, Location loc, Value input, const Window &window) {
  RankedTensorType type = tensorType(input);
  Sizes sizes{getSize(builder, loc, input, 0), builder.getIndexAttr(type.getDimSize(1))};
  for (size_t i = 0; i < window.kernel.size(); ++i)
    sizes.push_back(builder.getIndexAttr(window.outputs[i] + window.dilation[i] * (window.kernel[i] - 1)));
  auto read = [&](OpBuilder &nested, Location nestedLoc, ValueRange) -> Value {
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(nested, nestedLoc, value).getResult(); };
    SmallVector<Value> at{linalg::IndexOp::create(nested, nestedLoc, 0), linalg::IndexOp::create(nested, nestedLoc, 1)};
    Value inside;
    for (size_t i = 0; i < window.kernel.size(); ++i) {
      int64_t before = window.dilation[i] * (window.kernel[i] - 1) - window.padding[i];
      Value place = linalg::IndexOp::create(nested, nestedLoc, i + 2);
      place = arith::SubIOp::create(nested, nestedLoc, place, index(before));
      // Unsigned, so that positions before the start compare as beyond the end.
      Value element = arith::DivUIOp::create(nested, nestedLoc, place, index(window.stride[i]));
      Value rest = arith::RemUIOp::create(nested, nestedLoc, place, index(window.stride[i]));
      Value whole = arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::eq, rest, index(0));
      Value fits =
          arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::ult, element, index(type.getDimSize(i + 2)));
      fits = arith::AndIOp::create(nested, nestedLoc, fits, whole);
      at.push_back(arith::SelectOp::create(nested, nestedLoc, fits, element, index(0)));
      inside = inside ? arith::AndIOp::create(nested, nestedLoc, inside, fits).getResult() : fits;
    }
    Value element = tensor::ExtractOp::create(nested, nestedLoc, input, at);
    Value zero = scalarConstant(nested, nestedLoc, type.getElementType(), 0);
    return arith::SelectOp::create(nested, nestedLoc, inside, element, zero);
  };
  return createPointwise(builder, loc, {}, {}, sizes, type.getElementType(), read);
}

namespace {
struct ConvertConvTranspose : GraphToLinalgPattern<ConvTransposeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    for (int64_t dim = 1, rank = tensorType(op.getInput()).getRank(); dim < rank;
         ++dim) // Only the batch may be dynamic.
      if (failed(checkStaticDim(rewriter, op, op.getInput(), dim)))
        return failure();
    for (int64_t dim = 0, rank = tensorType(op.getWeight()).getRank(); dim < rank; ++dim)
      if (failed(checkStaticDim(rewriter, op, op.getWeight(), dim)))
        return failure();
    Location loc = op.getLoc();
    RankedTensorType weightType = tensorType(op.getWeight()), result = inferResultType(op);
    int64_t groups = op.getGroups();
    Type sum = accumulatorType(result.getElementType());
    Window window{weightType.getShape().drop_front(2), op.getStride(), op.getPadding(), op.getDilation(),
                  SmallVector<int64_t>(result.getShape().drop_front(2))};
    Value input = splitDim(rewriter, loc, spreadInput(rewriter, loc, op.getInput(), window), 1, groups);
    Value weight = splitDim(rewriter, loc, op.getWeight(), 0, groups), bias = op.getBias();
    bias = bias ? splitDim(rewriter, loc, bias, 0, groups) : bias;
    Sizes sizes{getSize(rewriter, loc, op.getInput(), 0), rewriter.getIndexAttr(groups),
                rewriter.getIndexAttr(weightType.getDimSize(1))};
    for (int64_t size : window.outputs)
      sizes.push_back(rewriter.getIndexAttr(size));
    AffineExpr group = rewriter.getAffineDimExpr(1), channel = rewriter.getAffineDimExpr(2);
    Value init = createStart(rewriter, loc, bias, makeMap(op.getContext(), sizes.size(), {group, channel}), sizes, sum);
    SmallVector<AffineMap> maps = makeTransposedMaps(op.getContext(), window);
    Value value = createReduction(rewriter, loc, {input, weight}, maps, init, multiplyAdd);
    return mergeDim(rewriter, loc, castElements(rewriter, loc, value, result.getElementType()), 1);
  }
};
} // namespace

void inlay::populateConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertConv, ConvertConvTranspose>(patterns.getContext());
}

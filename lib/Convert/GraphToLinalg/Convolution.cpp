// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolution: the input padded, then one direct generic of any rank, stride, dilation and number of groups.

#include "Window.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Splits dim `dim` into `groups` times the rest.
static Value splitDim(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t groups) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> parts;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    int64_t next = shape.size();
    parts.push_back({next});
    if (static_cast<int64_t>(i) == dim) {
      parts.back().push_back(next + 1);
      shape.push_back(groups);
    }
    shape.push_back(static_cast<int64_t>(i) == dim ? size / groups : size);
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, parts);
}

/// Merges dim `dim` with the next one.
static Value mergeDim(OpBuilder &builder, Location loc, Value value, int64_t dim) {
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i < tensorType(value).getRank(); ++i) {
    if (i == dim + 1)
      parts.back().push_back(i);
    else
      parts.push_back({i});
  }
  return tensor::CollapseShapeOp::create(builder, loc, value, parts);
}

/// Merges the kernel's dims of size 1, from dim `first` on, into the dim before, so that they need no loops and a
/// pointwise convolution is a plain product.
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
/// How the loops (batch, [group,] output channel, spatial..., input channel, kernel...) read and write.
struct ConvolutionMaps {
  ConvolutionMaps(MLIRContext *context, const Window &window, bool grouped);

  AffineMap input, weight, result;
  AffineMap bias; ///< under the parallel loops alone
};
} // namespace

ConvolutionMaps::ConvolutionMaps(MLIRContext *context, const Window &window, bool grouped) {
  unsigned loops = 0;
  auto nextLoop = [&]() { return getAffineDimExpr(loops++, context); };
  AffineExpr batch = nextLoop();
  SmallVector<AffineExpr> reads{batch}, weights, writes{batch};
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
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    AffineExpr position = getAffineConstantExpr(0, context);
    if (window.kernel[i] != 1)
      weights.push_back(position = nextLoop());
    reads.push_back(window.locate(i, outputs[i], position));
  }
  input = makeMap(context, loops, reads);
  weight = makeMap(context, loops, weights);
  result = makeMap(context, loops, writes);
  bias = makeMap(context, parallel, biases);
}

namespace {
struct ConvertConv : GraphPattern<ConvOp> {
  using GraphPattern::GraphPattern;

  FailureOr<Value> convert(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType weightType = tensorType(op.getWeight());
    if (failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    if (!weightType.hasStaticShape())
      return rejectOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected a weight of static dims, but got " + spell(weightType));
    bool grouped = op.getGroups() != 1;
    for (auto [operand, dim] : {std::pair<Value, int64_t>{op.getInput(), 1}, {op.getBias(), 0}})
      if (grouped && operand && tensorType(operand).isDynamicDim(dim))
        return rejectOp(rewriter, op, ReasonCode::UnsupportedShape,
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
  Sizes sizes{tensor::getMixedSize(rewriter, loc, input, 0)};
  if (grouped) {
    input = splitDim(rewriter, loc, input, 1, groups);
    weight = splitDim(rewriter, loc, weight, 0, groups);
    bias = bias ? splitDim(rewriter, loc, bias, 0, groups) : bias;
    sizes.push_back(rewriter.getIndexAttr(groups));
  }
  sizes.push_back(rewriter.getIndexAttr(weightType.getDimSize(0) / groups));
  sizes.append(window.getOutputSizes(rewriter, loc, op.getInput()));
  weight = dropUnitKernel(rewriter, loc, weight, grouped ? 3 : 2);

  ConvolutionMaps maps(op.getContext(), window, grouped);
  Value init = createStart(rewriter, loc, bias, maps.bias, sizes, sum);
  AffineMap allMaps[] = {maps.input, maps.weight, maps.result};
  Value result = createReduction(rewriter, loc, {input, weight}, allMaps, init, multiplyAdd);
  result = castElements(rewriter, loc, result, element);
  return grouped ? mergeDim(rewriter, loc, result, 1) : result;
}

void inlay::populateConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertConv>(patterns.getContext());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts layout ops to views if tensor ops can express them, else to one generic or one chain of inserts.

#include "Window.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace inlay;

//===-- Reshape -------------------------------------------------------------------------------------------------===//

namespace {
/// Two shapes, cut into runs of dims that have equal numbers of elements. Collapsing each run of one shape and
/// expanding the results to the runs of the other shape converts one shape to the other.
struct CommonRuns {
  SmallVector<ReassociationIndices> from, to;
  SmallVector<int64_t> sizes;
};

/// The number of elements of a run: a static factor, times the shape's only dynamic dim if the run has it.
struct RunSize {
  bool open = false;
  int64_t known = 1;

  void grow(int64_t dim) {
    open |= ShapedType::isDynamic(dim);
    known *= ShapedType::isDynamic(dim) ? 1 : dim;
  }
  bool operator==(const RunSize &other) const { return open == other.open && known == other.known; }
  bool operator<(const RunSize &other) const { return std::tie(open, known) < std::tie(other.open, other.known); }
};
} // namespace

/// Adds remaining dims of size 1 to the last run. Returns false if there are other remaining dims.
static bool takeRest(ArrayRef<int64_t> shape, size_t next, SmallVectorImpl<ReassociationIndices> &runs) {
  for (; next < shape.size(); ++next) {
    if (shape[next] != 1 || runs.empty())
      return false;
    runs.back().push_back(next);
  }
  return true;
}

/// Returns the finest common runs of two shapes with equal numbers of elements and at most one dynamic dim each, or
/// nullopt if there are none.
static std::optional<CommonRuns> findCommonRuns(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  CommonRuns runs;
  if (from.empty() || to.empty()) // All dims of the other shape are 1 and need no run.
    return runs;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left, right;
    RunSize leftSize, rightSize;
    do {
      bool growLeft = left.empty() || leftSize < rightSize;
      if (growLeft ? i == from.size() : j == to.size())
        return std::nullopt;
      if (growLeft) {
        left.push_back(i);
        leftSize.grow(from[i++]);
      } else {
        right.push_back(j);
        rightSize.grow(to[j++]);
      }
    } while (right.empty() || !(leftSize == rightSize));
    runs.from.push_back(left);
    runs.to.push_back(right);
    runs.sizes.push_back(leftSize.open ? ShapedType::kDynamic : leftSize.known);
  }
  if (!takeRest(from, i, runs.from) || !takeRest(to, j, runs.to))
    return std::nullopt;
  return runs;
}

/// Returns true if each shape has at most one dynamic dim and these dims must be equal: the static dims have the same
/// product.
static bool haveSameCount(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto countStatic = [](ArrayRef<int64_t> shape) {
    int64_t count = 1;
    for (int64_t dim : shape)
      count *= ShapedType::isDynamic(dim) ? 1 : dim;
    return count;
  };
  auto countDynamic = [](ArrayRef<int64_t> shape) { return llvm::count_if(shape, ShapedType::isDynamic); };
  return countDynamic(from) == countDynamic(to) && countDynamic(from) <= 1 && countStatic(from) == countStatic(to);
}

namespace {
struct ConvertReshape : GraphToLinalgPattern<ReshapeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ReshapeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = tensorType(op.getInput()), to = inferResultType(op);
    if (from == to && from.hasStaticShape())
      return op.getInput();
    std::optional<CommonRuns> runs;
    if (haveSameCount(from.getShape(), to.getShape()))
      runs = findCommonRuns(from.getShape(), to.getShape());
    std::optional<Sizes> sizes = findResultSizes(rewriter, op);
    if (!sizes && (!runs || llvm::is_contained(to.getShape(), 0)))
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected dims that follow from the dims of inputs, but got " + spell(to));
    if (llvm::is_contained(to.getShape(), 0))
      return tensor::EmptyOp::create(rewriter, loc, *sizes, to.getElementType()).getResult();
    if (!runs) // Use one run of all dims.
      runs = CommonRuns{{llvm::to_vector(llvm::seq<int64_t>(from.getRank()))},
                        {llvm::to_vector(llvm::seq<int64_t>(to.getRank()))},
                        {ShapedType::kDynamic}};
    RankedTensorType common = from.clone(runs->sizes);
    Value value = op.getInput();
    if (common.getRank() != from.getRank())
      value = tensor::CollapseShapeOp::create(rewriter, loc, common, value, runs->from);
    if (common.getRank() != to.getRank() && sizes)
      return tensor::ExpandShapeOp::create(rewriter, loc, to, value, runs->to, *sizes).getResult();
    if (common.getRank() != to.getRank())
      return tensor::ExpandShapeOp::create(rewriter, loc, to, value, runs->to).getResult();
    return value;
  }
};

//===-- Permute, expand -----------------------------------------------------------------------------------------===//

/// Copies the elements of the input with a generic that reads it through `map`.
Value readThrough(OpBuilder &builder, Location loc, Value input, AffineMap map, ArrayRef<OpFoldResult> sizes) {
  return createPointwise(builder, loc, input, map, sizes, tensorType(input).getElementType(),
                         [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

struct ConvertPermute : GraphToLinalgPattern<PermuteOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(PermuteOp op, PatternRewriter &rewriter) const override {
    int64_t rank = tensorType(op.getInput()).getRank();
    Sizes inputSizes = getSizes(rewriter, op.getLoc(), op.getInput()), sizes;
    SmallVector<AffineExpr> exprs(rank);
    for (auto [loop, dim] : llvm::enumerate(op.getDims())) {
      int64_t from = *normalizeDim(dim, rank);
      exprs[from] = rewriter.getAffineDimExpr(loop);
      sizes.push_back(inputSizes[from]);
    }
    return readThrough(rewriter, op.getLoc(), op.getInput(), makeMap(op.getContext(), rank, exprs), sizes);
  }
};

struct ConvertExpand : GraphToLinalgPattern<ExpandOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ExpandOp op, PatternRewriter &rewriter) const override {
    RankedTensorType input = tensorType(op.getInput());
    int64_t added = op.getShape().size() - input.getRank();
    Sizes inputSizes = getSizes(rewriter, op.getLoc(), op.getInput()), sizes;
    unsigned next = 0;
    for (auto [i, dim] : llvm::enumerate(op.getShape())) {
      if (dim == -1)
        sizes.push_back(inputSizes[i - added]);
      else if (ShapedType::isDynamic(dim))
        sizes.push_back(materializeExpr(rewriter, op.getLoc(), op.getSizes()->getResult(next++)));
      else
        sizes.push_back(rewriter.getIndexAttr(dim));
    }
    AffineMap map = broadcastMap(op.getContext(), input.getShape(), sizes);
    return readThrough(rewriter, op.getLoc(), op.getInput(), map, sizes);
  }
};

//===-- Slice, cat ----------------------------------------------------------------------------------------------===//

/// Returns the start of a slice of a dim with `size` elements. Inference of dims has made sure that it lies in the dim.
OpFoldResult getSliceStart(OpBuilder &builder, SliceOp op, OpFoldResult size) {
  int64_t start = op.getStart();
  if (std::optional<int64_t> known = getConstantIntValue(size); known && !op.getSizes())
    return builder.getIndexAttr(getSliceBounds(start, op.getEnd(), *known).first);
  if (ShapedType::isDynamic(start))
    return materializeExpr(builder, op.getLoc(), op.getSizes()->getResult(0));
  return start < 0 ? addSizes(builder, op.getLoc(), size, builder.getIndexAttr(start)) : builder.getIndexAttr(start);
}

struct ConvertSlice : GraphToLinalgPattern<SliceOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(SliceOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = tensorType(op.getInput());
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    FailureOr<Sizes> sizes = getResultSizes(rewriter, op);
    if (failed(sizes))
      return failure();
    Sizes offsets(type.getRank(), rewriter.getIndexAttr(0)), strides(type.getRank(), rewriter.getIndexAttr(1));
    offsets[dim] = getSliceStart(rewriter, op, getSize(rewriter, op.getLoc(), op.getInput(), dim));
    strides[dim] = rewriter.getIndexAttr(op.getStep());
    return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), op.getInput(), offsets, *sizes, strides).getResult();
  }
};

struct ConvertCat : GraphToLinalgPattern<CatOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(CatOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = inferResultType(op);
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    Location loc = op.getLoc();
    Sizes total = getSizes(rewriter, loc, op.getInputs().front());
    for (auto [size, known] : llvm::zip_equal(total, type.getShape()))
      if (!ShapedType::isDynamic(known))
        size = rewriter.getIndexAttr(known);
    if (type.isDynamicDim(dim)) {
      total[dim] = rewriter.getIndexAttr(0);
      for (Value input : op.getInputs())
        total[dim] = addSizes(rewriter, loc, total[dim], getSize(rewriter, loc, input, dim));
    }
    Sizes offsets(type.getRank(), rewriter.getIndexAttr(0)), strides(type.getRank(), rewriter.getIndexAttr(1));
    Value result = tensor::EmptyOp::create(rewriter, loc, total, type.getElementType());
    for (Value input : op.getInputs()) {
      Sizes sizes = getSizes(rewriter, loc, input);
      result = tensor::InsertSliceOp::create(rewriter, loc, input, result, offsets, sizes, strides);
      offsets[dim] = addSizes(rewriter, loc, offsets[dim], sizes[dim]);
    }
    return result;
  }
};

//===-- Pad, flip, slice scatter --------------------------------------------------------------------------------===//

struct ConvertPad : GraphToLinalgPattern<PadOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(PadOp op, PatternRewriter &rewriter) const override {
    if (op.getSizes())
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected static padding, but got padding that is known only at a call");
    return padWith(rewriter, op.getLoc(), op.getInput(), op.getLow(), op.getHigh(),
                   [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
                     return tensor::ExtractOp::create(builder, loc, op.getValue(), ValueRange());
                   });
  }
};

struct ConvertFlip : GraphToLinalgPattern<FlipOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(FlipOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = tensorType(op.getInput());
    SmallVector<AffineExpr> exprs(rewriter.getMultiDimIdentityMap(type.getRank()).getResults());
    for (int64_t dim : op.getDims()) {
      int64_t normal = *normalizeDim(dim, type.getRank());
      if (failed(checkStaticDim(rewriter, op, op.getInput(), normal)))
        return failure();
      exprs[normal] = type.getDimSize(normal) - 1 - exprs[normal];
    }
    return readThrough(rewriter, op.getLoc(), op.getInput(), makeMap(op.getContext(), type.getRank(), exprs),
                       getSizes(rewriter, op.getLoc(), op.getInput()));
  }
};

/// Returns the start of the slice that `source` fills, or null if the slice is not known to lie in the input.
AffineExpr locateScatter(SliceScatterOp op, ArrayRef<AffineExpr> input, ArrayRef<AffineExpr> source) {
  SmallVector<SymbolAttr> symbols = getSymbols(op);
  int64_t dim = *normalizeDim(op.getDim(), input.size());
  for (auto [i, sizes] : llvm::enumerate(llvm::zip_equal(input, source)))
    if (static_cast<int64_t>(i) != dim && !areEqual(std::get<0>(sizes), std::get<1>(sizes), symbols.size()))
      return nullptr;
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, op.getContext()); };
  if (auto size = dyn_cast<AffineConstantExpr>(input[dim]);
      size && !op.getSizes()) { // inference has checked the bounds
    auto [first, last] = getSliceBounds(op.getStart(), op.getEnd(), size.getValue());
    AffineExpr count = constant(llvm::divideCeil(last - first, static_cast<uint64_t>(op.getStep())));
    return areEqual(count, source[dim], symbols.size()) ? constant(first) : nullptr;
  }
  AffineMap sizes = op.getSizes().value_or(AffineMap());
  unsigned next = 0;
  AffineExpr start = locateBound(op.getStart(), input[dim], sizes, next, symbols);
  AffineExpr end = locateBound(op.getEnd(), input[dim], sizes, next, symbols);
  if (!start || !end || !isAtMost(start, end, symbols))
    return nullptr;
  AffineExpr count = (end - start).ceilDiv(static_cast<int64_t>(op.getStep()));
  return areEqual(count, source[dim], symbols.size()) ? start : nullptr;
}

struct ConvertSliceScatter : GraphToLinalgPattern<SliceScatterOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(SliceScatterOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = tensorType(op.getInput());
    if (llvm::is_contained(tensorType(op.getSource()).getShape(), 0))
      return op.getInput();
    std::optional<SmallVector<AffineExpr>> input = getDims(op.getInput()), source = getDims(op.getSource());
    AffineExpr start = input && source ? locateScatter(op, *input, *source) : AffineExpr();
    if (!start)
      return refuseOp(
          rewriter, op, ReasonCode::UnsupportedShape,
          "expected a slice that is known to lie in the input and to have the dims of the source, but got " +
              spell(type) + " and " + spell(op.getSource().getType()));
    int64_t dim = *normalizeDim(op.getDim(), type.getRank());
    Sizes offsets(type.getRank(), rewriter.getIndexAttr(0)), strides(type.getRank(), rewriter.getIndexAttr(1));
    offsets[dim] = materializeExpr(rewriter, op.getLoc(), start);
    strides[dim] = rewriter.getIndexAttr(op.getStep());
    Sizes sizes = getSizes(rewriter, op.getLoc(), op.getSource());
    return tensor::InsertSliceOp::create(rewriter, op.getLoc(), op.getSource(), op.getInput(), offsets, sizes, strides)
        .getResult();
  }
};
} // namespace

void inlay::populateLayoutPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertReshape, ConvertPermute, ConvertExpand, ConvertSlice, ConvertCat, ConvertPad, ConvertFlip,
               ConvertSliceScatter>(patterns.getContext());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention: products, a softmax over the keys in the accumulator's type, and products again. Rows are divided by their
// sums last, where there is least to divide. Where the scores of all queries are too many to be in memory together,
// some queries are taken at a time.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The operands with leading dims that broadcast: heads that share a key apart from those that don't.
struct Attention {
  Value query, key, value, mask;
  Sizes leading; ///< what the leading dims broadcast to
  Type sum;      ///< what is computed in
  double scale;
  bool isCausal;
  int64_t firstRow = 0; ///< of the queries among all, for those that see keys up to their own

  unsigned batch() const { return leading.size(); }
};

struct ConvertAttention : GraphToLinalgPattern<ScaledDotProductAttentionOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Splits the heads, dim -3, of `value` into `groups` times the rest, or adds a dim of size 1 where there are none.
static Value splitHeads(OpBuilder &builder, Location loc, Value value, int64_t groups) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() < 3)
    return value;
  int64_t dim = type.getRank() - 3;
  return splitDim(builder, loc, value, dim, type.getDimSize(dim) == 1 ? 1 : groups);
}

/// The map by which `value` is read under loops over the leading dims and more, at `first` and `second`.
static AffineMap makeOperandMap(const Attention &attention, Value value, unsigned loops, AffineExpr first,
                                AffineExpr second) {
  MLIRContext *context = value.getContext();
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  AffineMap leading = broadcastMap(context, shape.drop_back(std::min<size_t>(2, shape.size())), attention.leading);
  SmallVector<AffineExpr> exprs(leading.getResults());
  // A mask may have fewer dims, or one of size 1; those of others, of size 1 too, are what loops have their sizes from.
  bool isRepeated = value == attention.mask;
  AffineExpr last[] = {first, second};
  for (size_t i = 2 - std::min<size_t>(2, shape.size()); i < 2; ++i)
    exprs.push_back(isRepeated && shape[shape.size() - 2 + i] == 1 ? getAffineConstantExpr(0, context) : last[i]);
  return makeMap(context, loops, exprs);
}

/// The products of queries and keys, scaled and masked.
static Value createScores(OpBuilder &builder, Location loc, const Attention &attention) {
  unsigned batch = attention.batch(), loops = batch + 3;
  AffineExpr row = builder.getAffineDimExpr(batch), column = builder.getAffineDimExpr(batch + 1),
             inner = builder.getAffineDimExpr(batch + 2);
  Sizes sizes(attention.leading);
  for (Value value : {attention.query, attention.key})
    sizes.push_back(getSize(builder, loc, value, tensorType(value).getRank() - 2));
  Value init = createFilled(builder, loc, sizes, builder.getFloatAttr(attention.sum, 0.0));
  AffineMap maps[] = {makeOperandMap(attention, attention.query, loops, row, inner),
                      makeOperandMap(attention, attention.key, loops, column, inner),
                      dropLoops(builder.getContext(), loops, batch + 2)};
  Value products = createReduction(builder, loc, {attention.query, attention.key}, maps, init, multiplyAdd);

  SmallVector<Value> inputs{products};
  SmallVector<AffineMap> reads{builder.getMultiDimIdentityMap(batch + 2)};
  if (attention.mask) {
    inputs.push_back(attention.mask);
    reads.push_back(makeOperandMap(attention, attention.mask, batch + 2, row, column));
  }
  auto body = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
    Value factor = scalarConstant(nested, nestedLoc, attention.sum, attention.scale);
    Value score = arith::MulFOp::create(nested, nestedLoc, args[0], factor);
    Value seen;
    if (attention.mask && !args[1].getType().isInteger(1))
      return arith::AddFOp::create(nested, nestedLoc, score, castScalar(nested, nestedLoc, args[1], attention.sum));
    if (attention.mask)
      seen = args[1];
    if (attention.isCausal) {
      Value row = linalg::IndexOp::create(nested, nestedLoc, batch);
      if (attention.firstRow)
        row = arith::AddIOp::create(nested, nestedLoc, row,
                                    arith::ConstantIndexOp::create(nested, nestedLoc, attention.firstRow));
      seen = arith::CmpIOp::create(nested, nestedLoc, arith::CmpIPredicate::ule,
                                   linalg::IndexOp::create(nested, nestedLoc, batch + 1), row);
    }
    if (!seen)
      return score;
    Value lowest = arith::ConstantOp::create(nested, nestedLoc, lowestValue(attention.sum));
    return arith::SelectOp::create(nested, nestedLoc, seen, score, lowest);
  };
  return createPointwise(builder, loc, inputs, reads, sizes, attention.sum, body);
}

/// The exponentials of scores less each row's largest; all zeros in a row of minus infinities.
static Value createPowers(OpBuilder &builder, Location loc, const Attention &attention, Value scores) {
  unsigned rank = attention.batch() + 2;
  AffineMap maps[] = {builder.getMultiDimIdentityMap(rank), dropLoops(builder.getContext(), rank, rank - 1)};
  Value largest = maxDims(builder, loc, scores, rank - 1);
  auto type = cast<FloatType>(attention.sum);
  TypedAttr lowestFinite = FloatAttr::get(type, APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true));
  return createPointwise(builder, loc, {scores, largest}, maps, getSizes(builder, loc, scores), type,
                         [&](OpBuilder &nested, Location nestedLoc, ValueRange args) -> Value {
                           Value bound = arith::ConstantOp::create(nested, nestedLoc, lowestFinite);
                           bound = arith::MaximumFOp::create(nested, nestedLoc, args[1], bound);
                           Value below = arith::SubFOp::create(nested, nestedLoc, args[0], bound);
                           return math::ExpOp::create(nested, nestedLoc, below);
                         });
}

/// The values, weighted by `powers` and divided by the sums of those.
static Value createMeans(OpBuilder &builder, Location loc, const Attention &attention, Value powers, Type element) {
  unsigned batch = attention.batch(), loops = batch + 3;
  AffineExpr row = builder.getAffineDimExpr(batch), column = builder.getAffineDimExpr(batch + 1),
             inner = builder.getAffineDimExpr(batch + 2);
  Sizes sizes(attention.leading);
  sizes.push_back(getSize(builder, loc, attention.query, tensorType(attention.query).getRank() - 2));
  sizes.push_back(getSize(builder, loc, attention.value, tensorType(attention.value).getRank() - 1));
  SmallVector<AffineExpr> weights;
  for (unsigned i = 0; i < batch; ++i)
    weights.push_back(builder.getAffineDimExpr(i));
  weights.append({row, inner});
  Value init = createFilled(builder, loc, sizes, builder.getFloatAttr(attention.sum, 0.0));
  AffineMap maps[] = {makeMap(builder.getContext(), loops, weights),
                      makeOperandMap(attention, attention.value, loops, inner, column),
                      dropLoops(builder.getContext(), loops, batch + 2)};
  Value products = createReduction(builder, loc, {powers, attention.value}, maps, init, multiplyAdd);
  Value sums = sumDims(builder, loc, powers, batch + 1);
  // The largest exponential of a row is 1, unless all are 0: then the products are, too.
  auto type = cast<FloatType>(attention.sum);
  TypedAttr smallestNormal = FloatAttr::get(type, APFloat::getSmallestNormalized(type.getFloatSemantics()));
  AffineMap reads[] = {builder.getMultiDimIdentityMap(batch + 2),
                       dropLoops(builder.getContext(), batch + 2, batch + 1)};
  return createPointwise(builder, loc, {products, sums}, reads, sizes, element,
                         [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                           Value bound = arith::ConstantOp::create(nested, nestedLoc, smallestNormal);
                           Value total = arith::MaximumFOp::create(nested, nestedLoc, args[1], bound);
                           Value mean = arith::DivFOp::create(nested, nestedLoc, args[0], total);
                           return castScalar(nested, nestedLoc, mean, element);
                         });
}

static Value createAttention(OpBuilder &builder, Location loc, const Attention &attention, Type element) {
  Value scores = createScores(builder, loc, attention);
  Value powers = createPowers(builder, loc, attention, scores);
  return createMeans(builder, loc, attention, powers, element);
}

//===-- Some queries at a time ----------------------------------------------------------------------------------===//

/// Bytes of the scores that are in memory at a time: half of the buffer that each Vulkan device can bind.
static constexpr int64_t kMaxScoreBytes = int64_t(1) << 26;
/// Each part has kernels of its own.
static constexpr int64_t kMaxParts = 64;

/// How many queries to take at a time; all if a size isn't known.
static int64_t chooseQueries(const Attention &attention) {
  int64_t queries = tensorType(attention.query).getShape().take_back(2).front();
  int64_t keys = tensorType(attention.key).getShape().take_back(2).front();
  int64_t bytes = attention.sum.getIntOrFloatBitWidth() / 8; // of the scores of a query
  for (OpFoldResult size : attention.leading) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || llvm::MulOverflow(bytes, *known, bytes))
      return queries;
  }
  if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys) || llvm::MulOverflow(bytes, keys, bytes) ||
      bytes == 0 || queries <= kMaxScoreBytes / bytes || queries > kMaxParts * (kMaxScoreBytes / bytes))
    return queries;
  return llvm::divideCeil(queries, llvm::divideCeil(queries, kMaxScoreBytes / bytes)); // parts that are nearly alike
}

/// `count` rows of `value` from `first` on; null for null, and all of one that has the same for all rows.
static Value takeRows(OpBuilder &builder, Location loc, Value value, int64_t first, int64_t count) {
  int64_t rank = value ? tensorType(value).getRank() : 0;
  if (rank < 2 || tensorType(value).getDimSize(rank - 2) == 1)
    return value;
  Sizes offsets(rank, builder.getIndexAttr(0)), sizes = getSizes(builder, loc, value);
  Sizes strides(rank, builder.getIndexAttr(1));
  offsets[rank - 2] = builder.getIndexAttr(first);
  sizes[rank - 2] = builder.getIndexAttr(count);
  return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes, strides);
}

/// Attention to which `queries` of its queries are given at a time.
static Value createParts(OpBuilder &builder, Location loc, const Attention &attention, int64_t queries, Type element) {
  int64_t rank = attention.batch() + 2, all = tensorType(attention.query).getShape().take_back(2).front();
  Sizes sizes(attention.leading), offsets(rank, builder.getIndexAttr(0)), strides(rank, builder.getIndexAttr(1));
  sizes.push_back(builder.getIndexAttr(all));
  sizes.push_back(getSize(builder, loc, attention.value, tensorType(attention.value).getRank() - 1));
  Value result = tensor::EmptyOp::create(builder, loc, sizes, element);
  for (int64_t first = 0; first < all; first += queries) {
    int64_t count = std::min(queries, all - first);
    Attention part = attention;
    part.query = takeRows(builder, loc, attention.query, first, count);
    part.mask = takeRows(builder, loc, attention.mask, first, count);
    part.firstRow = first;
    offsets[rank - 2] = builder.getIndexAttr(first);
    sizes[rank - 2] = builder.getIndexAttr(count);
    Value means = createAttention(builder, loc, part, element);
    result = tensor::InsertSliceOp::create(builder, loc, means, result, offsets, sizes, strides);
  }
  return result;
}

//===-- The pattern ---------------------------------------------------------------------------------------------===//

FailureOr<Value> ConvertAttention::convert(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType result = inferResultType(op);
  Type element = result.getElementType();
  Attention attention{op.getQuery(),
                      op.getKey(),
                      op.getValue(),
                      op.getMask(),
                      {},
                      accumulatorType(element),
                      op.getScale().convertToDouble(),
                      op.getIsCausal()};
  if (op.getEnableGqa()) {
    auto heads = [](Value value) { return tensorType(value).getShape().take_back(3).front(); };
    for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
      if (failed(checkStaticDim(rewriter, op, operand, tensorType(operand).getRank() - 3)))
        return failure();
    if (op.getMask() && tensorType(op.getMask()).getRank() >= 3 &&
        failed(checkStaticDim(rewriter, op, op.getMask(), tensorType(op.getMask()).getRank() - 3)))
      return failure();
    int64_t groups = heads(op.getKey());
    if (heads(op.getValue()) != groups)
      return rejectOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected values with as many heads as keys, but got " + spell(op.getValue().getType()) +
                          " and " + spell(op.getKey().getType()));
    for (Value *operand : {&attention.query, &attention.key, &attention.value, &attention.mask})
      *operand = *operand ? splitHeads(rewriter, loc, *operand, groups) : *operand;
  }
  attention.leading = broadcastSizes(rewriter, loc, {attention.query, attention.key, attention.value}, /*dropBack=*/2);
  int64_t queries = chooseQueries(attention);
  bool isWhole = queries == tensorType(attention.query).getShape().take_back(2).front();
  Value means = isWhole ? createAttention(rewriter, loc, attention, element)
                        : createParts(rewriter, loc, attention, queries, element);
  return op.getEnableGqa() ? mergeDim(rewriter, loc, means, result.getRank() - 3) : means;
}

void inlay::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertAttention>(patterns.getContext());
}

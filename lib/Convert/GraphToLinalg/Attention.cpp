// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts attention: products, a softmax over the keys in the accumulator type, and products again. Rows are divided
// by their sums last, where there are the fewest elements. If the scores of all queries need too much memory, attention
// is computed for some queries at a time.

#include "Reductions.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The operands, with leading dims that broadcast. For grouped queries, the heads are split into groups that share a
/// key.
struct Attention {
  Value query, key, value, mask;
  Sizes leading; ///< Sizes to which the leading dims broadcast.
  Type sum;      ///< Type of the computation.
  double scale;
  bool isCausal;
  int64_t firstRow = 0; ///< Number of the first query among all queries, for the causal mask.

  unsigned batch() const { return leading.size(); }
};

struct ConvertAttention : GraphToLinalgPattern<ScaledDotProductAttentionOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Splits the heads, dim -3, of `value` into `groups` and the rest. Adds a dim of size 1 if there is one head, and
/// leaves values without heads.
static Value splitHeads(OpBuilder &builder, Location loc, Value value, int64_t groups) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() < 3)
    return value;
  int64_t dim = type.getRank() - 3;
  return splitDim(builder, loc, value, dim, type.getDimSize(dim) == 1 ? 1 : groups);
}

/// Returns the map by which loops over the leading dims and more read `value`. `first` and `second` index the last two
/// dims.
static AffineMap makeOperandMap(const Attention &attention, Value value, unsigned loops, AffineExpr first,
                                AffineExpr second) {
  MLIRContext *context = value.getContext();
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  AffineMap leading = broadcastMap(context, shape.drop_back(std::min<size_t>(2, shape.size())), attention.leading);
  SmallVector<AffineExpr> exprs(leading.getResults());
  // A mask may have fewer dims, or dims of size 1, that are repeated. Dims of size 1 of other operands are not
  // repeated, because the loops take their sizes from them.
  bool isRepeated = value == attention.mask;
  AffineExpr last[] = {first, second};
  for (size_t i = 2 - std::min<size_t>(2, shape.size()); i < 2; ++i)
    exprs.push_back(isRepeated && shape[shape.size() - 2 + i] == 1 ? getAffineConstantExpr(0, context) : last[i]);
  return makeMap(context, loops, exprs);
}

/// Returns the products of queries and keys, scaled and masked.
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

/// Returns the exponentials of the scores minus the maximum of their row. A row of minus infinities becomes zeros.
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

/// Returns the sums of the values weighted by `powers`, divided by the sums of the weights.
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
  // The largest exponential of a row is 1 unless all are 0. In that case the products are 0, too.
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

//===-- Parts of the queries -------------------------------------------------------------------------------------===//

/// Maximum size in bytes of the scores in memory: half of the buffer size that every Vulkan device supports.
static constexpr int64_t kMaxScoreBytes = int64_t(1) << 26;
/// Each part has separate kernels.
static constexpr int64_t kMaxParts = 64;

/// Returns the number of queries of a part, or all queries if a size is unknown.
static int64_t chooseQueries(const Attention &attention) {
  int64_t queries = tensorType(attention.query).getShape().take_back(2).front();
  int64_t keys = tensorType(attention.key).getShape().take_back(2).front();
  int64_t bytes = attention.sum.getIntOrFloatBitWidth() / 8; // Bytes of the scores of one query.
  for (OpFoldResult size : attention.leading) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || llvm::MulOverflow(bytes, *known, bytes))
      return queries;
  }
  if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys) || llvm::MulOverflow(bytes, keys, bytes) ||
      bytes == 0 || queries <= kMaxScoreBytes / bytes || queries > kMaxParts * (kMaxScoreBytes / bytes))
    return queries;
  return llvm::divideCeil(queries, llvm::divideCeil(queries, kMaxScoreBytes / bytes)); // Parts of nearly equal size.
}

/// Returns `count` rows of `value`, starting with row `first`. Returns `value` if it is null or has the same row for
/// all queries.
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

/// Computes attention for `queries` queries at a time.
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
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts ops that write at indices from tensors to gathers: each element of the result searches for the values that
// are written to it. All elements are independent of each other, and the last write wins on every target.

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

/// Returns true if `raw` is the index of loop `loop`, over a dim of `size`.
static Value isAt(OpBuilder &builder, Location loc, Value raw, OpFoldResult size, unsigned loop, bool fromEnd) {
  Value index = normalizeIndex(builder, loc, raw, size, fromEnd);
  Value at = linalg::IndexOp::create(builder, loc, loop);
  at = arith::IndexCastOp::create(builder, loc, index.getType(), at);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index, at);
}

/// The dims of a tensor, as expressions of `symbols`.
using Dims = SmallVector<AffineExpr>;

/// Returns the dims of each value. Refuses the op if dims are unknown.
static FailureOr<SmallVector<Dims>> getAllDims(PatternRewriter &rewriter, Operation *op, ValueRange values) {
  SmallVector<Dims> all;
  for (Value value : values) {
    std::optional<Dims> dims = getDims(value);
    if (!dims)
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected dims that follow from the dims of inputs, but got " + spell(value.getType()));
    all.push_back(std::move(*dims));
  }
  return all;
}

//===-- Scatter -------------------------------------------------------------------------------------------------===//

/// Combines the value of an element with the next value that is written to it.
static Value combine(OpBuilder &builder, Location loc, std::optional<StringRef> reduce, Value value, Value next) {
  if (!reduce)
    return next;
  if (*reduce == "sum")
    return addScalars(builder, loc, value, next);
  if (*reduce == "prod")
    return mulScalars(builder, loc, value, next);
  if (*reduce == "amax")
    return maxScalars(builder, loc, value, next);
  if (isa<FloatType>(value.getType()))
    return arith::MinimumFOp::create(builder, loc, value, next);
  return arith::MinSIOp::create(builder, loc, value, next);
}

/// Returns the leading elements of each dim, up to `sizes`, or `value` if these are `all` of its elements.
static Value takeFront(OpBuilder &builder, Location loc, Value value, ArrayRef<OpFoldResult> sizes, bool all) {
  if (all)
    return value;
  Sizes zeros(sizes.size(), builder.getIndexAttr(0)), ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, value, zeros, sizes, ones);
}

namespace {
struct ConvertScatter : GraphToLinalgPattern<ScatterOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(ScatterOp op, PatternRewriter &rewriter) const override {
    if (op.getReduce() && failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    FailureOr<SmallVector<Dims>> dims = getAllDims(rewriter, op, op->getOperands());
    if (failed(dims))
      return failure();
    ArrayRef<AffineExpr> inputDims = (*dims)[0], indexDims = (*dims)[1], sourceDims = (*dims)[2];
    Location loc = op.getLoc();
    int64_t rank = inputDims.size(), dim = *normalizeDim(op.getDim(), rank);
    SmallVector<SymbolAttr> symbols = getSymbols(op);
    bool wholeInput = true, wholeSource = true;
    for (int64_t i = 0; i < rank; ++i) {
      if ((i != dim && !isAtMost(indexDims[i], inputDims[i], symbols)) ||
          !isAtMost(indexDims[i], sourceDims[i], symbols))
        return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                        "expected an index that is known to be no larger than input and source, but got " +
                            spell(op.getIndex().getType()));
      wholeInput &= i == dim || areEqual(indexDims[i], inputDims[i], symbols.size());
      wholeSource &= areEqual(indexDims[i], sourceDims[i], symbols.size());
    }
    Type element = tensorType(op.getInput()).getElementType(),
         wide = op.getReduce() ? accumulatorType(element) : element;
    // The region that can be written: all elements along `dim`, and the extent of the index tensor along other dims.
    Sizes indexSizes = getSizes(rewriter, loc, op.getIndex()), region = indexSizes;
    OpFoldResult size = region[dim] = getSize(rewriter, loc, op.getInput(), dim);
    Value source = takeFront(rewriter, loc, op.getSource(), indexSizes, wholeSource);
    Value init = castElements(rewriter, loc, takeFront(rewriter, loc, op.getInput(), region, wholeInput), wide);
    // Loops: dims of the region, then the elements along the index.
    SmallVector<AffineExpr> exprs(rewriter.getMultiDimIdentityMap(rank).getResults());
    exprs[dim] = rewriter.getAffineDimExpr(rank);
    AffineMap read = makeMap(op.getContext(), rank + 1, exprs);
    AffineMap maps[] = {read, read, dropLoops(op.getContext(), rank + 1, rank)};
    Value result = createReduction(rewriter, loc, {op.getIndex(), source}, maps, init,
                                   [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
                                     Value hit = isAt(builder, bodyLoc, args[0], size, dim, /*fromEnd=*/false);
                                     Value next = castScalar(builder, bodyLoc, args[1], wide);
                                     next = combine(builder, bodyLoc, op.getReduce(), args[2], next);
                                     return arith::SelectOp::create(builder, bodyLoc, hit, next, args[2]).getResult();
                                   });
    result = castElements(rewriter, loc, result, element);
    if (wholeInput)
      return result;
    Sizes zeros(rank, rewriter.getIndexAttr(0)), ones(rank, rewriter.getIndexAttr(1));
    return tensor::InsertSliceOp::create(rewriter, loc, result, op.getInput(), zeros, region, ones).getResult();
  }
};

//===-- Index put -----------------------------------------------------------------------------------------------===//

/// An `inlay.index_put`. `places` are the sizes of the dims to which its index tensors broadcast.
struct Put {
  Put(OpBuilder &builder, IndexPutOp op)
      : op(op), input(tensorType(op.getInput())), values(tensorType(op.getValues())),
        inputSizes(getSizes(builder, op.getLoc(), op.getInput())),
        places(broadcastSizes(builder, op.getLoc(), op.getIndices())), first(getIndexedPlace(op.getDims())) {}

  /// Returns the index for each dim of `values`. The dims of a value are the dims of the input that are not indexed,
  /// with the dims of the places inserted at `first`.
  template <typename T>
  SmallVector<T> locateValue(ArrayRef<T> inputDims, ArrayRef<T> atPlaces, T zero) {
    SmallVector<T> all;
    for (int64_t dim = 0; dim < input.getRank(); ++dim)
      if (!llvm::is_contained(op.getDims(), dim))
        all.push_back(inputDims[dim]);
    all.insert(all.begin() + first, atPlaces.begin(), atPlaces.end());
    SmallVector<T> at(ArrayRef<T>(all).take_back(values.getRank()));
    for (auto [i, size] : llvm::enumerate(values.getShape()))
      if (size == 1)
        at[i] = zero;
    return at;
  }

  Value add(OpBuilder &builder);
  Value replace(OpBuilder &builder);

  IndexPutOp op;
  RankedTensorType input, values;
  Sizes inputSizes, places;
  unsigned first;
};
} // namespace

/// Returns true if all `indices` equal the indices of loops `loops`.
static Value isHit(OpBuilder &builder, Location loc, Put &put, ValueRange indices, ArrayRef<int64_t> loops) {
  Value hit;
  for (auto [n, index] : llvm::enumerate(indices)) {
    OpFoldResult size = put.inputSizes[put.op.getDims()[n]];
    Value at = isAt(builder, loc, index, size, loops[n], /*fromEnd=*/true);
    hit = hit ? arith::AndIOp::create(builder, loc, hit, at).getResult() : at;
  }
  return hit;
}

/// Adds to each element the values of all places that index it.
Value Put::add(OpBuilder &builder) {
  Location loc = op.getLoc();
  MLIRContext *context = builder.getContext();
  unsigned rank = input.getRank(), loops = rank + places.size();
  Type element = input.getElementType(), wide = accumulatorType(element);
  SmallVector<AffineExpr> all(builder.getMultiDimIdentityMap(loops).getResults());
  SmallVector<AffineMap> maps;
  for (Value index : op.getIndices())
    maps.push_back(mapIndices(context, tensorType(index).getShape(), loops, rank, places.size()));
  maps.push_back(makeMap(context, loops,
                         locateValue<AffineExpr>(ArrayRef(all).take_front(rank), ArrayRef(all).drop_front(rank),
                                                 builder.getAffineConstantExpr(0))));
  maps.push_back(makeMap(context, loops, ArrayRef(all).take_front(rank)));
  SmallVector<Value> inputs(op.getIndices());
  inputs.push_back(op.getValues());
  Value init = castElements(builder, loc, op.getInput(), wide);
  // The loops over places need sizes, although each index tensor may be repeated along them.
  inputs.push_back(tensor::EmptyOp::create(builder, loc, places, element));
  maps.insert(maps.end() - 1, makeMap(context, loops, ArrayRef(all).drop_front(rank)));
  Value result = createReduction(
      builder, loc, inputs, maps, init, [&](OpBuilder &nested, Location bodyLoc, ValueRange args) -> Value {
        size_t count = op.getDims().size();
        Value hit = isHit(nested, bodyLoc, *this, args.take_front(count), op.getDims());
        Value sum = addScalars(nested, bodyLoc, args.back(), castScalar(nested, bodyLoc, args[count], wide));
        return arith::SelectOp::create(nested, bodyLoc, hit, sum, args.back());
      });
  return castElements(builder, loc, result, element);
}

/// Returns, for each element along the indexed dims, the number of the last place that indexes it, or -1.
static Value findLast(OpBuilder &builder, Put &put) {
  Location loc = put.op.getLoc();
  MLIRContext *context = builder.getContext();
  unsigned count = put.op.getDims().size(), loops = count + put.places.size();
  SmallVector<AffineMap> maps;
  for (Value index : put.op.getIndices())
    maps.push_back(mapIndices(context, tensorType(index).getShape(), loops, count, put.places.size()));
  auto exprs = llvm::to_vector(builder.getMultiDimIdentityMap(loops).getResults());
  SmallVector<Value> inputs(put.op.getIndices());
  inputs.push_back(tensor::EmptyOp::create(builder, loc, put.places, builder.getI32Type()));
  maps.push_back(makeMap(context, loops, ArrayRef(exprs).drop_front(count)));
  maps.push_back(makeMap(context, loops, ArrayRef(exprs).take_front(count)));
  SmallVector<int64_t> dimLoops = llvm::to_vector(llvm::seq<int64_t>(0, count));
  Sizes sizes = llvm::map_to_vector(put.op.getDims(), [&](int64_t dim) { return put.inputSizes[dim]; });
  Value none = createFilled(builder, loc, sizes, builder.getI32IntegerAttr(-1));
  auto body = [&](OpBuilder &nested, Location bodyLoc, ValueRange args) -> Value {
    Value hit = isHit(nested, bodyLoc, put, args.take_front(count), dimLoops), number;
    for (auto [i, size] : llvm::enumerate(put.places)) {
      Value at = linalg::IndexOp::create(nested, bodyLoc, count + i);
      Value extent = getValueOrCreateConstantIndexOp(nested, bodyLoc, size);
      number = number
                   ? arith::AddIOp::create(nested, bodyLoc, arith::MulIOp::create(nested, bodyLoc, number, extent), at)
                         .getResult()
                   : at;
    }
    if (!number)
      number = arith::ConstantIndexOp::create(nested, bodyLoc, 0);
    number = arith::IndexCastOp::create(nested, bodyLoc, nested.getI32Type(), number);
    return arith::SelectOp::create(nested, bodyLoc, hit, number, args.back());
  };
  return createReduction(builder, loc, inputs, maps, none, body);
}

Value Put::replace(OpBuilder &builder) {
  Location loc = op.getLoc();
  Value last = findLast(builder, *this);
  unsigned rank = input.getRank();
  SmallVector<AffineExpr> indexed;
  for (int64_t dim : op.getDims())
    indexed.push_back(builder.getAffineDimExpr(dim));
  AffineMap maps[] = {builder.getMultiDimIdentityMap(rank), makeMap(builder.getContext(), rank, indexed)};
  auto body = [&](OpBuilder &nested, Location bodyLoc, ValueRange args) -> Value {
    Value none = scalarConstant(nested, bodyLoc, nested.getI32Type(), 0);
    Value hit = arith::CmpIOp::create(nested, bodyLoc, arith::CmpIPredicate::sge, args[1], none);
    Value number = arith::MaxSIOp::create(nested, bodyLoc, args[1], none);
    number = arith::IndexCastOp::create(nested, bodyLoc, nested.getIndexType(), number);
    SmallVector<Value> atPlaces(places.size());
    for (size_t i = places.size(); i-- > 0;) {
      Value size = getValueOrCreateConstantIndexOp(nested, bodyLoc, places[i]);
      atPlaces[i] = arith::RemUIOp::create(nested, bodyLoc, number, size);
      number = arith::DivUIOp::create(nested, bodyLoc, number, size);
    }
    Value zero = arith::ConstantIndexOp::create(nested, bodyLoc, 0);
    SmallVector<Value> loops = loopIndices(nested, bodyLoc, rank);
    Value value = tensor::ExtractOp::create(nested, bodyLoc, op.getValues(), locateValue<Value>(loops, atPlaces, zero));
    return arith::SelectOp::create(nested, bodyLoc, hit, value, args[0]);
  };
  return createPointwise(builder, loc, {op.getInput(), last}, maps, inputSizes, input.getElementType(), body);
}

/// Refuses the op unless its indices and values are known to broadcast, and to have elements.
static LogicalResult checkPut(PatternRewriter &rewriter, IndexPutOp op) {
  FailureOr<SmallVector<Dims>> all = getAllDims(rewriter, op, op->getOperands());
  if (failed(all))
    return failure();
  SmallVector<SymbolAttr> symbols = getSymbols(op);
  ArrayRef<AffineExpr> input = (*all)[0], values = (*all)[1];
  Dims places, written;
  bool broadcasts = true;
  for (ArrayRef<AffineExpr> index : ArrayRef(*all).drop_front(2))
    broadcasts &= broadcastDims(places, index, symbols.size());
  if (broadcasts) {
    for (auto [dim, size] : llvm::enumerate(input))
      if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
        written.push_back(size);
    written.insert(written.begin() + getIndexedPlace(op.getDims()), places.begin(), places.end());
    broadcasts = broadcastDims(written, values, symbols.size());
  }
  if (!broadcasts)
    return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                    "expected indices and values that are known to broadcast, but got " +
                        spell(op.getIndices().front().getType()) + " and " + spell(op.getValues().getType()));
  int64_t count = 1;
  for (AffineExpr size : places) {
    ExprRange range = getRange(size, symbols);
    if (range.min < 1)
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape, "expected indices that are known not to be empty");
    if (llvm::MulOverflow(count, range.max, count) || !llvm::isInt<32>(count))
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape, "expected fewer than 2^31 indexed elements");
  }
  return success();
}

namespace {
struct ConvertIndexPut : GraphToLinalgPattern<IndexPutOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(IndexPutOp op, PatternRewriter &rewriter) const override {
    if (op.getAccumulate() && failed(checkElements(rewriter, op, op.getInput(), /*integers=*/true)))
      return failure();
    auto isEmpty = [](Value value) { return llvm::is_contained(tensorType(value).getShape(), 0); };
    if (isEmpty(op.getValues()) || llvm::any_of(op.getIndices(), isEmpty))
      return op.getInput(); // There is nothing to write.
    if (failed(checkPut(rewriter, op)))
      return failure();
    Put put(rewriter, op);
    return op.getAccumulate() ? put.add(rewriter) : put.replace(rewriter);
  }
};
} // namespace

void inlay::populateScatteringPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertScatter, ConvertIndexPut>(patterns.getContext());
}

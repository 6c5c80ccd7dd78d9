// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts ops that read at indices from tensors to one parallel generic whose body computes the position to read.

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace inlay;

//===-- Indices -------------------------------------------------------------------------------------------------===//

Value inlay::normalizeIndex(OpBuilder &builder, Location loc, Value raw, OpFoldResult size, bool fromEnd) {
  unsigned width = llvm::isInt<32>(getConstantIntValue(size).value_or(0)) ? 32 : 64;
  if (raw.getType().getIntOrFloatBitWidth() < width)
    raw = arith::ExtSIOp::create(builder, loc, builder.getIntegerType(width), raw);
  if (!fromEnd)
    return raw;
  Value zero = scalarConstant(builder, loc, raw.getType(), 0);
  Value end = castSize(builder, loc, size, raw.getType());
  Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, raw, zero);
  return arith::SelectOp::create(builder, loc, negative, arith::AddIOp::create(builder, loc, raw, end), raw);
}

Value inlay::clampIndex(OpBuilder &builder, Location loc, Value raw, OpFoldResult size, bool fromEnd) {
  Value index = normalizeIndex(builder, loc, raw, size, fromEnd);
  Type type = index.getType();
  Value last;
  if (std::optional<int64_t> known = getConstantIntValue(size))
    last = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, std::max<int64_t>(*known - 1, 0)));
  else
    last =
        arith::SubIOp::create(builder, loc, castSize(builder, loc, size, type), scalarConstant(builder, loc, type, 1));
  index = arith::MinSIOp::create(builder, loc, index, last);
  index = arith::MaxSIOp::create(builder, loc, index, scalarConstant(builder, loc, type, 0));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index);
}

SmallVector<Value> inlay::loopIndices(OpBuilder &builder, Location loc, unsigned count) {
  SmallVector<Value> indices;
  for (unsigned loop = 0; loop < count; ++loop)
    indices.push_back(linalg::IndexOp::create(builder, loc, loop));
  return indices;
}

AffineMap inlay::mapIndices(MLIRContext *context, ArrayRef<int64_t> shape, unsigned loops, unsigned first,
                            unsigned places) {
  SmallVector<AffineExpr> exprs;
  for (auto [i, size] : llvm::enumerate(shape)) {
    unsigned loop = first + places - shape.size() + i;
    exprs.push_back(size == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(loop, context));
  }
  return makeMap(context, loops, exprs);
}

//===-- Ops -----------------------------------------------------------------------------------------------------===//

/// Returns the position to read, given the loop indices and the elements of the index tensors.
using Locate = function_ref<SmallVector<Value>(OpBuilder &, Location, ArrayRef<Value>, ValueRange)>;

static FailureOr<Value> createRead(PatternRewriter &rewriter, Operation *op, Value input, ValueRange indices,
                                   ArrayRef<AffineMap> maps, Locate locate) {
  RankedTensorType type = inferResultType(op);
  FailureOr<Sizes> sizes = getResultSizes(rewriter, op);
  if (failed(sizes))
    return failure();
  return createPointwise(rewriter, op->getLoc(), indices, maps, *sizes, type.getElementType(),
                         [&](OpBuilder &nested, Location loc, ValueRange args) -> Value {
                           SmallVector<Value> loops = loopIndices(nested, loc, type.getRank());
                           return tensor::ExtractOp::create(nested, loc, input, locate(nested, loc, loops, args));
                         });
}

namespace {
struct ConvertEmbedding : GraphToLinalgPattern<EmbeddingOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(EmbeddingOp op, PatternRewriter &rewriter) const override {
    int64_t places = tensorType(op.getIndices()).getRank();
    OpFoldResult rows = getSize(rewriter, op.getLoc(), op.getWeight(), 0);
    AffineMap whole = rewriter.getMultiDimIdentityMap(inferResultType(op).getRank());
    AffineMap map = makeMap(op.getContext(), whole.getNumDims(), whole.getResults().take_front(places));
    return createRead(rewriter, op, op.getWeight(), op.getIndices(), map,
                      [&](OpBuilder &builder, Location loc, ArrayRef<Value> loops, ValueRange read) {
                        SmallVector<Value> at{clampIndex(builder, loc, read[0], rows, /*fromEnd=*/false)};
                        llvm::append_range(at, loops.drop_front(places));
                        return at;
                      });
  }
};

/// Reads `input` at the loop indices, except along `dim`, where the elements of `index` are the indices.
FailureOr<Value> readAlong(PatternRewriter &rewriter, Operation *op, Value input, Value index, AffineMap map,
                           int64_t dim) {
  OpFoldResult size = getSize(rewriter, op->getLoc(), input, dim);
  return createRead(rewriter, op, input, index, map,
                    [&](OpBuilder &nested, Location loc, ArrayRef<Value> loops, ValueRange read) {
                      SmallVector<Value> at(loops);
                      at[dim] = clampIndex(nested, loc, read[0], size, /*fromEnd=*/false);
                      return at;
                    });
}

struct ConvertIndexSelect : GraphToLinalgPattern<IndexSelectOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(IndexSelectOp op, PatternRewriter &rewriter) const override {
    int64_t rank = tensorType(op.getInput()).getRank(), dim = *normalizeDim(op.getDim(), rank);
    AffineMap map = makeMap(op.getContext(), rank, rewriter.getAffineDimExpr(dim));
    return readAlong(rewriter, op, op.getInput(), op.getIndex(), map, dim);
  }
};

struct ConvertGather : GraphToLinalgPattern<GatherOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(GatherOp op, PatternRewriter &rewriter) const override {
    int64_t rank = tensorType(op.getInput()).getRank(), dim = *normalizeDim(op.getDim(), rank);
    return readAlong(rewriter, op, op.getInput(), op.getIndex(), rewriter.getMultiDimIdentityMap(rank), dim);
  }
};

struct ConvertIndex : GraphToLinalgPattern<IndexOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(IndexOp op, PatternRewriter &rewriter) const override {
    RankedTensorType input = tensorType(op.getInput());
    ArrayRef<int64_t> dims = op.getDims();
    unsigned loops = inferResultType(op).getRank(), first = getIndexedPlace(dims);
    unsigned places = loops + dims.size() - input.getRank();
    Sizes sizes = getSizes(rewriter, op.getLoc(), op.getInput());
    SmallVector<AffineMap> maps;
    for (Value index : op.getIndices())
      maps.push_back(mapIndices(op.getContext(), tensorType(index).getShape(), loops, first, places));
    return createRead(rewriter, op, op.getInput(), op.getIndices(), maps,
                      [&](OpBuilder &builder, Location loc, ArrayRef<Value> loop, ValueRange read) {
                        SmallVector<Value> at, rest(loop.take_front(first));
                        llvm::append_range(rest, loop.drop_front(first + places));
                        size_t nextRest = 0, nextRead = 0;
                        for (int64_t dim = 0; dim < input.getRank(); ++dim)
                          at.push_back(llvm::is_contained(dims, dim)
                                           ? clampIndex(builder, loc, read[nextRead++], sizes[dim],
                                                        /*fromEnd=*/true)
                                           : rest[nextRest++]);
                        return at;
                      });
  }
};
} // namespace

void inlay::populateIndexingPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertEmbedding, ConvertIndexSelect, ConvertGather, ConvertIndex>(patterns.getContext());
}

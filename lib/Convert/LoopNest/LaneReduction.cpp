// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes reductions in shares, one per lane of a vector or per invocation, and joins the shares at the end.

#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

/// Combines two values of the type of `lhs`, which may be vectors.
static Value combine(OpBuilder &builder, Operation *combiner, Value lhs, Value rhs) {
  OperationState state(combiner->getLoc(), combiner->getName(), {lhs, rhs}, lhs.getType(), combiner->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Returns the number of vectors that an iteration adds to different accumulators. With a single accumulator, each
/// addition would wait for the one before. Larger bodies and functions would need too many registers and too much code.
static int64_t countCopies(linalg::LinalgOp op, const TileShape &tile, size_t points, AffineExpr size) {
  constexpr int64_t kCopies = 4, kSmallBody = 8;
  auto known = dyn_cast<AffineConstantExpr>(size);
  bool isShort = known && known.getValue() < kCopies * tile.lanes;
  bool isSmall =
      op.getBlock()->getOperations().size() <= kSmallBody && op.getBlock()->getOps<func::CallOp>().empty() &&
      llvm::none_of(*op.getBlock(), [](Operation &inner) { return isa<math::MathDialect>(inner.getDialect()); });
  return points > 1 || isShort || !isSmall ? 1 : kCopies;
}

/// Returns `tile` with one lane.
static TileShape makeSingle(TileShape tile) {
  tile.vectorLoop = -1;
  tile.lanes = 1;
  return tile;
}

/// Emits a tile whose vector loop is a reduction. Each point has accumulators that are vectors, and a scalar one for
/// the terms that do not fill a vector.
struct TileEmitter::LaneReducer {
  LaneReducer(TileEmitter &emitter, const TileShape &tile, ArrayRef<Value> base)
      : emitter(emitter), loc(emitter.op.getLoc()), single(makeSingle(tile)),
        lanes{emitter, tile, base, loc, enumeratePoints(tile.factors), nullptr, {}, {}},
        scalars{emitter, single, base, loc, enumeratePoints(tile.factors), nullptr, {}, {}}, last(tile.vectorLoop),
        points(lanes.points.size()), copies(countCopies(emitter.op, tile, points, emitter.sizes[last])),
        cuts(emitter.cutReductions(last, tile.lanes * copies)), indices(base) {}

  void emit(OpBuilder &builder);

private:
  Value makeNeutral(OpBuilder &builder) const;
  void reduceRow(OpBuilder &b);
  bool reduceWhole(OpBuilder &b, State &state, int64_t count, MutableArrayRef<Value> reduced);
  SmallVector<Value> all() const { return llvm::to_vector(llvm::concat<const Value>(vectors, sums)); }
  void setAll(ValueRange values) {
    vectors = llvm::to_vector_of<Value>(values.drop_back(points));
    sums = llvm::to_vector_of<Value>(values.take_back(points));
  }

  TileEmitter &emitter;
  Location loc;
  TileShape single;
  State lanes, scalars;
  size_t last, points;
  int64_t copies; ///< Accumulators of each point that are vectors.
  SmallVector<SumCut> cuts;
  SmallVector<Value> vectors, sums; ///< Accumulators: those of all points for each copy, and the scalars.
  SmallVector<Value> indices, current;
  Value reached; ///< End of the part of the row that is reduced already.
};

Value TileEmitter::LaneReducer::makeNeutral(OpBuilder &builder) const {
  TypedAttr neutral = getNeutral(findCombiner(emitter.op));
  auto type = cast<ShapedType>(lanes.widen(neutral.getType()));
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(neutral)));
}

/// Emits a loop over the rest of the row whose iterations reduce `count` vectors or scalars of `state`, each into other
/// accumulators of `reduced`. Leaves terms that do not fill an iteration. Returns false if there may be any.
bool TileEmitter::LaneReducer::reduceWhole(OpBuilder &b, State &state, int64_t count, MutableArrayRef<Value> reduced) {
  int64_t width = state.isVector() ? lanes.tile.lanes : 1, step = width * count;
  auto known = dyn_cast<AffineConstantExpr>(emitter.sizes[last]);
  bool isWhole = known && known.getValue() % step == 0;
  Value size = lanes.value(b, emitter.sizes[last]), end = size;
  if (!isWhole)
    end = arith::SubIOp::create(b, loc, size, arith::RemUIOp::create(b, loc, size, lanes.constant(b, step)));
  ReductionLoops loop(b, loc, SmallVector<Value>(reduced));
  Value index = loop.open(reached, end, step, state.isVector() && count == copies ? cuts[last] : SumCut());
  OpBuilder &inside = loop.inside();
  SmallVector<Value> results;
  for (int64_t copy = 0; copy < count; ++copy) {
    Value ahead = copy ? lanes.constant(inside, copy * width) : Value();
    indices[last] = ahead ? arith::AddIOp::create(inside, loc, index, ahead).getResult() : index;
    SmallVector<Value> at = current;
    state.advance(inside, last, indices[last], at);
    ValueRange before = loop.accumulators().slice(copy * points, points);
    for (Value result : state.computePoints(inside, at, indices, before))
      results.push_back(state.isVector() ? state.asVector(inside, result) : result);
  }
  loop.close(results);
  llvm::copy(loop.accumulators(), reduced.begin());
  reached = end;
  return isWhole;
}

/// Emits the innermost reduction: many vectors at once, then the remaining vectors, then the remaining terms. The terms
/// of a row are added up on their own, because the blocks of the outer reductions count a row as one term.
void TileEmitter::LaneReducer::reduceRow(OpBuilder &b) {
  reached = lanes.constant(b, 0);
  if (reduceWhole(b, lanes, copies, vectors) ||
      (copies > 1 && reduceWhole(b, lanes, 1, MutableArrayRef(vectors).take_front(points))))
    return;
  Operation *combiner = findCombiner(emitter.op);
  SmallVector<Value> row(points, arith::ConstantOp::create(b, loc, getNeutral(combiner)));
  reduceWhole(b, scalars, 1, row);
  for (auto [sum, value] : llvm::zip_equal(sums, row))
    sum = combine(b, combiner, sum, value);
}

void TileEmitter::LaneReducer::emit(OpBuilder &builder) {
  SmallVector<Value> starts = scalars.startIndices(builder);
  current = starts;
  vectors.assign(points * copies, makeNeutral(builder));
  sums = scalars.loadOutputs(builder, starts);
  ReductionLoops loops(builder, loc, all());
  OpBuilder &inner = loops.inside();
  for (size_t loop = 0; loop < last; ++loop) {
    if (!emitter.nest.loops[loop].reduction)
      continue;
    Value size = lanes.value(inner, emitter.sizes[loop]);
    indices[loop] = loops.open(lanes.constant(inner, 0), size, /*step=*/1, cuts[loop]);
    lanes.advance(inner, loop, indices[loop], current);
  }
  setAll(loops.accumulators());
  reduceRow(inner);
  loops.closeAll(all());
  setAll(loops.accumulators());

  Operation *combiner = findCombiner(emitter.op);
  for (size_t count = points * copies / 2; count >= points; count /= 2)
    for (size_t i = 0; i < count; ++i)
      vectors[i] = combine(builder, combiner, vectors[i], vectors[i + count]);
  vector::CombiningKind kind = *linalg::getCombinerOpKind(combiner);
  SmallVector<Value> results;
  for (auto [sum, vector] : llvm::zip(sums, vectors))
    results.push_back(vector::ReductionOp::create(builder, loc, kind, vector, sum, arith::FastMathFlags::reassoc));
  scalars.storeOutputs(builder, starts, results);
}

void TileEmitter::emitLaneReduction(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base) {
  LaneReducer(*this, tile, base).emit(builder);
}

Value TileEmitter::emitShare(OpBuilder &builder, ArrayRef<Value> base, const ReductionShare &share) {
  TileShape tile{std::vector<int64_t>(nest.loops.size(), 1), -1, 1};
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, {}, {}};
  SmallVector<Value> starts = state.startIndices(builder);
  Value start = state.loadOutputs(builder, starts).front();
  Value neutral = arith::ConstantOp::create(builder, op.getLoc(), getNeutral(findCombiner(op)));
  Value isFirst =
      arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::eq, share.number, state.constant(builder, 0));
  start = arith::SelectOp::create(builder, op.getLoc(), isFirst, start, neutral);
  return state.reduce(builder, starts, {start}, share).front();
}

Value TileEmitter::join(OpBuilder &builder, Value lhs, Value rhs) const {
  return combine(builder, findCombiner(op), lhs, rhs);
}

void TileEmitter::store(OpBuilder &builder, ArrayRef<Value> base, Value value) {
  TileShape tile{std::vector<int64_t>(nest.loops.size(), 1), -1, 1};
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, {}, {}};
  state.storeOutputs(builder, state.startIndices(builder), value);
}

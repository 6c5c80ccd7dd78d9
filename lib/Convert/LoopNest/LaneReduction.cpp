// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes reductions in shares, one per lane of a vector or per invocation, and joins the shares at the end.

#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The accumulators of a tile: vectors, and scalars for the terms that do not fill a vector.
struct Accumulators {
  SmallVector<Value> vectors, scalars;

  SmallVector<Value> all() const {
    SmallVector<Value> values(vectors);
    llvm::append_range(values, scalars);
    return values;
  }
  static Accumulators split(ValueRange values) {
    size_t half = values.size() / 2;
    return {llvm::to_vector_of<Value>(values.take_front(half)), llvm::to_vector_of<Value>(values.drop_front(half))};
  }
};
} // namespace

void TileEmitter::emitLaneReduction(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base) {
  Location loc = op.getLoc();
  TileShape single = tile;
  single.vectorLoop = -1;
  single.lanes = 1;
  State lanes{*this, tile, base, loc, enumeratePoints(tile.factors), nullptr, {}, {}};
  State scalars{*this, single, base, loc, enumeratePoints(tile.factors), nullptr, {}, {}};
  SmallVector<Value> starts = scalars.startIndices(builder), current = starts, indices(base);
  Operation *combiner = findCombiner(op);
  TypedAttr neutral = getNeutral(combiner);
  Value zeros = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(cast<ShapedType>(lanes.widen(neutral.getType())), Attribute(neutral)));
  Accumulators values{SmallVector<Value>(lanes.points.size(), zeros), scalars.loadOutputs(builder, starts)};

  SmallVector<int64_t> cuts = cutReductions(tile.lanes);
  // Emits one loop over [from, to) that reduces with `state` at each step. `reduced` holds the accumulators before and
  // after.
  size_t last = tile.vectorLoop;
  auto reduce = [&](OpBuilder &b, State &state, Value from, Value to, int64_t step, SmallVector<Value> &reduced) {
    ReductionLoops loop(b, loc, reduced);
    indices[last] = loop.open(from, to, step, state.isVector() ? cuts[last] : 0);
    SmallVector<Value> at = current;
    state.advance(loop.inside(), last, indices[last], at);
    SmallVector<Value> results = state.computePoints(loop.inside(), at, indices, loop.accumulators());
    for (Value &result : results)
      result = state.isVector() ? state.asVector(loop.inside(), result) : result;
    loop.close(results);
    reduced = llvm::to_vector(loop.accumulators());
  };

  ReductionLoops loops(builder, loc, values.all());
  OpBuilder &inner = loops.inside();
  for (size_t loop = 0; loop < last; ++loop) {
    if (!nest.loops[loop].reduction)
      continue;
    indices[loop] = loops.open(lanes.constant(inner, 0), lanes.value(inner, sizes[loop]), /*step=*/1, cuts[loop]);
    lanes.advance(inner, loop, indices[loop], current);
  }
  values = Accumulators::split(loops.accumulators());
  Value size = lanes.value(inner, sizes[last]), step = lanes.constant(inner, tile.lanes);
  auto known = dyn_cast<AffineConstantExpr>(sizes[last]);
  bool isWhole = known && known.getValue() % tile.lanes == 0;
  Value whole =
      isWhole ? size : arith::SubIOp::create(inner, loc, size, arith::RemUIOp::create(inner, loc, size, step));
  reduce(inner, lanes, lanes.constant(inner, 0), whole, tile.lanes, values.vectors);
  if (!isWhole)
    reduce(inner, scalars, whole, size, 1, values.scalars);
  loops.closeAll(values.all());
  values = Accumulators::split(loops.accumulators());

  vector::CombiningKind kind = *linalg::getCombinerOpKind(combiner);
  SmallVector<Value> results;
  for (auto [lane, scalar] : llvm::zip_equal(values.vectors, values.scalars))
    results.push_back(vector::ReductionOp::create(builder, loc, kind, lane, scalar, arith::FastMathFlags::reassoc));
  scalars.storeOutputs(builder, starts, results);
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
  Operation *combiner = findCombiner(op);
  OperationState state(combiner->getLoc(), combiner->getName(), {lhs, rhs}, combiner->getResultTypes(),
                       combiner->getAttrs());
  return builder.create(state)->getResult(0);
}

void TileEmitter::store(OpBuilder &builder, ArrayRef<Value> base, Value value) {
  TileShape tile{std::vector<int64_t>(nest.loops.size(), 1), -1, 1};
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, {}, {}};
  state.storeOutputs(builder, state.startIndices(builder), value);
}

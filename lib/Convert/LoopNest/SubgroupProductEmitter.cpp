// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product's tile as a subgroup computes it. An operand that moves with the lanes is loaded by each lane for itself;
// one that doesn't is loaded once, spread over the lanes, and handed from the lane that has an element to all.

#include "ReductionLoops.h"
#include "TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace inlay;

static bool isWord(Type type) { return type.isF32() || type.isInteger(32); }

/// What makes an input's element one of 32 bits before anything else is done with it; null if it is used as it is.
static Operation *findWidening(linalg::LinalgOp op, size_t input) {
  BlockArgument element = op.getBlock()->getArgument(input);
  if (isWord(element.getType()) || !element.hasOneUse())
    return nullptr;
  Operation *user = *element.user_begin();
  return isa<CastOpInterface>(user) && isWord(user->getResult(0).getType()) ? user : nullptr;
}

bool TileEmitter::isPlainProduct() const {
  linalg::LinalgOp linalgOp = op;
  llvm::SmallDenseSet<Value> buffers;
  auto areWords = [&](BlockArgument element) {
    return isWord(element.getType()) || findWidening(linalgOp, element.getArgNumber());
  };
  bool areSeparate =
      llvm::all_of(accesses, [&](const Access &access) { return !access.flat || buffers.insert(access.flat).second; });
  return areSeparate && linalgOp.getNumDpsInits() == 1 && !linalgOp.hasIndexSemantics() && gathers.empty() &&
         llvm::all_of(linalgOp.getBlock()->getArguments(), areWords) &&
         llvm::all_of(linalgOp.getBlock()->without_terminator(), [](Operation &inner) { return isPure(&inner); });
}

/// One tile under construction.
struct TileEmitter::Product {
  Product(TileEmitter &emitter, const SubgroupProductTile &tile, const SubgroupProductPlace &place)
      : emitter(emitter), tile(tile), place(place), scalarTile{std::vector<int64_t>(emitter.nest.loops.size(), 1)},
        state{emitter, scalarTile, place.base, emitter.op.getLoc(), {}, nullptr, {}, {}}, loc(emitter.op.getLoc()) {}

  /// A step of the tile along its row or column loop: what it adds to each access, and whether it is there at all
  /// (null: for sure).
  struct Step {
    Value inside;
    SmallVector<Value> offsets;     ///< per access
    SmallVector<Value> quadOffsets; ///< of the vector that holds the step's element
  };

  /// An operand's element within the tile.
  struct Point {
    int64_t row = 0, column = 0, depth = 0;
    auto key() const { return std::make_tuple(row, column, depth); }
  };

  /// Parts of an operand that lanes have in common: which elements a lane loads.
  struct Shared {
    int64_t rows = 1, depth = 1;
    int quadLoop = -1;
    int64_t count = 0;          ///< of loads
    SmallVector<Value> offsets; ///< of those of this lane
  };

  void run(OpBuilder &b);

private:
  using Access = TileEmitter::Access;

  const Access &access(size_t operand) const { return emitter.accesses[operand]; }
  size_t output() const { return emitter.accesses.size() - 1; }
  bool moves(size_t operand, int loop) const { return loop >= 0 && !State::is(access(operand).strides[loop], 0); }
  bool isShared(size_t operand) const {
    return operand < output() && isLoadedTogether(emitter.nest, tile, operand) && access(operand).flat;
  }
  int quadLoop(size_t operand) const {
    return operand < output() ? findQuadLoop(emitter.nest, tile, operand) : findStoredQuadLoop(emitter.nest, tile);
  }
  bool isRagged(int loop) const {
    if (loop < 0 || tile.factor(loop) == 1)
      return false;
    return !emitter.sizes[loop].isMultipleOf(tile.factor(loop));
  }
  Value clamp(OpBuilder &b, int loop, Value index, int64_t width) {
    Value most = arith::SubIOp::create(b, loc, state.value(b, emitter.sizes[loop]), state.constant(b, width));
    return arith::MinUIOp::create(b, loc, index, most);
  }

  Value load(OpBuilder &b, size_t operand, Value start, Point point);
  SmallVector<Step> makeSteps(OpBuilder &b, int loop);
  SmallVector<Value> startIndices(OpBuilder &b);
  Shared share(OpBuilder &b, size_t operand, int64_t depth);
  Value loadAt(OpBuilder &b, size_t operand, Value index, bool isQuad);
  Value loadOwn(OpBuilder &b, size_t operand, Value start, Point point);
  Value loadPart(OpBuilder &b, size_t operand, Value start, int64_t number);
  Value loadShared(OpBuilder &b, size_t operand, Value start, Point point);
  Value indexAt(OpBuilder &b, size_t operand, Value start, Point point);
  void loadAll(OpBuilder &b, ArrayRef<Value> starts, int64_t depth);
  SmallVector<Value> computeSteps(OpBuilder &b, ArrayRef<Value> starts, int64_t depth, ValueRange accumulators);
  SmallVector<Value> reduce(OpBuilder &b, ArrayRef<Value> starts, SmallVector<Value> values);
  SmallVector<Value> loadOutputs(OpBuilder &b, Value start);
  void storeOutputs(OpBuilder &b, Value start, ValueRange values);

  TileEmitter &emitter;
  const SubgroupProductTile &tile;
  const SubgroupProductPlace &place;
  TileShape scalarTile;
  State state;
  Location loc;
  SmallVector<Step> rows, columns;
  llvm::DenseMap<std::pair<int64_t, size_t>, Shared> shared; ///< by depth and operand

  // What was loaded in the current body, of `currentDepth` steps.
  int64_t currentDepth = 1;
  std::map<std::pair<size_t, std::tuple<int64_t, int64_t, int64_t>>, Value> elements, loads;
};

//===-- Before the loops ----------------------------------------------------------------------------------------===//

SmallVector<TileEmitter::Product::Step> TileEmitter::Product::makeSteps(OpBuilder &b, int loop) {
  SmallVector<Step> steps;
  for (int64_t number = 0; number < (loop < 0 ? 1 : tile.factor(loop)); ++number) {
    Step &step = steps.emplace_back();
    bool ragged = isRagged(loop);
    Value index, quad;
    if (ragged) {
      Value reached = arith::AddIOp::create(b, loc, place.base[loop], state.constant(b, number));
      Value size = state.value(b, emitter.sizes[loop]);
      step.inside =
          number ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, reached, size).getResult() : Value();
      index = number ? clamp(b, loop, reached, 1) : reached;
      quad = number % 4 == 0 && number ? clamp(b, loop, reached, 4) : reached; // sizes of whole vectors
    }
    for (size_t operand = 0; operand <= output(); ++operand) {
      bool has = loop >= 0 && moves(operand, loop) && ragged;
      AffineExpr stride = has ? access(operand).strides[loop] : AffineExpr();
      step.offsets.push_back(has ? state.scale(b, index, stride) : Value());
      step.quadOffsets.push_back(has ? state.scale(b, quad, stride) : Value());
    }
  }
  return steps;
}

/// Flat indices of the tile's first element in each operand, without reductions and ragged loops.
SmallVector<Value> TileEmitter::Product::startIndices(OpBuilder &b) {
  SmallVector<Value> starts;
  for (const Access &operand : emitter.accesses) {
    Value sum;
    for (auto [loop, index, stride] : llvm::enumerate(place.base, operand.strides)) {
      bool isStep = (int(loop) == tile.rowLoop || int(loop) == tile.columnLoop) && isRagged(int(loop));
      if (index && !State::is(stride, 0) && !isStep)
        sum = state.add(b, sum, state.scale(b, index, stride));
    }
    if (operand.flat && (!State::is(operand.offset, 0) || !sum))
      sum = state.add(b, sum, state.value(b, operand.offset));
    starts.push_back(sum ? sum : state.constant(b, 0));
  }
  return starts;
}

TileEmitter::Product::Shared TileEmitter::Product::share(OpBuilder &b, size_t operand, int64_t depth) {
  Shared result;
  result.rows = moves(operand, tile.rowLoop) ? tile.rows : 1;
  result.depth = moves(operand, tile.innerLoop) ? depth : 1;
  result.quadLoop = quadLoop(operand);
  bool alongRows = result.quadLoop == tile.rowLoop && result.quadLoop >= 0;
  int64_t elements = result.rows * result.depth;
  result.count = result.quadLoop >= 0 ? elements / 4 : elements;
  int64_t lanes = place.lanes;
  for (int64_t first = 0; first < result.count; first += lanes) {
    Value number = first ? arith::AddIOp::create(b, loc, place.lane, state.constant(b, first)).getResult() : place.lane;
    if (first + lanes > result.count) // what is left, more than one lane may load
      number = arith::MinUIOp::create(b, loc, number, state.constant(b, result.count - 1));
    // Numbers go along vectors first, then along the other loop.
    int64_t inOrder = alongRows ? result.rows / 4 : result.quadLoop >= 0 ? result.depth / 4 : result.depth;
    Value fast = arith::RemUIOp::create(b, loc, number, state.constant(b, inOrder));
    Value slow = arith::DivUIOp::create(b, loc, number, state.constant(b, inOrder));
    if (result.quadLoop >= 0)
      fast = arith::MulIOp::create(b, loc, fast, state.constant(b, 4));
    Value row = alongRows ? fast : slow, step = alongRows ? slow : fast, offset;
    if (moves(operand, tile.rowLoop)) {
      if (isRagged(tile.rowLoop)) {
        row = arith::AddIOp::create(b, loc, place.base[tile.rowLoop], row);
        row = clamp(b, tile.rowLoop, row, alongRows ? 4 : 1);
      }
      offset = state.scale(b, row, access(operand).strides[tile.rowLoop]);
    }
    if (moves(operand, tile.innerLoop))
      offset = state.add(b, offset, state.scale(b, step, access(operand).strides[tile.innerLoop]));
    result.offsets.push_back(offset ? offset : state.constant(b, 0));
  }
  return result;
}

//===-- Loads ---------------------------------------------------------------------------------------------------===//

Value TileEmitter::Product::loadAt(OpBuilder &b, size_t operand, Value index, bool isQuad) {
  Value flat = access(operand).flat;
  if (!isQuad) {
    Value element = memref::LoadOp::create(b, loc, flat, index);
    Operation *widening = operand < output() ? findWidening(emitter.op, operand) : nullptr;
    if (!widening)
      return element;
    Operation *cast = b.clone(*widening);
    cast->setOperand(0, element);
    return cast->getResult(0);
  }
  auto type = VectorType::get({4}, cast<MemRefType>(flat.getType()).getElementType());
  return vector::LoadOp::create(b, loc, type, flat, index);
}

Value TileEmitter::Product::indexAt(OpBuilder &b, size_t operand, Value start, Point point) {
  int64_t offset = 0;
  Value index = start;
  auto addSteps = [&](int loop, int64_t step, ArrayRef<Step> steps) {
    if (!moves(operand, loop))
      return;
    AffineExpr stride = access(operand).strides[loop];
    auto known = dyn_cast<AffineConstantExpr>(stride);
    if (!steps.empty() && isRagged(loop)) {
      const Step &ragged = steps[step];
      index = state.add(b, index, quadLoop(operand) == loop ? ragged.quadOffsets[operand] : ragged.offsets[operand]);
    } else if (known) {
      offset += step * known.getValue();
    } else if (step) {
      index = state.add(b, index, state.scale(b, state.constant(b, step), stride));
    }
  };
  addSteps(tile.rowLoop, point.row, rows);
  addSteps(tile.columnLoop, point.column, columns);
  addSteps(tile.innerLoop, point.depth, {});
  return offset ? state.add(b, index, state.constant(b, offset)) : index;
}

/// An element that lanes have of their own: each loads its own.
Value TileEmitter::Product::loadOwn(OpBuilder &b, size_t operand, Value start, Point point) {
  int quad = quadLoop(operand);
  int64_t &along = quad == tile.columnLoop ? point.column : quad == tile.rowLoop ? point.row : point.depth;
  int64_t part = quad < 0 ? 0 : along % 4;
  along -= part;
  // Windows that overlap along the columns have elements in common.
  Point common = point;
  auto column = moves(operand, tile.columnLoop) && tile.columnLoop >= 0
                    ? dyn_cast<AffineConstantExpr>(access(operand).strides[tile.columnLoop])
                    : AffineConstantExpr();
  auto inner = moves(operand, tile.innerLoop) ? dyn_cast<AffineConstantExpr>(access(operand).strides[tile.innerLoop])
                                              : AffineConstantExpr();
  if (column && inner && !isRagged(tile.columnLoop))
    common = {point.row, 0, point.column * column.getValue() + point.depth * inner.getValue()};
  Value &loaded = loads[{operand, common.key()}];
  if (!loaded)
    loaded = loadAt(b, operand, indexAt(b, operand, start, point), quad >= 0);
  return quad < 0 ? loaded : vector::ExtractOp::create(b, loc, loaded, part).getResult();
}

/// What each lane loads, as its load `number`, of an operand that all lanes need.
Value TileEmitter::Product::loadPart(OpBuilder &b, size_t operand, Value start, int64_t number) {
  const Shared &parts = shared.find({currentDepth, operand})->second;
  Value &loaded = loads[{operand, std::make_tuple(number, int64_t(0), int64_t(0))}];
  if (!loaded)
    loaded = loadAt(b, operand, state.add(b, start, parts.offsets[number]), parts.quadLoop >= 0);
  return loaded;
}

/// An element that all lanes need: one of them has loaded it.
Value TileEmitter::Product::loadShared(OpBuilder &b, size_t operand, Value start, Point point) {
  const Shared &parts = shared.find({currentDepth, operand})->second;
  bool alongRows = parts.quadLoop >= 0 && parts.quadLoop == tile.rowLoop;
  int64_t number = alongRows ? point.depth * parts.rows + point.row : point.row * parts.depth + point.depth;
  int64_t part = parts.quadLoop >= 0 ? number % 4 : 0;
  number = parts.quadLoop >= 0 ? number / 4 : number;
  int64_t lanes = place.lanes;
  Value loaded = loadPart(b, operand, start, number / lanes);
  Value value = parts.quadLoop >= 0 ? vector::ExtractOp::create(b, loc, loaded, part).getResult() : loaded;
  if (parts.count == 1)
    return value; // all have it
  Value lane = arith::ConstantIntOp::create(b, loc, number % lanes, 32);
  return gpu::SubgroupBroadcastOp::create(b, loc, value.getType(), value, lane, gpu::BroadcastType::specific_lane);
}

Value TileEmitter::Product::load(OpBuilder &b, size_t operand, Value start, Point point) {
  if (access(operand).scalar)
    return access(operand).scalar;
  point.row = moves(operand, tile.rowLoop) ? point.row : 0;
  point.column = moves(operand, tile.columnLoop) ? point.column : 0;
  point.depth = moves(operand, tile.innerLoop) ? point.depth : 0;
  Value &element = elements[{operand, point.key()}];
  if (!element)
    element = isShared(operand) ? loadShared(b, operand, start, point) : loadOwn(b, operand, start, point);
  return element;
}

//===-- The reduction -------------------------------------------------------------------------------------------===//

/// Loads what the body needs at all points in `depth` steps, before any of them is computed: where loads are calls, no
/// accumulator stays in a register from before one to after it.
void TileEmitter::Product::loadAll(OpBuilder &b, ArrayRef<Value> starts, int64_t depth) {
  for (size_t input = 0; input < output(); ++input) {
    if (isShared(input)) {
      const Shared &parts = shared.find({depth, input})->second;
      for (size_t number = 0; number < parts.offsets.size(); ++number)
        loadPart(b, input, starts[input], number);
      continue;
    }
    for (int64_t step = 0; step < depth; ++step)
      for (int64_t row = 0; row < tile.rows; ++row)
        for (int64_t column = 0; column < tile.columns; ++column)
          load(b, input, starts[input], {row, column, step});
  }
}

/// Runs the body at all points, `depth` times at each, so that one accumulator after the other is in a register.
SmallVector<Value> TileEmitter::Product::computeSteps(OpBuilder &b, ArrayRef<Value> starts, int64_t depth,
                                                      ValueRange accumulators) {
  elements.clear();
  loads.clear();
  currentDepth = depth;
  loadAll(b, starts, depth);
  SmallVector<Value> values(accumulators);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column)
      for (int64_t step = 0; step < depth; ++step) {
        SmallVector<Value> inputs;
        for (size_t input = 0; input < output(); ++input)
          inputs.push_back(load(b, input, starts[input], {row, column, step}));
        Value &value = values[row * tile.columns + column];
        value = state.body(b, inputs, value, {}, {}).front();
      }
  return values;
}

SmallVector<Value> TileEmitter::Product::reduce(OpBuilder &b, ArrayRef<Value> starts, SmallVector<Value> values) {
  ReductionLoops loops(b, loc, values);
  SmallVector<Value> current(starts);
  auto advance = [&](size_t loop, Value index) { state.advance(loops.inside(), loop, index, current); };
  SmallVector<int64_t> cuts = emitter.cutReductions(tile.depth);
  for (auto [loop, info] : llvm::enumerate(emitter.nest.loops)) {
    if (!info.reduction || int(loop) == tile.innerLoop)
      continue;
    OpBuilder &inside = loops.inside();
    advance(loop, loops.open(state.constant(inside, 0), state.value(inside, emitter.sizes[loop]), 1, cuts[loop]));
  }
  AffineExpr size = emitter.sizes[tile.innerLoop];
  auto known = dyn_cast<AffineConstantExpr>(size);
  if (known && known.getValue() == tile.depth) {
    SmallVector<Value> results = computeSteps(loops.inside(), current, tile.depth, loops.accumulators());
    if (loops.isEmpty())
      return results;
    loops.closeAll(results);
    return llvm::to_vector(loops.accumulators());
  }
  SmallVector<Value> before(current);
  bool isWhole = size.isMultipleOf(tile.depth);
  Value end = state.value(loops.inside(), size), whole = end;
  if (!isWhole && known) {
    whole = state.constant(loops.inside(), known.getValue() / tile.depth * tile.depth);
  } else if (!isWhole) {
    Value rest = arith::RemUIOp::create(loops.inside(), loc, end, state.constant(loops.inside(), tile.depth));
    whole = arith::SubIOp::create(loops.inside(), loc, end, rest);
  }
  advance(tile.innerLoop, loops.open(state.constant(loops.inside(), 0), whole, tile.depth, cuts[tile.innerLoop]));
  loops.close(computeSteps(loops.inside(), current, tile.depth, loops.accumulators()));
  if (!isWhole) {
    current = before;
    advance(tile.innerLoop, loops.open(whole, end, 1));
    loops.close(computeSteps(loops.inside(), current, /*depth=*/1, loops.accumulators()));
  }
  if (!loops.isEmpty())
    loops.closeAll(llvm::to_vector(loops.accumulators()));
  return llvm::to_vector(loops.accumulators());
}

//===-- The result ----------------------------------------------------------------------------------------------===//

SmallVector<Value> TileEmitter::Product::loadOutputs(OpBuilder &b, Value start) {
  if (emitter.initial)
    return SmallVector<Value>(tile.rows * tile.columns, emitter.initial);
  SmallVector<Value> values;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column)
      values.push_back(load(b, output(), start, {row, column, 0}));
  return values;
}

void TileEmitter::Product::storeOutputs(OpBuilder &b, Value start, ValueRange values) {
  auto guard = [&](const OpBuilder &outer, Value condition) {
    OpBuilder inner = outer;
    return condition ? scf::IfOp::create(inner, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder() : inner;
  };
  OpBuilder active = guard(b, place.isActive);
  bool isQuad = quadLoop(output()) >= 0;
  for (int64_t row = 0; row < tile.rows; ++row) {
    OpBuilder inRow = guard(active, rows[row].inside);
    for (int64_t column = 0; column < tile.columns; column += isQuad ? 4 : 1) {
      OpBuilder inside = guard(inRow, columns[column].inside);
      Value index = indexAt(inside, output(), start, {row, column, 0});
      ValueRange stored = values.slice(row * tile.columns + column, isQuad ? 4 : 1);
      Value flat = access(output()).flat;
      if (!isQuad) {
        memref::StoreOp::create(inside, loc, stored.front(), flat, index);
        continue;
      }
      auto type = VectorType::get({4}, stored.front().getType());
      Value vector = vector::FromElementsOp::create(inside, loc, type, stored);
      vector::StoreOp::create(inside, loc, vector, flat, index);
    }
  }
}

void TileEmitter::Product::run(OpBuilder &b) {
  rows = makeSteps(b, tile.rowLoop);
  columns = makeSteps(b, tile.columnLoop);
  for (size_t input = 0; input < output(); ++input)
    if (isShared(input))
      for (int64_t depth : {tile.depth, int64_t(1)})
        if (depth == tile.depth || quadLoop(input) != tile.innerLoop)
          shared.insert({{depth, input}, share(b, input, depth)});
  SmallVector<Value> starts = startIndices(b);
  SmallVector<Value> values = reduce(b, starts, loadOutputs(b, starts[output()]));
  storeOutputs(b, starts[output()], values);
}

void TileEmitter::emitSubgroupProduct(OpBuilder &builder, const SubgroupProductTile &tile,
                                      const SubgroupProductPlace &place) {
  Product(*this, tile, place).run(builder);
}

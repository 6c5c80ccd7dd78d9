// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the tile of a product that a subgroup computes. If an operand moves with the lanes, each lane loads its
// elements. Otherwise the lanes share the elements: all of them load each element, with the same address, or each lane
// loads a part and broadcasts it to the others.

#include "SubgroupProductEmitter.h"
#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace inlay;

static bool is32Bit(Type type) { return type.isF32() || type.isInteger(32); }

Operation *inlay::findWidening(linalg::LinalgOp op, size_t input) {
  BlockArgument element = op.getBlock()->getArgument(input);
  if (is32Bit(element.getType()) || !element.hasOneUse())
    return nullptr;
  Operation *user = *element.user_begin();
  return isa<CastOpInterface>(user) && is32Bit(user->getResult(0).getType()) ? user : nullptr;
}

bool inlay::isPlainProduct(const TileEmitter &emitter) {
  linalg::LinalgOp op = emitter.getOp();
  llvm::SmallDenseSet<Value> buffers;
  auto are32Bit = [&](BlockArgument element) {
    return is32Bit(element.getType()) || findWidening(op, element.getArgNumber());
  };
  bool areSeparate = llvm::all_of(emitter.getAccesses(), [&](const TileEmitter::Access &access) {
    return !access.flat || buffers.insert(access.flat).second;
  });
  return areSeparate && op.getNumDpsInits() == 1 && !op.hasIndexSemantics() && !emitter.hasGathers() &&
         llvm::all_of(op.getBlock()->getArguments(), are32Bit) &&
         llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) { return isPure(&inner); });
}

namespace {
/// Emits one tile.
class SubgroupProductEmitter {
public:
  SubgroupProductEmitter(TileEmitter &emitter, const SubgroupProductTile &tile, const SubgroupProductPlace &place,
                         const ProductFusion &fusion)
      : emitter(emitter), tile(tile), place(place), fusion(fusion),
        scalarTile{std::vector<int64_t>(emitter.shape().loops.size(), 1)},
        state{emitter, scalarTile, place.base, emitter.getOp().getLoc(), {}, nullptr, {}, {}},
        loc(emitter.getOp().getLoc()), reductionIndices(place.base.size()) {}

  /// A step of the tile along its row or column loop. `inside` is false if the step lies beyond the end of the loop;
  /// null means always true.
  struct Step {
    Value inside;
    Value index, quad;              ///< Index of the step, and of its vector, clamped; null for loops without `inside`.
    SmallVector<Value> offsets;     ///< Offset of the step in each access.
    SmallVector<Value> quadOffsets; ///< Offset of the vector that holds the step's element.
  };

  /// The position of an operand's element within the tile.
  struct Point {
    int64_t row = 0, column = 0, depth = 0;
    auto key() const { return std::make_tuple(row, column, depth); }
  };

  /// The part of a shared operand that each lane loads.
  struct Shared {
    int64_t rows = 1, depth = 1;
    int quadLoop = -1;
    int64_t count = 0;          ///< Number of loads over all lanes.
    SmallVector<Value> offsets; ///< Offset of each load of this lane.
  };

  void run(OpBuilder &b);

private:
  using Access = TileEmitter::Access;
  using State = TileEmitter::State;

  const Access &access(size_t operand) const { return emitter.getAccesses()[operand]; }
  size_t output() const { return emitter.getAccesses().size() - 1; }
  bool moves(size_t operand, int loop) const { return loop >= 0 && !State::is(access(operand).strides[loop], 0); }
  /// Returns true if the lanes broadcast the elements of the operand.
  bool isShared(size_t operand) const {
    return !place.loadsUniformly && operand < output() && isLoadedTogether(emitter.shape(), tile, operand) &&
           access(operand).flat;
  }
  int quadLoop(size_t operand) const {
    return operand < output() ? findQuadLoop(emitter.shape(), tile, operand)
                              : findStoredQuadLoop(emitter.shape(), tile);
  }
  bool isRagged(int loop) const {
    if (loop < 0 || tile.factor(loop) == 1)
      return false;
    return !emitter.size(loop).isMultipleOf(tile.factor(loop));
  }
  Value clamp(OpBuilder &b, int loop, Value index, int64_t width) {
    Value last = arith::SubIOp::create(b, loc, state.value(b, emitter.size(loop)), state.constant(b, width));
    return arith::MinUIOp::create(b, loc, index, last);
  }

  Value load(OpBuilder &b, size_t operand, Value start, Point point);
  SmallVector<Step> makeSteps(OpBuilder &b, int loop);
  SmallVector<Value> startIndices(OpBuilder &b);
  Shared share(OpBuilder &b, size_t operand, int64_t depth);
  Value loadAt(OpBuilder &b, size_t operand, Value index, bool isQuad);
  SmallVector<Value> indicesOf(OpBuilder &b, int64_t row, int64_t column, int quadLoop);
  void computeElements(OpBuilder &b, size_t operand, Point point);
  Value loadPerLane(OpBuilder &b, size_t operand, Value start, Point point);
  Value loadPart(OpBuilder &b, size_t operand, Value start, int64_t number);
  Value loadShared(OpBuilder &b, size_t operand, Value start, Point point);
  Value indexAt(OpBuilder &b, size_t operand, Value start, Point point);
  void loadAll(OpBuilder &b, ArrayRef<Value> starts, int64_t depth);
  SmallVector<Value> computeSteps(OpBuilder &b, ArrayRef<Value> starts, int64_t depth, ValueRange accumulators);
  SmallVector<Value> reduce(OpBuilder &b, ArrayRef<Value> starts, SmallVector<Value> values);
  int64_t spanWidth() const;
  TileShape spanTile() const {
    TileShape span(scalarTile);
    span.factors[tile.columnLoop] = spanWidth();
    return span;
  }
  SmallVector<Value> spanIndices(OpBuilder &b, int64_t row, int64_t column) {
    return indicesOf(b, row, column, spanWidth() > 1 ? tile.columnLoop : -1);
  }
  SmallVector<Value> loadOutputs(OpBuilder &b, Value start);
  void storeSpan(OpBuilder &b, Value start, int64_t row, int64_t column, ValueRange results);
  void storeOutputs(OpBuilder &b, Value start, ValueRange values);

  TileEmitter &emitter;
  const SubgroupProductTile &tile;
  const SubgroupProductPlace &place;
  const ProductFusion &fusion;
  TileShape scalarTile;
  State state;
  Location loc;
  SmallVector<Step> rows, columns;
  llvm::DenseMap<std::pair<int64_t, size_t>, Shared> shared; ///< By depth and operand.
  SmallVector<Value> reductionIndices; ///< Of the current body by loop; null for parallel loops and single iterations.

  // Values that the current body, of `currentDepth` steps, has loaded.
  int64_t currentDepth = 1;
  std::map<std::pair<size_t, std::tuple<int64_t, int64_t, int64_t>>, Value> elements, loads;
};
} // namespace

//===-- Before the loops ----------------------------------------------------------------------------------------===//

SmallVector<SubgroupProductEmitter::Step> SubgroupProductEmitter::makeSteps(OpBuilder &b, int loop) {
  SmallVector<Step> steps;
  for (int64_t number = 0; number < (loop < 0 ? 1 : tile.factor(loop)); ++number) {
    Step &step = steps.emplace_back();
    bool ragged = isRagged(loop);
    if (ragged) {
      Value reached = arith::AddIOp::create(b, loc, place.base[loop], state.constant(b, number));
      Value size = state.value(b, emitter.size(loop));
      step.inside =
          number ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, reached, size).getResult() : Value();
      step.index = number ? clamp(b, loop, reached, 1) : reached;
      step.quad = number % 4 == 0 && number ? clamp(b, loop, reached, 4)
                                            : reached; // Loops with vectors have a multiple of four steps.
    }
    for (size_t operand = 0; operand <= output(); ++operand) {
      bool has = loop >= 0 && moves(operand, loop) && ragged;
      AffineExpr stride = has ? access(operand).strides[loop] : AffineExpr();
      step.offsets.push_back(has ? state.scale(b, step.index, stride) : Value());
      step.quadOffsets.push_back(has ? state.scale(b, step.quad, stride) : Value());
    }
  }
  return steps;
}

/// Returns the flat index of the tile's first element in each operand, without the terms of reductions and ragged
/// loops.
SmallVector<Value> SubgroupProductEmitter::startIndices(OpBuilder &b) {
  SmallVector<Value> starts;
  for (const Access &operand : emitter.getAccesses()) {
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

SubgroupProductEmitter::Shared SubgroupProductEmitter::share(OpBuilder &b, size_t operand, int64_t depth) {
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
    if (first + lanes > result.count) // Several lanes may load the last element.
      number = arith::MinUIOp::create(b, loc, number, state.constant(b, result.count - 1));
    // Loads are numbered along vectors first, then along the other loop.
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

Value SubgroupProductEmitter::loadAt(OpBuilder &b, size_t operand, Value index, bool isQuad) {
  Value flat = access(operand).flat;
  if (!isQuad) {
    Value element = memref::LoadOp::create(b, loc, flat, index);
    Operation *widening = operand < output() ? findWidening(emitter.getOp(), operand) : nullptr;
    if (!widening)
      return element;
    Operation *cast = b.clone(*widening);
    cast->setOperand(0, element);
    return cast->getResult(0);
  }
  auto type = VectorType::get({4}, cast<MemRefType>(flat.getType()).getElementType());
  return vector::LoadOp::create(b, loc, type, flat, index);
}

Value SubgroupProductEmitter::indexAt(OpBuilder &b, size_t operand, Value start, Point point) {
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

/// Returns the index of a point along each parallel loop; null for reductions. If the point is the first of a vector
/// along `quadLoop`, points beyond the end have the index of the last vector, else that of the last element.
SmallVector<Value> SubgroupProductEmitter::indicesOf(OpBuilder &b, int64_t row, int64_t column, int quadLoop) {
  SmallVector<Value> indices(place.base);
  auto setIndex = [&](int loop, ArrayRef<Step> steps, int64_t number) {
    if (loop < 0)
      return;
    if (isRagged(loop))
      indices[loop] = quadLoop == loop ? steps[number].quad : steps[number].index;
    else if (number)
      indices[loop] = state.add(b, place.base[loop], state.constant(b, number));
  };
  setIndex(tile.rowLoop, rows, row);
  setIndex(tile.columnLoop, columns, column);
  return indices;
}

/// Computes an element of an input that is not in memory, or the elements of the vector that has it.
void SubgroupProductEmitter::computeElements(OpBuilder &b, size_t operand, Point point) {
  int quad = quadLoop(operand);
  Point first = point;
  int64_t &along = quad == tile.columnLoop ? first.column : quad == tile.rowLoop ? first.row : first.depth;
  if (quad >= 0)
    along -= along % 4;
  SmallVector<Value> indices = indicesOf(b, first.row, first.column, quad);
  for (auto [index, reduction] : llvm::zip_equal(indices, reductionIndices))
    index = reduction ? reduction : index;
  Value depth = state.constant(b, first.depth);
  Value &inner = indices[tile.innerLoop];
  inner = inner ? state.add(b, inner, depth) : depth;
  for (Value element : fusion.getInput(operand)->compute(b, indices, /*inside=*/nullptr, quad < 0 ? 0 : size_t(quad),
                                                         quad < 0 ? 1 : 4)) {
    elements[{operand, first.key()}] = element;
    ++along;
  }
}

/// Loads an element that differs between lanes: each lane loads its element.
Value SubgroupProductEmitter::loadPerLane(OpBuilder &b, size_t operand, Value start, Point point) {
  int quad = quadLoop(operand);
  int64_t &along = quad == tile.columnLoop ? point.column : quad == tile.rowLoop ? point.row : point.depth;
  int64_t part = quad < 0 ? 0 : along % 4;
  along -= part;
  // Windows that overlap along the columns share elements.
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

/// Returns the result of load `number` of this lane, of an operand that all lanes share.
Value SubgroupProductEmitter::loadPart(OpBuilder &b, size_t operand, Value start, int64_t number) {
  const Shared &parts = shared.find({currentDepth, operand})->second;
  Value &loaded = loads[{operand, std::make_tuple(number, int64_t(0), int64_t(0))}];
  if (!loaded)
    loaded = loadAt(b, operand, state.add(b, start, parts.offsets[number]), parts.quadLoop >= 0);
  return loaded;
}

/// Returns an element that all lanes share. The lane that has loaded it broadcasts it.
Value SubgroupProductEmitter::loadShared(OpBuilder &b, size_t operand, Value start, Point point) {
  const Shared &parts = shared.find({currentDepth, operand})->second;
  bool alongRows = parts.quadLoop >= 0 && parts.quadLoop == tile.rowLoop;
  int64_t number = alongRows ? point.depth * parts.rows + point.row : point.row * parts.depth + point.depth;
  int64_t part = parts.quadLoop >= 0 ? number % 4 : 0;
  number = parts.quadLoop >= 0 ? number / 4 : number;
  int64_t lanes = place.lanes;
  Value loaded = loadPart(b, operand, start, number / lanes);
  Value value = parts.quadLoop >= 0 ? vector::ExtractOp::create(b, loc, loaded, part).getResult() : loaded;
  if (parts.count == 1)
    return value; // All lanes have loaded it.
  Value lane = arith::ConstantIntOp::create(b, loc, number % lanes, 32);
  return gpu::SubgroupBroadcastOp::create(b, loc, value.getType(), value, lane, gpu::BroadcastType::specific_lane);
}

Value SubgroupProductEmitter::load(OpBuilder &b, size_t operand, Value start, Point point) {
  if (access(operand).scalar)
    return access(operand).scalar;
  point.row = moves(operand, tile.rowLoop) ? point.row : 0;
  point.column = moves(operand, tile.columnLoop) ? point.column : 0;
  point.depth = moves(operand, tile.innerLoop) ? point.depth : 0;
  if (fusion.getInput(operand) && !elements.count({operand, point.key()}))
    computeElements(b, operand, point);
  Value &element = elements[{operand, point.key()}];
  if (!element)
    element = isShared(operand) ? loadShared(b, operand, start, point) : loadPerLane(b, operand, start, point);
  return element;
}

//===-- The reduction -------------------------------------------------------------------------------------------===//

/// Loads the operands of all points in `depth` steps before any point is computed. If loads are calls, no accumulator
/// has to stay in a register across one.
void SubgroupProductEmitter::loadAll(OpBuilder &b, ArrayRef<Value> starts, int64_t depth) {
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

/// Runs the body `depth` times at each point. All steps of a point come together, so that only one accumulator at a
/// time has to be in a register.
SmallVector<Value> SubgroupProductEmitter::computeSteps(OpBuilder &b, ArrayRef<Value> starts, int64_t depth,
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

SmallVector<Value> SubgroupProductEmitter::reduce(OpBuilder &b, ArrayRef<Value> starts, SmallVector<Value> values) {
  ReductionLoops loops(b, loc, values);
  SmallVector<Value> current(starts);
  auto advance = [&](size_t loop, Value index) {
    reductionIndices[loop] = index;
    state.advance(loops.inside(), loop, index, current);
  };
  SmallVector<SumCut> cuts = emitter.cutReductions(tile.innerLoop, tile.depth);
  for (auto [loop, info] : llvm::enumerate(emitter.shape().loops)) {
    if (!info.reduction || int(loop) == tile.innerLoop)
      continue;
    OpBuilder &inside = loops.inside();
    advance(loop, loops.open(state.constant(inside, 0), state.value(inside, emitter.size(loop)), 1, cuts[loop]));
  }
  AffineExpr size = emitter.size(tile.innerLoop);
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

/// Returns the number of columns whose results are computed or stored together.
int64_t SubgroupProductEmitter::spanWidth() const {
  if (!fusion.prologue && !fusion.epilogue)
    return quadLoop(output()) >= 0 ? 4 : 1;
  return tile.columns % 4 == 0 && emitter.size(tile.columnLoop).isMultipleOf(4) ? 4 : 1;
}

SmallVector<Value> SubgroupProductEmitter::loadOutputs(OpBuilder &b, Value start) {
  if (Value initial = emitter.getInitial())
    return SmallVector<Value>(tile.rows * tile.columns, initial);
  SmallVector<Value> values;
  for (int64_t row = 0; row < tile.rows; ++row) {
    if (!fusion.prologue) {
      for (int64_t column = 0; column < tile.columns; ++column)
        values.push_back(load(b, output(), start, {row, column, 0}));
      continue;
    }
    for (int64_t column = 0; column < tile.columns; column += spanWidth())
      llvm::append_range(values, fusion.prologue->compute(b, spanTile(), spanIndices(b, row, column)));
  }
  return values;
}

/// Stores the results of a span, or what the epilogue computes from them.
void SubgroupProductEmitter::storeSpan(OpBuilder &b, Value start, int64_t row, int64_t column, ValueRange results) {
  if (fusion.epilogue) {
    fusion.epilogue->emit(b, spanTile(), spanIndices(b, row, column), results);
    return;
  }
  Value flat = access(output()).flat;
  if (quadLoop(output()) >= 0) {
    Value vector = vector::FromElementsOp::create(b, loc, VectorType::get({4}, results.front().getType()), results);
    vector::StoreOp::create(b, loc, vector, flat, indexAt(b, output(), start, {row, column, 0}));
    return;
  }
  for (auto [number, result] : llvm::enumerate(results))
    memref::StoreOp::create(b, loc, result, flat, indexAt(b, output(), start, {row, column + int64_t(number), 0}));
}

void SubgroupProductEmitter::storeOutputs(OpBuilder &b, Value start, ValueRange values) {
  auto guard = [&](const OpBuilder &outer, Value condition) {
    OpBuilder inner = outer;
    return condition ? scf::IfOp::create(inner, loc, condition, /*withElseRegion=*/false).getThenBodyBuilder() : inner;
  };
  OpBuilder active = guard(b, place.isActive);
  int64_t width = spanWidth();
  for (int64_t row = 0; row < tile.rows; ++row) {
    OpBuilder inRow = guard(active, rows[row].inside);
    for (int64_t column = 0; column < tile.columns; column += width) {
      OpBuilder inside = guard(inRow, columns[column].inside);
      storeSpan(inside, start, row, column, values.slice(row * tile.columns + column, width));
    }
  }
}

void SubgroupProductEmitter::run(OpBuilder &b) {
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

void inlay::emitSubgroupProduct(OpBuilder &builder, TileEmitter &emitter, const SubgroupProductTile &tile,
                                const SubgroupProductPlace &place, const ProductFusion &fusion) {
  SubgroupProductEmitter(emitter, tile, place, fusion).run(builder);
}

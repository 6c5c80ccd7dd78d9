// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product's block as a workgroup computes it by matrices. All invocations bring what a step needs of both operands to
// the workgroup's memory, zeros for what lies over the end of a loop; subgroups read matrices from there. What the next
// step needs is loaded before this one is computed.

#include "TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;

/// Elements of a vector.
static constexpr int64_t kWidth = 4;

//===-- Which ops -----------------------------------------------------------------------------------------------===//

/// The argument of `block` that `value`, in f32, is: an f16 that is extended.
static BlockArgument findExtended(Value value) {
  auto extended = value.getDefiningOp<arith::ExtFOp>();
  auto argument = extended ? dyn_cast<BlockArgument>(extended.getIn()) : BlockArgument();
  return argument && argument.getType().isF16() && value.getType().isF32() ? argument : BlockArgument();
}

bool TileEmitter::isCooperativeMatrixProduct() const {
  linalg::LinalgOp linalgOp = op;
  if (linalgOp.getNumDpsInits() != 1 || linalgOp.getNumDpsInputs() != 2 ||
      llvm::any_of(accesses, [](const Access &access) { return !access.flat; }) ||
      accesses.back().flat == accesses[0].flat || accesses.back().flat == accesses[1].flat)
    return false;
  Block *block = linalgOp.getBlock();
  auto sum = block->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return false;
  BlockArgument out = block->getArgument(2);
  for (auto [start, term] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (start != out || !product)
      continue;
    BlockArgument lhs = findExtended(product.getLhs()), rhs = findExtended(product.getRhs());
    return lhs && rhs && lhs != rhs && lhs.getOwner() == block && rhs.getOwner() == block;
  }
  return false;
}

//===-- A block -------------------------------------------------------------------------------------------------===//

/// One block under construction.
struct TileEmitter::Matrices {
  Matrices(TileEmitter &emitter, const CooperativeMatrixTile &tile, const CooperativeMatrixPlace &place,
           const CooperativeMatrixEpilogue *epilogue)
      : emitter(emitter), tile(tile), place(place), epilogue(epilogue),
        scalarTile{std::vector<int64_t>(emitter.nest.loops.size(), 1)}, base(emitter.nest.loops.size()),
        state{emitter, scalarTile, base, emitter.op.getLoc(), {}, nullptr, {}, {}}, loc(emitter.op.getLoc()) {}

  void run(OpBuilder &b);

private:
  using Access = TileEmitter::Access;

  /// What an invocation brings of an operand at each step: four elements.
  struct Quad {
    Value isOwn;                ///< null: for sure
    Value slot;                 ///< in the workgroup's memory, in vectors
    SmallVector<Value> starts;  ///< where the elements lie, without the step; one for a vector
    SmallVector<Value> depths;  ///< of the same, from the step's first on
    SmallVector<Value> insides; ///< whether their rows or columns are there; null: for sure
  };

  /// An operand's part of a step in the workgroup's memory.
  struct Part {
    size_t operand;
    bool alongDepth; ///< terms lie side by side there, else rows or columns
    bool hasVectors; ///< in the buffer, too
    int64_t pitch;
    Value memory;
    SmallVector<Quad> quads;
  };

  /// Where a step begins.
  struct Step {
    Value depth;           ///< along the inner loop
    SmallVector<Value> at; ///< what it adds to where an operand's elements lie
  };

  const Access &access(size_t operand) const { return emitter.accesses[operand]; }
  const Access &output() const { return emitter.accesses.back(); }
  Value add(OpBuilder &b, Value lhs, Value rhs) { return lhs && rhs ? state.add(b, lhs, rhs) : lhs ? lhs : rhs; }
  Value addConstant(OpBuilder &b, Value value, int64_t number) {
    return number ? state.add(b, value, state.constant(b, number)) : value;
  }
  Value multiply(OpBuilder &b, Value value, int64_t by) {
    return by == 1 ? value : arith::MulIOp::create(b, loc, value, state.constant(b, by)).getResult();
  }
  Value divide(OpBuilder &b, Value value, int64_t by) {
    return arith::DivUIOp::create(b, loc, value, state.constant(b, by));
  }
  Value remainder(OpBuilder &b, Value value, int64_t by) {
    return arith::RemUIOp::create(b, loc, value, state.constant(b, by));
  }
  Value isBelow(OpBuilder &b, Value index, Value end) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, end);
  }
  Value both(OpBuilder &b, Value lhs, Value rhs) {
    return lhs && rhs ? arith::AndIOp::create(b, loc, lhs, rhs).getResult() : lhs ? lhs : rhs;
  }
  Value allocate(OpBuilder &b, int64_t count, Type element) {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    return memref::AllocOp::create(b, loc, MemRefType::get({count}, element, MemRefLayoutAttrInterface(), space));
  }

  Value count(OpBuilder &b, ArrayRef<size_t> loops);
  bool isWhole(ArrayRef<size_t> loops, int64_t block) const;
  SmallVector<Value> split(OpBuilder &b, ArrayRef<size_t> loops, Value number);
  Value offset(OpBuilder &b, const Access &access, ArrayRef<size_t> loops, ArrayRef<Value> indices);
  Value outerOffset(OpBuilder &b, const Access &access);

  Part makePart(OpBuilder &b, bool isLhs);
  Quad makeQuad(OpBuilder &b, const Part &part, bool isLhs, Value number, Value isOwn);
  Value countInnerSteps(OpBuilder &b);
  Value countSteps(OpBuilder &b);
  Step findStep(OpBuilder &b, Value number);
  SmallVector<Value> loadStep(OpBuilder &b, const Step &step);
  Value loadQuad(OpBuilder &b, const Part &part, const Quad &quad, const Step &step);
  void bring(OpBuilder &b, ValueRange loaded);
  SmallVector<Value> multiplyStep(OpBuilder &b, ValueRange sums);
  Value loadMatrix(OpBuilder &b, const Part &part, bool isLhs, int64_t number, int64_t depth);
  SmallVector<Value> reduce(OpBuilder &b, SmallVector<Value> sums);

  std::optional<int64_t> findResultPitch() const;
  Value resultIndex(OpBuilder &b, int64_t row, int64_t column, int64_t pitch);
  Value firstOf(OpBuilder &b, bool isRow, int64_t matrix);
  void forResults(OpBuilder &b, int64_t row, int64_t column,
                  llvm::function_ref<void(OpBuilder &, Value slot, ArrayRef<Value> indices)> access);
  Value patchStart(OpBuilder &b);
  Value elementIndex(OpBuilder &b, ArrayRef<Value> indices);
  SmallVector<Value> start(OpBuilder &b);
  void store(OpBuilder &b, ValueRange sums);
  void storeElement(OpBuilder &b, Value slot, ArrayRef<Value> indices);

  gpu::MMAMatrixType sumType(OpBuilder &b) const {
    return gpu::MMAMatrixType::get({tile.unit.rows, tile.unit.columns}, b.getF32Type(), "COp");
  }

  TileEmitter &emitter;
  const CooperativeMatrixTile &tile;
  const CooperativeMatrixPlace &place;
  const CooperativeMatrixEpilogue *epilogue;
  TileShape scalarTile;
  SmallVector<Value> base;
  State state;
  Location loc;
  Value subgroupRow, subgroupColumn, rowCount, columnCount, lane;
  Value patch; ///< a matrix of sums for each subgroup, in the workgroup's memory; null where none is needed
  SmallVector<Part, 2> parts;
};

//===-- Loops that count together -------------------------------------------------------------------------------===//

Value TileEmitter::Matrices::count(OpBuilder &b, ArrayRef<size_t> loops) {
  Value product;
  for (size_t loop : loops) {
    Value size = state.value(b, emitter.sizes[loop]);
    product = product ? arith::MulIOp::create(b, loc, product, size).getResult() : size;
  }
  return product;
}

/// True if blocks of `block` steps of the loops together reach over no end.
bool TileEmitter::Matrices::isWhole(ArrayRef<size_t> loops, int64_t block) const {
  AffineExpr steps = getAffineConstantExpr(1, emitter.op.getContext());
  for (size_t loop : loops)
    steps = steps * emitter.sizes[loop];
  return steps.isMultipleOf(block);
}

/// The index along each of the loops, the last of which is the fastest.
SmallVector<Value> TileEmitter::Matrices::split(OpBuilder &b, ArrayRef<size_t> loops, Value number) {
  SmallVector<Value> indices(loops.size());
  for (size_t i = loops.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = number;
      break;
    }
    Value size = state.value(b, emitter.sizes[loops[i]]);
    indices[i] = arith::RemUIOp::create(b, loc, number, size);
    number = arith::DivUIOp::create(b, loc, number, size);
  }
  return indices;
}

/// What these indices add to where an element lies; null for nothing.
Value TileEmitter::Matrices::offset(OpBuilder &b, const Access &access, ArrayRef<size_t> loops,
                                    ArrayRef<Value> indices) {
  Value sum;
  for (auto [loop, index] : llvm::zip_equal(loops, indices))
    if (!State::is(access.strides[loop], 0))
      sum = add(b, sum, state.scale(b, index, access.strides[loop]));
  return sum;
}

Value TileEmitter::Matrices::outerOffset(OpBuilder &b, const Access &access) {
  Value sum = State::is(access.offset, 0) ? Value() : state.value(b, access.offset);
  SmallVector<Value> indices;
  for (size_t loop : tile.loops.outer)
    indices.push_back(place.outer[loop]);
  return add(b, sum, offset(b, access, tile.loops.outer, indices));
}

//===-- Bringing operands to the workgroup's memory -------------------------------------------------------------===//

TileEmitter::Matrices::Part TileEmitter::Matrices::makePart(OpBuilder &b, bool isLhs) {
  Part part;
  part.operand = isLhs ? tile.loops.lhs : 1 - tile.loops.lhs;
  ArrayRef<size_t> loops = isLhs ? tile.loops.rows : tile.loops.columns;
  int64_t across = isLhs ? tile.blockRows() : tile.blockColumns();
  int vectorLoop = emitter.findVectors(access(part.operand), b.getF16Type(), /*maybeOpen=*/true);
  part.hasVectors = vectorLoop >= 0 && (vectorLoop == int(tile.loops.inner) || vectorLoop == int(loops.back()));
  part.alongDepth =
      part.hasVectors ? vectorLoop == int(tile.loops.inner) : !State::is(access(part.operand).strides[loops.back()], 1);
  int64_t minor = part.alongDepth ? tile.depth : across, major = part.alongDepth ? across : tile.depth;
  part.pitch = getCooperativeMatrixPitch(minor);
  part.memory = allocate(b, major * part.pitch / kWidth, VectorType::get({kWidth}, b.getF16Type()));
  int64_t quads = major * minor / kWidth, invocations = tile.subgroups() * place.lanes;
  for (int64_t first = 0; first < quads; first += invocations) {
    Value number = addConstant(b, place.invocation, first);
    Value isOwn = first + invocations > quads ? isBelow(b, number, state.constant(b, quads)) : Value();
    part.quads.push_back(makeQuad(b, part, isLhs, number, isOwn));
  }
  return part;
}

TileEmitter::Matrices::Quad TileEmitter::Matrices::makeQuad(OpBuilder &b, const Part &part, bool isLhs, Value number,
                                                            Value isOwn) {
  Quad quad;
  quad.isOwn = isOwn;
  ArrayRef<size_t> loops = isLhs ? tile.loops.rows : tile.loops.columns;
  int64_t block = isLhs ? tile.blockRows() : tile.blockColumns();
  int64_t minorQuads = (part.alongDepth ? tile.depth : block) / kWidth;
  Value major = divide(b, number, minorQuads), minorQuad = remainder(b, number, minorQuads);
  quad.slot = add(b, multiply(b, major, part.pitch / kWidth), minorQuad);
  Value minor = multiply(b, minorQuad, kWidth);
  const Access &operand = access(part.operand);
  Value outer = outerOffset(b, operand);
  for (int64_t element = 0; element < (part.hasVectors ? 1 : kWidth); ++element) {
    Value across = part.alongDepth ? major : addConstant(b, minor, element);
    Value depth = part.alongDepth ? addConstant(b, minor, element) : major;
    Value at = add(b, isLhs ? place.row : place.column, across);
    Value start = add(b, outer, offset(b, operand, loops, split(b, loops, at)));
    quad.starts.push_back(add(b, start, state.scale(b, depth, operand.strides[tile.loops.inner])));
    quad.depths.push_back(depth);
    Value inside = isWhole(loops, block) ? Value() : isBelow(b, at, isLhs ? rowCount : columnCount);
    quad.insides.push_back(both(b, inside, isOwn));
  }
  return quad;
}

/// How many steps there are along the inner loop.
Value TileEmitter::Matrices::countInnerSteps(OpBuilder &b) {
  AffineExpr size = emitter.sizes[tile.loops.inner];
  if (auto known = dyn_cast<AffineConstantExpr>(size))
    return state.constant(b, llvm::divideCeil(known.getValue(), tile.depth));
  return divide(b, addConstant(b, state.value(b, size), tile.depth - 1), tile.depth);
}

/// How many there are of all sums together.
Value TileEmitter::Matrices::countSteps(OpBuilder &b) {
  Value steps = countInnerSteps(b);
  if (tile.loops.sums.empty())
    return steps;
  return arith::MulIOp::create(b, loc, steps, count(b, tile.loops.sums));
}

TileEmitter::Matrices::Step TileEmitter::Matrices::findStep(OpBuilder &b, Value number) {
  Step step{nullptr, SmallVector<Value>(parts.size())};
  if (!tile.loops.sums.empty()) {
    Value inner = countInnerSteps(b);
    SmallVector<Value> indices = split(b, tile.loops.sums, arith::DivUIOp::create(b, loc, number, inner));
    for (auto [at, part] : llvm::zip_equal(step.at, parts))
      at = offset(b, access(part.operand), tile.loops.sums, indices);
    number = arith::RemUIOp::create(b, loc, number, inner);
  }
  step.depth = multiply(b, number, tile.depth);
  for (auto [at, part] : llvm::zip_equal(step.at, parts))
    at = add(b, at, state.scale(b, step.depth, access(part.operand).strides[tile.loops.inner]));
  return step;
}

/// Four elements; zeros for those that lie over an end.
Value TileEmitter::Matrices::loadQuad(OpBuilder &b, const Part &part, const Quad &quad, const Step &step) {
  auto type = VectorType::get({kWidth}, b.getF16Type());
  bool isWholeDepth = isWhole(tile.loops.inner, tile.depth);
  Value zero = state.constant(b, 0), size = isWholeDepth ? Value() : count(b, tile.loops.inner);
  SmallVector<Value> elements;
  for (auto [start, depth, acrossInside] : llvm::zip_equal(quad.starts, quad.depths, quad.insides)) {
    Value index = add(b, start, step.at[&part - parts.data()]), inside = acrossInside;
    if (!isWholeDepth)
      inside = both(b, inside, isBelow(b, add(b, step.depth, depth), size));
    if (inside)
      index = arith::SelectOp::create(b, loc, inside, index, zero);
    Type loadedType = part.hasVectors ? Type(type) : Type(b.getF16Type());
    Value loaded = part.hasVectors ? vector::LoadOp::create(b, loc, type, access(part.operand).flat, index).getResult()
                                   : memref::LoadOp::create(b, loc, access(part.operand).flat, index).getResult();
    if (inside) {
      Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(loadedType));
      if (part.hasVectors)
        inside = vector::BroadcastOp::create(b, loc, VectorType::get({kWidth}, b.getI1Type()), inside);
      loaded = arith::SelectOp::create(b, loc, inside, loaded, nothing);
    }
    elements.push_back(loaded);
  }
  return part.hasVectors ? elements.front() : vector::FromElementsOp::create(b, loc, type, elements).getResult();
}

SmallVector<Value> TileEmitter::Matrices::loadStep(OpBuilder &b, const Step &step) {
  SmallVector<Value> loaded;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads)
      loaded.push_back(loadQuad(b, part, quad, step));
  return loaded;
}

void TileEmitter::Matrices::bring(OpBuilder &b, ValueRange loaded) {
  size_t next = 0;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads) {
      OpBuilder inside =
          quad.isOwn ? scf::IfOp::create(b, loc, quad.isOwn, /*withElseRegion=*/false).getThenBodyBuilder() : b;
      memref::StoreOp::create(inside, loc, loaded[next++], part.memory, quad.slot);
    }
  gpu::BarrierOp::create(b, loc);
}

//===-- Multiplying ---------------------------------------------------------------------------------------------===//

/// The subgroup's matrix `number` along rows or columns, of terms from `depth` of the step on.
Value TileEmitter::Matrices::loadMatrix(OpBuilder &b, const Part &part, bool isLhs, int64_t number, int64_t depth) {
  int64_t width = isLhs ? tile.unit.rows : tile.unit.columns, own = isLhs ? tile.rows : tile.columns;
  Value first = multiply(b, isLhs ? subgroupRow : subgroupColumn, own * width);
  Value slot = part.alongDepth ? multiply(b, first, part.pitch / kWidth) : divide(b, first, kWidth);
  int64_t across = number * width;
  slot = addConstant(b, slot,
                     part.alongDepth ? (across * part.pitch + depth) / kWidth : (depth * part.pitch + across) / kWidth);
  SmallVector<int64_t> shape = isLhs ? SmallVector<int64_t>{tile.unit.rows, tile.unit.depth}
                                     : SmallVector<int64_t>{tile.unit.depth, tile.unit.columns};
  auto type = gpu::MMAMatrixType::get(shape, b.getF16Type(), isLhs ? "AOp" : "BOp");
  bool isTransposed = part.alongDepth != isLhs;
  return gpu::SubgroupMmaLoadMatrixOp::create(b, loc, type, part.memory, slot, b.getIndexAttr(part.pitch / kWidth),
                                              isTransposed ? b.getUnitAttr() : UnitAttr());
}

SmallVector<Value> TileEmitter::Matrices::multiplyStep(OpBuilder &b, ValueRange sums) {
  SmallVector<Value> results(sums);
  for (int64_t depth = 0; depth < tile.depth; depth += tile.unit.depth) {
    SmallVector<Value> lhs, rhs;
    for (int64_t row = 0; row < tile.rows; ++row)
      lhs.push_back(loadMatrix(b, parts[0], /*isLhs=*/true, row, depth));
    for (int64_t column = 0; column < tile.columns; ++column)
      rhs.push_back(loadMatrix(b, parts[1], /*isLhs=*/false, column, depth));
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        Value &sum = results[row * tile.columns + column];
        sum = gpu::SubgroupMmaComputeOp::create(b, loc, sum.getType(), lhs[row], rhs[column], sum, UnitAttr(),
                                                UnitAttr());
      }
  }
  return results;
}

SmallVector<Value> TileEmitter::Matrices::reduce(OpBuilder &b, SmallVector<Value> sums) {
  Value zero = state.constant(b, 0), one = state.constant(b, 1), steps = countSteps(b);
  Value last = arith::SubIOp::create(b, loc, steps, one);
  SmallVector<Value> carried = sums;
  llvm::append_range(carried, loadStep(b, findStep(b, zero)));
  if (matchPattern(steps, m_One())) {
    bring(b, ArrayRef(carried).drop_front(sums.size()));
    return multiplyStep(b, sums);
  }
  auto loop = scf::ForOp::create(b, loc, zero, steps, one, carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  ValueRange current = loop.getRegionIterArgs();
  gpu::BarrierOp::create(inside, loc); // all have read what was there
  bring(inside, current.drop_front(sums.size()));
  Value reached = arith::AddIOp::create(inside, loc, loop.getInductionVar(), one);
  Value next = arith::MinUIOp::create(inside, loc, reached, last);
  SmallVector<Value> loaded = loadStep(inside, findStep(inside, next));
  SmallVector<Value> yielded = multiplyStep(inside, current.take_front(sums.size()));
  llvm::append_range(yielded, loaded);
  scf::YieldOp::create(inside, loc, yielded);
  return llvm::to_vector_of<Value>(loop.getResults().take_front(sums.size()));
}

//===-- The result ----------------------------------------------------------------------------------------------===//

/// How far apart rows of the result are, if matrices can be loaded and stored there as they are: all blocks are whole,
/// elements of a row lie side by side, and each row at a multiple of 16 bytes.
std::optional<int64_t> TileEmitter::Matrices::findResultPitch() const {
  ArrayRef<size_t> rows = tile.loops.rows, columns = tile.loops.columns;
  const SmallVector<AffineExpr> &strides = output().strides;
  auto isAligned = [](AffineExpr expr) { return expr.isMultipleOf(16 / 4); };
  /// Whether the loops go along elements that are as far apart as those of the last.
  auto isEven = [&](ArrayRef<size_t> loops) {
    for (size_t i = 0; i + 1 < loops.size(); ++i)
      if (strides[loops[i]] != strides[loops[i + 1]] * emitter.sizes[loops[i + 1]])
        return false;
    return isa<AffineConstantExpr>(strides[loops.back()]);
  };
  bool isStraight = isWhole(rows, tile.blockRows()) && isWhole(columns, tile.blockColumns()) && isEven(rows) &&
                    isEven(columns) && State::is(strides[columns.back()], 1) && isAligned(strides[rows.back()]) &&
                    isAligned(output().offset) &&
                    llvm::all_of(tile.loops.outer, [&](size_t loop) { return isAligned(strides[loop]); });
  if (!isStraight)
    return std::nullopt;
  return cast<AffineConstantExpr>(strides[rows.back()]).getValue();
}

/// The first row or column, of all, of the subgroup's matrix `matrix` along them.
Value TileEmitter::Matrices::firstOf(OpBuilder &b, bool isRow, int64_t matrix) {
  int64_t width = isRow ? tile.unit.rows : tile.unit.columns, own = isRow ? tile.rows : tile.columns;
  Value first = multiply(b, isRow ? subgroupRow : subgroupColumn, own * width);
  return add(b, isRow ? place.row : place.column, addConstant(b, first, matrix * width));
}

/// Where a matrix begins in a result whose rows are `pitch` apart.
Value TileEmitter::Matrices::resultIndex(OpBuilder &b, int64_t row, int64_t column, int64_t pitch) {
  Value index = add(b, multiply(b, firstOf(b, /*isRow=*/true, row), pitch), firstOf(b, /*isRow=*/false, column));
  return add(b, outerOffset(b, output()), index);
}

/// Where the subgroup's patch begins.
Value TileEmitter::Matrices::patchStart(OpBuilder &b) {
  Value subgroup = add(b, multiply(b, subgroupRow, tile.columnSubgroups), subgroupColumn);
  return multiply(b, subgroup, tile.unit.rows * tile.unit.columns);
}

/// Emits `access` for each element of a matrix of the result that is there: its slot in the patch, and its index along
/// each loop. The invocations of the subgroup take turns.
void TileEmitter::Matrices::forResults(
    OpBuilder &b, int64_t row, int64_t column,
    llvm::function_ref<void(OpBuilder &, Value slot, ArrayRef<Value> indices)> access) {
  Value end = state.constant(b, tile.unit.rows * tile.unit.columns);
  auto loop = scf::ForOp::create(b, loc, lane, end, state.constant(b, place.lanes));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Value number = loop.getInductionVar();
  Value atRow = add(inside, firstOf(inside, true, row), divide(inside, number, tile.unit.columns));
  Value atColumn = add(inside, firstOf(inside, false, column), remainder(inside, number, tile.unit.columns));
  Value isThere;
  if (!isWhole(tile.loops.rows, tile.blockRows()))
    isThere = isBelow(inside, atRow, rowCount);
  if (!isWhole(tile.loops.columns, tile.blockColumns()))
    isThere = both(inside, isThere, isBelow(inside, atColumn, columnCount));
  if (isThere)
    inside = scf::IfOp::create(inside, loc, isThere, /*withElseRegion=*/false).getThenBodyBuilder();
  SmallVector<Value> indices(place.outer);
  auto setIndices = [&](ArrayRef<size_t> loops, Value at) {
    for (auto [loop, index] : llvm::zip_equal(loops, split(inside, loops, at)))
      indices[loop] = index;
  };
  setIndices(tile.loops.rows, atRow);
  setIndices(tile.loops.columns, atColumn);
  access(inside, add(inside, patchStart(inside), number), indices);
}

/// Where the element of the result at these indices lies, one for each parallel loop.
Value TileEmitter::Matrices::elementIndex(OpBuilder &b, ArrayRef<Value> indices) {
  Value index = outerOffset(b, output());
  for (ArrayRef<size_t> loops : {ArrayRef(tile.loops.rows), ArrayRef(tile.loops.columns)})
    for (size_t loop : loops)
      index = add(b, index, offset(b, output(), loop, indices[loop]));
  return index ? index : state.constant(b, 0);
}

/// The matrices of sums before the first term.
SmallVector<Value> TileEmitter::Matrices::start(OpBuilder &b) {
  int64_t matrices = tile.rows * tile.columns;
  gpu::MMAMatrixType type = sumType(b);
  if (emitter.initial) {
    Value matrix = gpu::SubgroupMmaConstantMatrixOp::create(b, loc, type, emitter.initial);
    return SmallVector<Value>(matrices, matrix);
  }
  std::optional<int64_t> pitch = findResultPitch();
  SmallVector<Value> sums;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column) {
      if (pitch) {
        sums.push_back(gpu::SubgroupMmaLoadMatrixOp::create(
            b, loc, type, output().flat, resultIndex(b, row, column, *pitch), b.getIndexAttr(*pitch), UnitAttr()));
        continue;
      }
      gpu::BarrierOp::create(b, loc);
      forResults(b, row, column, [&](OpBuilder &inside, Value slot, ArrayRef<Value> indices) {
        Value value = memref::LoadOp::create(inside, loc, output().flat, elementIndex(inside, indices));
        memref::StoreOp::create(inside, loc, value, patch, slot);
      });
      gpu::BarrierOp::create(b, loc);
      sums.push_back(gpu::SubgroupMmaLoadMatrixOp::create(b, loc, type, patch, patchStart(b),
                                                          b.getIndexAttr(tile.unit.columns), UnitAttr()));
    }
  return sums;
}

void TileEmitter::Matrices::storeElement(OpBuilder &b, Value slot, ArrayRef<Value> indices) {
  if (epilogue) {
    // What the element is read from is the patch, wherever it lies in the buffer.
    AffineExpr zero = getAffineConstantExpr(0, b.getContext());
    size_t rank = cast<MemRefType>(epilogue->buffer.getType()).getRank();
    epilogue->emitter->setLocal({epilogue->buffer, patch, SmallVector<AffineExpr>(rank, zero), slot});
    SmallVector<Value> own;
    for (size_t loop : epilogue->loops)
      own.push_back(indices[loop]);
    TileShape one{std::vector<int64_t>(own.size(), 1)};
    epilogue->emitter->emit(b, one, own, /*active=*/1);
    return;
  }
  Value value = memref::LoadOp::create(b, loc, patch, slot);
  memref::StoreOp::create(b, loc, value, output().flat, elementIndex(b, indices));
}

void TileEmitter::Matrices::store(OpBuilder &b, ValueRange sums) {
  std::optional<int64_t> pitch = epilogue ? std::nullopt : findResultPitch();
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column) {
      Value sum = sums[row * tile.columns + column];
      if (pitch) {
        gpu::SubgroupMmaStoreMatrixOp::create(b, loc, sum, output().flat, resultIndex(b, row, column, *pitch),
                                              b.getIndexAttr(*pitch), UnitAttr());
        continue;
      }
      gpu::SubgroupMmaStoreMatrixOp::create(b, loc, sum, patch, patchStart(b), b.getIndexAttr(tile.unit.columns),
                                            UnitAttr());
      gpu::BarrierOp::create(b, loc);
      forResults(b, row, column,
                 [&](OpBuilder &inside, Value slot, ArrayRef<Value> indices) { storeElement(inside, slot, indices); });
      gpu::BarrierOp::create(b, loc);
    }
}

void TileEmitter::Matrices::run(OpBuilder &b) {
  Value subgroup = gpu::SubgroupIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  lane = gpu::LaneIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  subgroupRow = divide(b, subgroup, tile.columnSubgroups);
  subgroupColumn = remainder(b, subgroup, tile.columnSubgroups);
  rowCount = count(b, tile.loops.rows);
  columnCount = count(b, tile.loops.columns);
  if (epilogue || !findResultPitch())
    patch = allocate(b, tile.subgroups() * tile.unit.rows * tile.unit.columns, b.getF32Type());
  parts.push_back(makePart(b, /*isLhs=*/true));
  parts.push_back(makePart(b, /*isLhs=*/false));
  SmallVector<Value> sums = reduce(b, start(b));
  store(b, sums);
}

void TileEmitter::emitCooperativeMatrixProduct(OpBuilder &builder, const CooperativeMatrixTile &tile,
                                               const CooperativeMatrixPlace &place,
                                               const CooperativeMatrixEpilogue *epilogue) {
  Matrices(*this, tile, place, epilogue).run(builder);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the block of a product that a workgroup computes with cooperative matrices. In each step, all invocations copy
// a part of both operands to workgroup memory, with zeros beyond the ends of loops, and subgroups load matrices from
// there. The elements of the next step are loaded before the current step is computed, to hide the latency.

#include "CooperativeMatrixEmitter.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;

/// Elements of a vector.
static constexpr int64_t kWidth = 4;

//===-- Which ops -----------------------------------------------------------------------------------------------===//

/// If `value` is an f32 that extends an f16 argument of a block, returns the argument. Else returns null.
static BlockArgument findExtended(Value value) {
  auto extended = value.getDefiningOp<arith::ExtFOp>();
  auto argument = extended ? dyn_cast<BlockArgument>(extended.getIn()) : BlockArgument();
  return argument && argument.getType().isF16() && value.getType().isF32() ? argument : BlockArgument();
}

bool inlay::isCooperativeMatrixProduct(const TileEmitter &emitter) {
  linalg::LinalgOp op = emitter.getOp();
  ArrayRef<TileEmitter::Access> accesses = emitter.getAccesses();
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 2 ||
      llvm::any_of(accesses, [](const TileEmitter::Access &access) { return !access.flat; }) ||
      accesses.back().flat == accesses[0].flat || accesses.back().flat == accesses[1].flat)
    return false;
  Block *block = op.getBlock();
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

namespace {
/// Emits one block.
class CooperativeMatrixEmitter {
public:
  CooperativeMatrixEmitter(TileEmitter &emitter, const CooperativeMatrixTile &tile, const CooperativeMatrixPlace &place,
                           const ProductNeighbor *epilogue)
      : emitter(emitter), tile(tile), place(place), epilogue(epilogue),
        scalarTile{std::vector<int64_t>(emitter.shape().loops.size(), 1)}, base(emitter.shape().loops.size()),
        state{emitter, scalarTile, base, emitter.getOp().getLoc(), {}, nullptr, {}, {}}, loc(emitter.getOp().getLoc()) {
  }

  void run(OpBuilder &b);

private:
  using Access = TileEmitter::Access;
  using State = TileEmitter::State;

  /// Four elements of an operand that an invocation copies in each step.
  struct Quad {
    Value isActive;             ///< True if the invocation copies these elements. Null means always true.
    Value slot;                 ///< Index of the vector in workgroup memory.
    SmallVector<Value> starts;  ///< Index of each element in the buffer without the step; one for a vector.
    SmallVector<Value> depths;  ///< Index of the same elements along the inner loop, relative to the step.
    SmallVector<Value> insides; ///< True if the row or column of the element exists. Null means always true.
  };

  /// The part of an operand that one step needs, in workgroup memory.
  struct Part {
    size_t operand;
    bool alongDepth; ///< True if terms are contiguous in workgroup memory, false if rows or columns are.
    bool hasVectors; ///< True if the buffer is read in vectors too.
    int64_t pitch;
    Value memory;
    SmallVector<Quad> quads;
  };

  /// The start of a step.
  struct Step {
    Value depth;           ///< Index along the inner loop.
    SmallVector<Value> at; ///< Offset of the step in each operand.
  };

  const Access &access(size_t operand) const { return emitter.getAccesses()[operand]; }
  const Access &output() const { return emitter.getAccesses().back(); }
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
  Quad makeQuad(OpBuilder &b, const Part &part, bool isLhs, Value number, Value isActive);
  Value countInnerSteps(OpBuilder &b);
  Value countSteps(OpBuilder &b);
  Step findStep(OpBuilder &b, Value number);
  SmallVector<Value> loadStep(OpBuilder &b, const Step &step);
  Value loadQuad(OpBuilder &b, const Part &part, const Quad &quad, const Step &step);
  void storeStep(OpBuilder &b, ValueRange loaded);
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
  const ProductNeighbor *epilogue;
  TileShape scalarTile;
  SmallVector<Value> base;
  State state;
  Location loc;
  Value subgroupRow, subgroupColumn, rowCount, columnCount, lane;
  Value patch; ///< A matrix of sums for each subgroup, in workgroup memory; null if none is needed.
  SmallVector<Part, 2> parts;
};
} // namespace

//===-- Loops that are counted together --------------------------------------------------------------------------===//

Value CooperativeMatrixEmitter::count(OpBuilder &b, ArrayRef<size_t> loops) {
  Value product;
  for (size_t loop : loops) {
    Value size = state.value(b, emitter.size(loop));
    product = product ? arith::MulIOp::create(b, loc, product, size).getResult() : size;
  }
  return product;
}

/// Returns true if blocks of `block` steps of the combined loops never reach over the end.
bool CooperativeMatrixEmitter::isWhole(ArrayRef<size_t> loops, int64_t block) const {
  AffineExpr steps = getAffineConstantExpr(1, emitter.getOp().getContext());
  for (size_t loop : loops)
    steps = steps * emitter.size(loop);
  return steps.isMultipleOf(block);
}

/// Splits a number into the index along each of the loops. The last loop is the fastest.
SmallVector<Value> CooperativeMatrixEmitter::split(OpBuilder &b, ArrayRef<size_t> loops, Value number) {
  SmallVector<Value> indices(loops.size());
  for (size_t i = loops.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = number;
      break;
    }
    Value size = state.value(b, emitter.size(loops[i]));
    indices[i] = arith::RemUIOp::create(b, loc, number, size);
    number = arith::DivUIOp::create(b, loc, number, size);
  }
  return indices;
}

/// Returns the offset that these indices add to an access; null for 0.
Value CooperativeMatrixEmitter::offset(OpBuilder &b, const Access &access, ArrayRef<size_t> loops,
                                       ArrayRef<Value> indices) {
  Value sum;
  for (auto [loop, index] : llvm::zip_equal(loops, indices))
    if (!State::is(access.strides[loop], 0))
      sum = add(b, sum, state.scale(b, index, access.strides[loop]));
  return sum;
}

Value CooperativeMatrixEmitter::outerOffset(OpBuilder &b, const Access &access) {
  Value sum = State::is(access.offset, 0) ? Value() : state.value(b, access.offset);
  SmallVector<Value> indices;
  for (size_t loop : tile.loops.outer)
    indices.push_back(place.outer[loop]);
  return add(b, sum, offset(b, access, tile.loops.outer, indices));
}

//===-- Copying operands to workgroup memory ---------------------------------------------------------------------===//

CooperativeMatrixEmitter::Part CooperativeMatrixEmitter::makePart(OpBuilder &b, bool isLhs) {
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
    Value isActive = first + invocations > quads ? isBelow(b, number, state.constant(b, quads)) : Value();
    part.quads.push_back(makeQuad(b, part, isLhs, number, isActive));
  }
  return part;
}

CooperativeMatrixEmitter::Quad CooperativeMatrixEmitter::makeQuad(OpBuilder &b, const Part &part, bool isLhs,
                                                                  Value number, Value isActive) {
  Quad quad;
  quad.isActive = isActive;
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
    quad.insides.push_back(both(b, inside, isActive));
  }
  return quad;
}

/// Returns the number of steps along the inner loop.
Value CooperativeMatrixEmitter::countInnerSteps(OpBuilder &b) {
  AffineExpr size = emitter.size(tile.loops.inner);
  if (auto known = dyn_cast<AffineConstantExpr>(size))
    return state.constant(b, llvm::divideCeilSigned(known.getValue(), tile.depth));
  return divide(b, addConstant(b, state.value(b, size), tile.depth - 1), tile.depth);
}

/// Returns the number of steps over all reductions.
Value CooperativeMatrixEmitter::countSteps(OpBuilder &b) {
  Value steps = countInnerSteps(b);
  if (tile.loops.sums.empty())
    return steps;
  return arith::MulIOp::create(b, loc, steps, count(b, tile.loops.sums));
}

CooperativeMatrixEmitter::Step CooperativeMatrixEmitter::findStep(OpBuilder &b, Value number) {
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

/// Loads four elements. Elements beyond an end are zero.
Value CooperativeMatrixEmitter::loadQuad(OpBuilder &b, const Part &part, const Quad &quad, const Step &step) {
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

SmallVector<Value> CooperativeMatrixEmitter::loadStep(OpBuilder &b, const Step &step) {
  SmallVector<Value> loaded;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads)
      loaded.push_back(loadQuad(b, part, quad, step));
  return loaded;
}

void CooperativeMatrixEmitter::storeStep(OpBuilder &b, ValueRange loaded) {
  size_t next = 0;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads) {
      OpBuilder inside =
          quad.isActive ? scf::IfOp::create(b, loc, quad.isActive, /*withElseRegion=*/false).getThenBodyBuilder() : b;
      memref::StoreOp::create(inside, loc, loaded[next++], part.memory, quad.slot);
    }
  gpu::BarrierOp::create(b, loc);
}

//===-- Multiplying ---------------------------------------------------------------------------------------------===//

/// Loads the subgroup's matrix `number` along rows or columns, with the terms from `depth` on of the current step.
Value CooperativeMatrixEmitter::loadMatrix(OpBuilder &b, const Part &part, bool isLhs, int64_t number, int64_t depth) {
  int64_t width = isLhs ? tile.unit.rows : tile.unit.columns, matrices = isLhs ? tile.rows : tile.columns;
  Value first = multiply(b, isLhs ? subgroupRow : subgroupColumn, matrices * width);
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

SmallVector<Value> CooperativeMatrixEmitter::multiplyStep(OpBuilder &b, ValueRange sums) {
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

SmallVector<Value> CooperativeMatrixEmitter::reduce(OpBuilder &b, SmallVector<Value> sums) {
  Value zero = state.constant(b, 0), one = state.constant(b, 1), steps = countSteps(b);
  Value last = arith::SubIOp::create(b, loc, steps, one);
  SmallVector<Value> carried = sums;
  llvm::append_range(carried, loadStep(b, findStep(b, zero)));
  if (matchPattern(steps, m_One())) {
    storeStep(b, ArrayRef(carried).drop_front(sums.size()));
    return multiplyStep(b, sums);
  }
  auto loop = scf::ForOp::create(b, loc, zero, steps, one, carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  ValueRange current = loop.getRegionIterArgs();
  gpu::BarrierOp::create(inside, loc); // All invocations have read the previous step.
  storeStep(inside, current.drop_front(sums.size()));
  Value reached = arith::AddIOp::create(inside, loc, loop.getInductionVar(), one);
  Value next = arith::MinUIOp::create(inside, loc, reached, last);
  SmallVector<Value> loaded = loadStep(inside, findStep(inside, next));
  SmallVector<Value> yielded = multiplyStep(inside, current.take_front(sums.size()));
  llvm::append_range(yielded, loaded);
  scf::YieldOp::create(inside, loc, yielded);
  return llvm::to_vector_of<Value>(loop.getResults().take_front(sums.size()));
}

//===-- The result ----------------------------------------------------------------------------------------------===//

/// Returns the distance between rows of the result if matrices can be loaded and stored there directly: all blocks are
/// whole, the elements of a row are contiguous, and each row starts at a multiple of 16 bytes.
std::optional<int64_t> CooperativeMatrixEmitter::findResultPitch() const {
  ArrayRef<size_t> rows = tile.loops.rows, columns = tile.loops.columns;
  const SmallVector<AffineExpr> &strides = output().strides;
  auto isAligned = [](AffineExpr expr) { return expr.isMultipleOf(16 / 4); };
  /// Returns true if the loops together access elements at a constant distance, that of the last loop.
  auto isEven = [&](ArrayRef<size_t> loops) {
    for (size_t i = 0; i + 1 < loops.size(); ++i)
      if (strides[loops[i]] != strides[loops[i + 1]] * emitter.size(loops[i + 1]))
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

/// Returns the first row or column of the subgroup's matrix number `matrix`, counted over the whole product.
Value CooperativeMatrixEmitter::firstOf(OpBuilder &b, bool isRow, int64_t matrix) {
  int64_t width = isRow ? tile.unit.rows : tile.unit.columns, matrices = isRow ? tile.rows : tile.columns;
  Value first = multiply(b, isRow ? subgroupRow : subgroupColumn, matrices * width);
  return add(b, isRow ? place.row : place.column, addConstant(b, first, matrix * width));
}

/// Returns the index of a matrix in a result whose rows are `pitch` elements apart.
Value CooperativeMatrixEmitter::resultIndex(OpBuilder &b, int64_t row, int64_t column, int64_t pitch) {
  Value index = add(b, multiply(b, firstOf(b, /*isRow=*/true, row), pitch), firstOf(b, /*isRow=*/false, column));
  return add(b, outerOffset(b, output()), index);
}

/// Returns the index of the subgroup's patch.
Value CooperativeMatrixEmitter::patchStart(OpBuilder &b) {
  Value subgroup = add(b, multiply(b, subgroupRow, tile.columnSubgroups), subgroupColumn);
  return multiply(b, subgroup, tile.unit.rows * tile.unit.columns);
}

/// Emits `access` for each existing element of a matrix of the result, with the element's slot in the patch and its
/// index along each loop. The invocations of the subgroup take turns.
void CooperativeMatrixEmitter::forResults(
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

/// Returns the index of an element of the result. `indices` has one index for each parallel loop.
Value CooperativeMatrixEmitter::elementIndex(OpBuilder &b, ArrayRef<Value> indices) {
  Value index = outerOffset(b, output());
  for (ArrayRef<size_t> loops : {ArrayRef(tile.loops.rows), ArrayRef(tile.loops.columns)})
    for (size_t loop : loops)
      index = add(b, index, offset(b, output(), loop, indices[loop]));
  return index ? index : state.constant(b, 0);
}

/// Returns the initial matrices of sums.
SmallVector<Value> CooperativeMatrixEmitter::start(OpBuilder &b) {
  int64_t matrices = tile.rows * tile.columns;
  gpu::MMAMatrixType type = sumType(b);
  if (Value initial = emitter.getInitial()) {
    Value matrix = gpu::SubgroupMmaConstantMatrixOp::create(b, loc, type, initial);
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

void CooperativeMatrixEmitter::storeElement(OpBuilder &b, Value slot, ArrayRef<Value> indices) {
  if (epilogue) {
    epilogue->emit(b, indices, patch, slot);
    return;
  }
  Value value = memref::LoadOp::create(b, loc, patch, slot);
  memref::StoreOp::create(b, loc, value, output().flat, elementIndex(b, indices));
}

void CooperativeMatrixEmitter::store(OpBuilder &b, ValueRange sums) {
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

void CooperativeMatrixEmitter::run(OpBuilder &b) {
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

void inlay::emitCooperativeMatrixProduct(OpBuilder &builder, TileEmitter &emitter, const CooperativeMatrixTile &tile,
                                         const CooperativeMatrixPlace &place, const ProductNeighbor *epilogue) {
  CooperativeMatrixEmitter(emitter, tile, place, epilogue).run(builder);
}

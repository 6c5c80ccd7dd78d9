// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the block of a product that a workgroup computes with cooperative matrices. In each step, subgroups load
// matrices from workgroup memory, to which BlockEmitter.cpp copies a part of both operands. The elements of the next
// step are loaded before the current step is computed, to hide the latency.

#include "CooperativeMatrixEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;

//===-- Which ops -----------------------------------------------------------------------------------------------===//

/// If `value` is an f32 that extends an f16 argument of a block, returns the argument. Else returns null.
static BlockArgument findExtended(Value value) {
  auto extended = value.getDefiningOp<arith::ExtFOp>();
  auto argument = extended ? dyn_cast<BlockArgument>(extended.getIn()) : BlockArgument();
  return argument && argument.getType().isF16() && value.getType().isF32() ? argument : BlockArgument();
}

bool inlay::isCooperativeMatrixProduct(const TileEmitter &emitter) {
  auto factors = findFactors(emitter);
  if (!factors)
    return false;
  BlockArgument lhs = findExtended(factors->first), rhs = findExtended(factors->second);
  Block *block = emitter.getOp().getBlock();
  return lhs && rhs && lhs != rhs && lhs.getOwner() == block && rhs.getOwner() == block;
}

//===-- A block -------------------------------------------------------------------------------------------------===//

namespace {
/// Emits one block.
class CooperativeMatrixEmitter : BlockEmitter {
public:
  CooperativeMatrixEmitter(TileEmitter &emitter, const CooperativeMatrixTile &tile, const BlockPlace &place,
                           const ProductFusion &fusion)
      : BlockEmitter(emitter, tile.loops, tile.block(), place, fusion, Float16Type::get(emitter.getOp().getContext()),
                     Layout::AsRead),
        tile(tile) {}

  void run(OpBuilder &b);

private:
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

  const CooperativeMatrixTile &tile;
  Value subgroupRow, subgroupColumn, lane;
  Value patch; ///< A matrix of sums for each subgroup, in workgroup memory; null if none is needed.
};
} // namespace

//===-- Multiplying ---------------------------------------------------------------------------------------------===//

/// Loads the subgroup's matrix `number` along rows or columns, with the terms from `depth` on of the current step.
Value CooperativeMatrixEmitter::loadMatrix(OpBuilder &b, const Part &part, bool isLhs, int64_t number, int64_t depth) {
  int64_t width = isLhs ? tile.unit.rows : tile.unit.columns, matrices = isLhs ? tile.rows : tile.columns;
  Value first = multiply(b, isLhs ? subgroupRow : subgroupColumn, matrices * width);
  Value slot = part.keepsTerms ? multiply(b, first, part.pitch / kWidth) : divide(b, first, kWidth);
  int64_t across = number * width;
  slot = addConstant(b, slot,
                     part.keepsTerms ? (across * part.pitch + depth) / kWidth : (depth * part.pitch + across) / kWidth);
  SmallVector<int64_t> shape = isLhs ? SmallVector<int64_t>{tile.unit.rows, tile.unit.depth}
                                     : SmallVector<int64_t>{tile.unit.depth, tile.unit.columns};
  auto type = gpu::MMAMatrixType::get(shape, b.getF16Type(), isLhs ? "AOp" : "BOp");
  bool isTransposed = part.keepsTerms != isLhs;
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
  llvm::append_range(carried, loadStep(b, zero));
  if (matchPattern(steps, m_One())) {
    storeStep(b, ArrayRef(carried).drop_front(sums.size()));
    gpu::BarrierOp::create(b, loc);
    return multiplyStep(b, sums);
  }
  auto loop = scf::ForOp::create(b, loc, zero, steps, one, carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  ValueRange current = loop.getRegionIterArgs();
  gpu::BarrierOp::create(inside, loc); // All invocations have read the previous step.
  storeStep(inside, current.drop_front(sums.size()));
  gpu::BarrierOp::create(inside, loc);
  Value reached = arith::AddIOp::create(inside, loc, loop.getInductionVar(), one);
  Value next = arith::MinUIOp::create(inside, loc, reached, last);
  SmallVector<Value> loaded = loadStep(inside, next);
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
  auto loop = scf::ForOp::create(b, loc, lane, end, state.constant(b, tile.lanes));
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
  for (const std::vector<size_t> *across : {&loops.rows, &loops.columns})
    for (size_t loop : *across)
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
  std::optional<int64_t> pitch = fusion.prologue ? std::nullopt : findResultPitch();
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
        Value value = fusion.prologue
                          ? fusion.prologue->compute(inside, scalarTile, indices).front()
                          : memref::LoadOp::create(inside, loc, output().flat, elementIndex(inside, indices));
        memref::StoreOp::create(inside, loc, value, patch, slot);
      });
      gpu::BarrierOp::create(b, loc);
      sums.push_back(gpu::SubgroupMmaLoadMatrixOp::create(b, loc, type, patch, patchStart(b),
                                                          b.getIndexAttr(tile.unit.columns), UnitAttr()));
    }
  return sums;
}

void CooperativeMatrixEmitter::storeElement(OpBuilder &b, Value slot, ArrayRef<Value> indices) {
  Value value = memref::LoadOp::create(b, loc, patch, slot);
  if (fusion.epilogue)
    fusion.epilogue->emit(b, scalarTile, indices, value);
  else
    memref::StoreOp::create(b, loc, value, output().flat, elementIndex(b, indices));
}

void CooperativeMatrixEmitter::store(OpBuilder &b, ValueRange sums) {
  std::optional<int64_t> pitch = fusion.epilogue ? std::nullopt : findResultPitch();
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
  if (fusion.prologue || fusion.epilogue || !findResultPitch())
    patch = allocate(b, tile.subgroups() * tile.unit.rows * tile.unit.columns, b.getF32Type());
  makeParts(b);
  SmallVector<Value> sums = reduce(b, start(b));
  store(b, sums);
}

void inlay::emitCooperativeMatrixProduct(OpBuilder &builder, TileEmitter &emitter, const CooperativeMatrixTile &tile,
                                         const BlockPlace &place, const ProductFusion &fusion) {
  CooperativeMatrixEmitter(emitter, tile, place, fusion).run(builder);
}

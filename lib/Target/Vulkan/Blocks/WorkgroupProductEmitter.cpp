// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the block of a product that a workgroup computes with sums in registers. Each invocation reads the elements of
// its rows and columns from workgroup memory, where BlockEmitter.cpp copies them. The memory has two buffers: while
// invocations read the operands of a step from one of them, they copy those of the next step to the other one, so a
// step needs one barrier.

#include "WorkgroupProductEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

bool inlay::isWorkgroupProduct(const TileEmitter &emitter) {
  linalg::LinalgOp op = emitter.getOp();
  auto factors = findFactors(emitter);
  if (!factors || op.hasIndexSemantics() || emitter.hasGathers())
    return false;
  Value lhs = op.getBlock()->getArgument(0), rhs = op.getBlock()->getArgument(1);
  return *factors == std::pair(lhs, rhs) || *factors == std::pair(rhs, lhs);
}

namespace {
/// Emits one block.
class WorkgroupProductEmitter : BlockEmitter {
public:
  WorkgroupProductEmitter(TileEmitter &emitter, const WorkgroupProductTile &tile, const BlockPlace &place)
      : BlockEmitter(emitter, tile.loops, tile.block(), place, Float32Type::get(emitter.getOp().getContext()),
                     Layout::Across, kStepBuffers),
        tile(tile) {}

  void run(OpBuilder &b);

private:
  /// A row or column of an invocation.
  struct Line {
    Value inside;               ///< True if it exists. Null means always true.
    SmallVector<Value> indices; ///< Index along each of the loops of the rows or columns.
  };

  int64_t countLines(bool isLhs) const { return isLhs ? tile.rows : tile.columns; }
  Value position(bool isLhs) const { return isLhs ? atRow : atColumn; }
  Value lineInBlock(OpBuilder &b, bool isLhs, int64_t number);
  SmallVector<Line> findLines(OpBuilder &b, bool isLhs);

  SmallVector<Value> readLines(OpBuilder &b, bool isLhs, Value buffer, int64_t depth);
  SmallVector<Value> multiplyStep(OpBuilder &b, Value buffer, ValueRange sums);
  SmallVector<Value> multiplySteps(OpBuilder &b, Value from, Value to, Value last, ValueRange sums);
  void reduce(OpBuilder &b);

  bool storesVectors() const;
  Value resultIndex(OpBuilder &b, const Line &row, const Line &column);
  void storeAt(OpBuilder &b, Value index, ValueRange sums, bool adds);
  void storeSums(OpBuilder &b, ValueRange sums, bool adds);

  const WorkgroupProductTile &tile;
  Value atRow, atColumn; ///< Position of the invocation in the workgroup along the rows and columns.
  SmallVector<Line> rows, columns;
};
} // namespace

//===-- Rows and columns of an invocation ------------------------------------------------------------------------===//

/// Returns the number of a row or column of the invocation, counted in the block. Four of them are next to each other.
Value WorkgroupProductEmitter::lineInBlock(OpBuilder &b, bool isLhs, int64_t number) {
  int64_t invocations = isLhs ? tile.rowInvocations : tile.columnInvocations;
  return addConstant(b, multiply(b, position(isLhs), kWidth), number / kWidth * kWidth * invocations + number % kWidth);
}

SmallVector<WorkgroupProductEmitter::Line> WorkgroupProductEmitter::findLines(OpBuilder &b, bool isLhs) {
  ArrayRef<size_t> across = isLhs ? loops.rows : loops.columns;
  int64_t block = isLhs ? blockSize.rows : blockSize.columns;
  SmallVector<Line> lines;
  for (int64_t number = 0; number < countLines(isLhs); ++number) {
    Line &line = lines.emplace_back();
    Value at = add(b, isLhs ? place.row : place.column, lineInBlock(b, isLhs, number)); // over the whole product
    if (!isWhole(across, block))
      line.inside = isBelow(b, at, isLhs ? rowCount : columnCount);
    line.indices = split(b, across, at);
  }
  return lines;
}

//===-- Multiplying ---------------------------------------------------------------------------------------------===//

/// Returns the element of term `depth` of the step in each row or column of the invocation.
SmallVector<Value> WorkgroupProductEmitter::readLines(OpBuilder &b, bool isLhs, Value buffer, int64_t depth) {
  const Part &part = parts[isLhs ? 0 : 1];
  int64_t invocations = isLhs ? tile.rowInvocations : tile.columnInvocations;
  Value first = add(b, multiply(b, position(isLhs), kWidth), bufferStart(b, part, buffer));
  SmallVector<Value> elements;
  for (int64_t line = 0; line < countLines(isLhs); ++line) {
    int64_t at = depth * part.pitch + line / kWidth * kWidth * invocations + line % kWidth;
    elements.push_back(memref::LoadOp::create(b, loc, part.memory, addConstant(b, first, at)));
  }
  return elements;
}

SmallVector<Value> WorkgroupProductEmitter::multiplyStep(OpBuilder &b, Value buffer, ValueRange sums) {
  SmallVector<Value> results(sums);
  for (int64_t depth = 0; depth < tile.depth; ++depth) {
    SmallVector<Value> lhs = readLines(b, /*isLhs=*/true, buffer, depth);
    SmallVector<Value> rhs = readLines(b, /*isLhs=*/false, buffer, depth);
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        Value inputs[2];
        inputs[parts[0].operand] = lhs[row];
        inputs[parts[1].operand] = rhs[column];
        Value &sum = results[row * tile.columns + column];
        sum = state.body(b, inputs, sum, {}, {}).front();
      }
  }
  return results;
}

/// Adds the terms of the steps in [from, to) to `sums`. The operands of step `from` must be in workgroup memory.
/// Afterwards, it has those of step `to` if there is such a step.
SmallVector<Value> WorkgroupProductEmitter::multiplySteps(OpBuilder &b, Value from, Value to, Value last,
                                                          ValueRange sums) {
  Value one = state.constant(b, 1);
  auto loop = scf::ForOp::create(b, loc, from, to, one, sums);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  Value number = loop.getInductionVar(), buffer = remainder(inside, number, kStepBuffers);
  Value next = arith::MinUIOp::create(inside, loc, arith::AddIOp::create(inside, loc, number, one), last);
  SmallVector<Value> loaded = loadStep(inside, next);
  SmallVector<Value> results = multiplyStep(inside, buffer, loop.getRegionIterArgs());
  storeStep(inside, loaded, arith::SubIOp::create(inside, loc, one, buffer));
  gpu::BarrierOp::create(inside, loc);
  scf::YieldOp::create(inside, loc, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void WorkgroupProductEmitter::reduce(OpBuilder &b) {
  Value zero = state.constant(b, 0), one = state.constant(b, 1), steps = countSteps(b);
  Value last = arith::SubIOp::create(b, loc, steps, one);
  storeStep(b, loadStep(b, zero), zero);
  gpu::BarrierOp::create(b, loc);
  constexpr int64_t kMaxTerms = 2048, kPartTerms = 1024; // More terms in one sum would make it less accurate.
  Value initial = emitter.getInitial();
  Value nothing = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(-0.0f)); // the neutral element
  auto all = [&](Value value) { return SmallVector<Value>(tile.rows * tile.columns, value); };
  int64_t maxSteps = getRange(countBlockSteps(emitter, loops, tile.depth), emitter.getSymbols()).max;
  if (maxSteps <= kMaxTerms / tile.depth) {
    storeSums(b, multiplySteps(b, zero, steps, last, all(initial ? initial : nothing)), /*adds=*/!initial);
    return;
  }
  // The result has the sums of the parts so far. Registers would not suffice for them.
  if (initial)
    storeSums(b, all(initial), /*adds=*/false);
  Value part = state.constant(b, kPartTerms / tile.depth);
  auto loop = scf::ForOp::create(b, loc, zero, steps, part);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Value end = arith::AddIOp::create(inside, loc, loop.getInductionVar(), part);
  end = arith::MinUIOp::create(inside, loc, end, steps);
  storeSums(inside, multiplySteps(inside, loop.getInductionVar(), end, last, all(nothing)), /*adds=*/true);
}

//===-- The result ----------------------------------------------------------------------------------------------===//

/// Returns true if four columns of an invocation are an aligned vector of the result.
bool WorkgroupProductEmitter::storesVectors() const {
  return emitter.findVectors(output(), element, /*maybeOpen=*/true) == int(loops.columns.back());
}

Value WorkgroupProductEmitter::resultIndex(OpBuilder &b, const Line &row, const Line &column) {
  Value index = add(b, outerOffset(b, output()), offset(b, output(), loops.rows, row.indices));
  index = add(b, index, offset(b, output(), loops.columns, column.indices));
  return index ? index : state.constant(b, 0);
}

/// Stores sums of four columns, or of one if the result has no vectors, to the result. `adds` is true if they are added
/// to what is there.
void WorkgroupProductEmitter::storeAt(OpBuilder &b, Value index, ValueRange sums, bool adds) {
  Value flat = output().flat;
  if (sums.size() == 1) {
    Value sum = sums.front();
    if (adds)
      sum = arith::AddFOp::create(b, loc, memref::LoadOp::create(b, loc, flat, index), sum);
    memref::StoreOp::create(b, loc, sum, flat, index);
    return;
  }
  auto type = VectorType::get({kWidth}, element);
  Value vector = vector::FromElementsOp::create(b, loc, type, sums);
  if (adds)
    vector = arith::AddFOp::create(b, loc, vector::LoadOp::create(b, loc, type, flat, index), vector);
  vector::StoreOp::create(b, loc, vector, flat, index);
}

void WorkgroupProductEmitter::storeSums(OpBuilder &b, ValueRange sums, bool adds) {
  int64_t width = storesVectors() ? kWidth : 1;
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t j = 0; j < tile.columns; j += width) {
      OpBuilder inside = b;
      if (Value isThere = both(b, row.inside, columns[j].inside))
        inside = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false).getThenBodyBuilder();
      storeAt(inside, resultIndex(inside, row, columns[j]), sums.slice(int64_t(i) * tile.columns + j, width), adds);
    }
}

void WorkgroupProductEmitter::run(OpBuilder &b) {
  atRow = divide(b, place.invocation, tile.columnInvocations);
  atColumn = remainder(b, place.invocation, tile.columnInvocations);
  makeParts(b);
  rows = findLines(b, /*isLhs=*/true);
  columns = findLines(b, /*isLhs=*/false);
  reduce(b);
}

void inlay::emitWorkgroupProduct(OpBuilder &builder, TileEmitter &emitter, const WorkgroupProductTile &tile,
                                 const BlockPlace &place) {
  WorkgroupProductEmitter(emitter, tile, place).run(builder);
}

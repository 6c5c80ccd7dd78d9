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
  WorkgroupProductEmitter(TileEmitter &emitter, const WorkgroupProductTile &tile, const BlockPlace &place,
                          const ProductFusion &fusion)
      : BlockEmitter(emitter, tile.loops, tile.block(), place, fusion, Float32Type::get(emitter.getOp().getContext()),
                     Layout::Across, kStepBuffers),
        tile(tile) {}

  void run(OpBuilder &b);

private:
  /// A row or column of an invocation.
  struct Line {
    Value inside;               ///< True if it exists. Null means always true.
    SmallVector<Value> indices; ///< Index along each of the loops of the rows or columns.
  };

  /// Elements of the result that an invocation computes in one row and in consecutive columns.
  struct Span {
    const Line &row;
    ArrayRef<Line> columns;
    int64_t first;              ///< Number of the first element among the sums of the invocation.
    SmallVector<Value> indices; ///< Index of the first element along each parallel loop; null for reductions.
  };

  int64_t countLines(bool isLhs) const { return isLhs ? tile.rows : tile.columns; }
  Value position(bool isLhs) const { return isLhs ? atRow : atColumn; }
  Value lineInBlock(OpBuilder &b, bool isLhs, int64_t number);
  SmallVector<Line> findLines(OpBuilder &b, bool isLhs);

  SmallVector<Value> readLines(OpBuilder &b, bool isLhs, Value buffer, int64_t depth);
  SmallVector<Value> multiplyStep(OpBuilder &b, Value buffer, ValueRange sums);
  SmallVector<Value> multiplySteps(OpBuilder &b, Value from, Value to, Value last, ValueRange sums);
  SmallVector<Value> addAll(OpBuilder &b, ValueRange lhs, ValueRange rhs);
  static SmallVector<Value> slice(ArrayRef<Value> sums, const Span &span) {
    return llvm::to_vector(sums.slice(span.first, span.columns.size()));
  }
  void reduce(OpBuilder &b);

  bool hasVectors() const;
  int64_t spanWidth() const;
  TileShape spanTile() const;
  Value resultIndex(OpBuilder &b, const Span &span, int64_t number = 0);
  SmallVector<Value> loadSpan(OpBuilder &b, const Span &span);
  void storeSpan(OpBuilder &b, const Span &span, ValueRange elements);
  SmallVector<Value> startSpan(OpBuilder &b, const Span &span);
  void finishSpan(OpBuilder &b, const Span &span, ValueRange elements);
  void forSpans(OpBuilder &b, llvm::function_ref<void(OpBuilder &, const Span &)> access);

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

SmallVector<Value> WorkgroupProductEmitter::addAll(OpBuilder &b, ValueRange lhs, ValueRange rhs) {
  SmallVector<Value> sums;
  for (auto [one, other] : llvm::zip_equal(lhs, rhs))
    sums.push_back(arith::AddFOp::create(b, loc, one, other));
  return sums;
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
    SmallVector<Value> sums = multiplySteps(b, zero, steps, last, all(initial ? initial : nothing));
    forSpans(b, [&](OpBuilder &inside, const Span &span) {
      SmallVector<Value> elements = slice(sums, span);
      finishSpan(inside, span, initial ? elements : addAll(inside, startSpan(inside, span), elements));
    });
    return;
  }
  // The result has the sums of the parts so far. Registers would not suffice for them.
  if (initial || fusion.prologue)
    forSpans(b, [&](OpBuilder &inside, const Span &span) { storeSpan(inside, span, startSpan(inside, span)); });
  Value part = state.constant(b, kPartTerms / tile.depth);
  auto loop = scf::ForOp::create(b, loc, zero, steps, part);
  OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
  Value end = arith::AddIOp::create(body, loc, loop.getInductionVar(), part);
  end = arith::MinUIOp::create(body, loc, end, steps);
  SmallVector<Value> sums = multiplySteps(body, loop.getInductionVar(), end, last, all(nothing));
  forSpans(body, [&](OpBuilder &inside, const Span &span) {
    storeSpan(inside, span, addAll(inside, loadSpan(inside, span), slice(sums, span)));
  });
  if (fusion.epilogue)
    forSpans(b, [&](OpBuilder &inside, const Span &span) { finishSpan(inside, span, loadSpan(inside, span)); });
}

//===-- The result ----------------------------------------------------------------------------------------------===//

/// Returns true if four columns of an invocation are an aligned vector of the result.
bool WorkgroupProductEmitter::hasVectors() const {
  return emitter.findVectors(output(), element, /*maybeOpen=*/true) == int(loops.columns.back());
}

/// Returns the number of elements of a span: four if four columns are always next to each other along one loop.
int64_t WorkgroupProductEmitter::spanWidth() const {
  return emitter.size(loops.columns.back()).isMultipleOf(kWidth) ? kWidth : 1;
}

TileShape WorkgroupProductEmitter::spanTile() const {
  TileShape tile(scalarTile);
  tile.factors[loops.columns.back()] = spanWidth();
  return tile;
}

/// Returns the index of element `number` of the span in the result.
Value WorkgroupProductEmitter::resultIndex(OpBuilder &b, const Span &span, int64_t number) {
  Value index = add(b, outerOffset(b, output()), offset(b, output(), loops.rows, span.row.indices));
  index = add(b, index, offset(b, output(), loops.columns, span.columns[number].indices));
  return index ? index : state.constant(b, 0);
}

SmallVector<Value> WorkgroupProductEmitter::loadSpan(OpBuilder &b, const Span &span) {
  Value flat = output().flat;
  SmallVector<Value> elements;
  if (hasVectors()) {
    auto type = VectorType::get({kWidth}, element);
    Value vector = vector::LoadOp::create(b, loc, type, flat, resultIndex(b, span));
    for (int64_t number = 0; number < kWidth; ++number)
      elements.push_back(vector::ExtractOp::create(b, loc, vector, number));
    return elements;
  }
  for (size_t number = 0; number < span.columns.size(); ++number)
    elements.push_back(memref::LoadOp::create(b, loc, flat, resultIndex(b, span, number)));
  return elements;
}

void WorkgroupProductEmitter::storeSpan(OpBuilder &b, const Span &span, ValueRange elements) {
  Value flat = output().flat;
  if (hasVectors()) {
    Value vector = vector::FromElementsOp::create(b, loc, VectorType::get({kWidth}, element), elements);
    vector::StoreOp::create(b, loc, vector, flat, resultIndex(b, span));
    return;
  }
  for (auto [number, value] : llvm::enumerate(elements))
    memref::StoreOp::create(b, loc, value, flat, resultIndex(b, span, number));
}

/// Returns the elements from which sums start.
SmallVector<Value> WorkgroupProductEmitter::startSpan(OpBuilder &b, const Span &span) {
  if (Value initial = emitter.getInitial())
    return SmallVector<Value>(span.columns.size(), initial);
  if (fusion.prologue)
    return fusion.prologue->compute(b, spanTile(), span.indices);
  return loadSpan(b, span);
}

/// Stores elements of the product, or what the epilogue computes from them.
void WorkgroupProductEmitter::finishSpan(OpBuilder &b, const Span &span, ValueRange elements) {
  if (fusion.epilogue)
    fusion.epilogue->emit(b, spanTile(), span.indices, elements);
  else
    storeSpan(b, span, elements);
}

/// Emits `access` for each span of the invocation whose elements exist.
void WorkgroupProductEmitter::forSpans(OpBuilder &b, llvm::function_ref<void(OpBuilder &, const Span &)> access) {
  int64_t width = spanWidth();
  for (auto [number, row] : llvm::enumerate(rows))
    for (int64_t column = 0; column < tile.columns; column += width) {
      Span span{row, ArrayRef(columns).slice(column, width), int64_t(number) * tile.columns + column, place.outer};
      for (auto [loop, index] : llvm::zip_equal(loops.rows, row.indices))
        span.indices[loop] = index;
      for (auto [loop, index] : llvm::zip_equal(loops.columns, columns[column].indices))
        span.indices[loop] = index;
      OpBuilder inside = b;
      if (Value isThere = both(b, row.inside, columns[column].inside))
        inside = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false).getThenBodyBuilder();
      access(inside, span);
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
                                 const BlockPlace &place, const ProductFusion &fusion) {
  WorkgroupProductEmitter(emitter, tile, place, fusion).run(builder);
}

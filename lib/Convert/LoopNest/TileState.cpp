// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits loads, the body and stores of a register tile, as vectors where the accesses allow it.

#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace inlay;

void TileEmitter::State::prepareRagged(OpBuilder &b) {
  for (size_t loop : ragged) {
    Value size = value(b, emitter.sizes[loop]);
    auto known = dyn_cast<AffineConstantExpr>(emitter.sizes[loop]);
    Value last = known ? constant(b, known.getValue() - 1) : arith::SubIOp::create(b, loc, size, constant(b, 1));
    for (int64_t number = 0; number < tile.factors[loop]; ++number) {
      RaggedStep step{base[loop], nullptr, {}};
      if (number > 0) {
        Value reached = arith::AddIOp::create(b, loc, base[loop], constant(b, number));
        step.inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, reached, size);
        step.index = arith::MinUIOp::create(b, loc, reached, last);
      }
      for (const Access &access : emitter.accesses) {
        AffineExpr stride = access.strides[loop];
        step.offsets.push_back(is(stride, 0) ? Value() : scale(b, step.index, stride));
      }
      raggedSteps[loop].push_back(std::move(step));
    }
  }
}

SmallVector<Value> TileEmitter::State::startIndices(OpBuilder &b) {
  SmallVector<Value> starts;
  for (const Access &access : emitter.accesses) {
    Value sum = access.start;
    for (auto [loop, index, stride] : llvm::enumerate(base, access.strides))
      if (index && !is(stride, 0) && !llvm::is_contained(ragged, loop))
        sum = add(b, sum, scale(b, index, stride));
    if (access.scalar)
      sum = constant(b, 0);
    else if (!is(access.offset, 0) || !sum)
      sum = add(b, sum, value(b, access.offset));
    starts.push_back(sum);
  }
  return starts;
}

Value TileEmitter::State::indexAt(OpBuilder &b, const Access &access, Value start, ArrayRef<int64_t> point) {
  int64_t offset = 0;
  for (auto [loop, step, stride] : llvm::enumerate(point, access.strides)) {
    auto steps = raggedSteps.find(loop);
    if (steps == raggedSteps.end() && isa<AffineConstantExpr>(stride))
      offset += step * cast<AffineConstantExpr>(stride).getValue();
    else if (steps == raggedSteps.end())
      start = step ? add(b, start, scale(b, constant(b, step), stride)) : start;
    else if (Value term = steps->second[step].offsets[&access - emitter.accesses.data()])
      start = add(b, start, term);
  }
  return offset ? add(b, start, constant(b, offset)) : start;
}

int TileEmitter::State::quadLoop(const Access &access) const {
  size_t number = &access - emitter.accesses.data(), inputs = emitter.nest.inputQuads.size();
  int loop = number < inputs ? emitter.nest.inputQuads[number] : emitter.nest.outputQuad;
  bool isWhole = loop >= 0 && tile.factors[loop] % 4 == 0 && !llvm::is_contained(ragged, loop);
  return emitter.usesQuads && !isVector() && isWhole ? loop : -1;
}

/// Returns the point's element of the vector that holds it.
Value TileEmitter::State::loadQuad(OpBuilder &b, const Access &access, Value start, ArrayRef<int64_t> point, int loop) {
  SmallVector<int64_t> first(point);
  int64_t part = first[loop] % 4;
  first[loop] -= part;
  auto type = VectorType::get({4}, cast<MemRefType>(access.flat.getType()).getElementType());
  Value quad = vector::LoadOp::create(b, loc, type, access.flat, indexAt(b, access, start, first));
  return vector::ExtractOp::create(b, loc, quad, part);
}

Value TileEmitter::State::load(OpBuilder &b, const Access &access, Value start, ArrayRef<int64_t> point) {
  if (access.scalar)
    return access.scalar;
  if (!access.elements.empty())
    return access.elements[findPoint(tile.factors, point)];
  if (int loop = quadLoop(access); loop >= 0)
    return loadQuad(b, access, start, point, loop);
  Value index = indexAt(b, access, start, point);
  Type element = cast<MemRefType>(access.flat.getType()).getElementType();
  if (!isVector() || is(laneStride(access), 0))
    return memref::LoadOp::create(b, loc, access.flat, index);
  AffineExpr stride = laneStride(access);
  auto type = cast<VectorType>(widen(element));
  if (is(stride, 1) && !mask)
    return vector::LoadOp::create(b, loc, type, access.flat, index);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  if (is(stride, 1))
    return vector::MaskedLoadOp::create(b, loc, type, access.flat, index, mask, zero);
  auto known = dyn_cast<AffineConstantExpr>(stride);
  SmallVector<int64_t> offsets;
  for (int64_t lane = 0; lane < tile.lanes; ++lane)
    offsets.push_back(lane * (known ? known.getValue() : 1));
  Value lanes = arith::ConstantOp::create(b, loc, b.getIndexVectorAttr(offsets));
  if (!known) {
    Value strides = vector::BroadcastOp::create(b, loc, lanes.getType(), value(b, stride));
    lanes = arith::MulIOp::create(b, loc, lanes, strides);
  }
  Value all = mask;
  if (!all)
    all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({tile.lanes}, b.getI1Type()), true));
  return vector::GatherOp::create(b, loc, type, access.flat, index, lanes, all, zero);
}

void TileEmitter::State::store(OpBuilder &b, const Access &access, Value start, ArrayRef<int64_t> point, Value value) {
  Value index = indexAt(b, access, start, point);
  if (!isVector()) {
    Value inside;
    for (auto &[loop, steps] : raggedSteps)
      if (Value condition = steps[point[loop]].inside)
        inside = inside ? arith::AndIOp::create(b, loc, inside, condition) : condition;
    OpBuilder guarded = inside ? scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false).getThenBodyBuilder() : b;
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(guarded, loc, value, access.flat, index);
    else
      memref::StoreOp::create(guarded, loc, value, access.flat, index);
    return;
  }
  value = asVector(b, value); // The output is contiguous along the vector loop.
  if (mask)
    vector::MaskedStoreOp::create(b, loc, access.flat, index, mask, value);
  else
    vector::StoreOp::create(b, loc, value, access.flat, index);
}

Value TileEmitter::State::asVector(OpBuilder &b, Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, widen(value.getType()), value);
}

/// Clones `inner`. Widens its operands and results if any operand is a vector.
Operation *TileEmitter::State::widenClone(OpBuilder &b, Operation &inner, IRMapping &mapping) {
  bool vector = isVector() && llvm::any_of(inner.getOperands(), [&](Value operand) {
                  return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
                });
  if (!vector)
    return b.clone(inner, mapping);
  OperationState state(loc, inner.getName());
  for (Value operand : inner.getOperands())
    state.operands.push_back(asVector(b, mapping.lookupOrDefault(operand)));
  for (Type type : inner.getResultTypes())
    state.types.push_back(widen(type));
  state.attributes = llvm::to_vector(inner.getAttrs());
  Operation *clone = b.create(state);
  for (auto [from, to] : llvm::zip(inner.getResults(), clone->getResults()))
    mapping.map(from, to);
  return clone;
}

/// Emits a load of the body, which has computed indices, from the flat form of the buffer. If the tile has vectors,
/// emits a load of the vector that has the element of `point`. The loads of its other elements are the same, except
/// that they extract another one.
Value TileEmitter::State::loadGathered(OpBuilder &b, memref::LoadOp gather, IRMapping &mapping,
                                       ArrayRef<Value> loopIndices, ArrayRef<int64_t> point) {
  const LinearBuffer &flat = emitter.gathers.find(gather)->second;
  int loop = emitter.usesQuads && !isVector() ? emitter.findGatheredVectors(gather) : -1;
  bool isQuad = loop >= 0 && tile.factors[loop] % 4 == 0 && !llvm::is_contained(ragged, loop);
  int64_t part = isQuad ? point[loop] % 4 : 0;
  SmallVector<Value> indices =
      llvm::map_to_vector(gather.getIndices(), [&](Value index) { return mapping.lookupOrDefault(index); });
  if (isQuad)
    indices.back() =
        point[loop] == part ? loopIndices[loop] : add(b, loopIndices[loop], constant(b, point[loop] - part));
  Value at;
  for (auto [index, stride] : llvm::zip(indices, flat.strides))
    if (!is(stride, 0))
      at = add(b, at, scale(b, index, stride));
  if (!is(flat.offset, 0) || !at)
    at = add(b, at, value(b, flat.offset));
  if (!isQuad)
    return memref::LoadOp::create(b, loc, flat.memref, at);
  auto type = VectorType::get({4}, gather.getMemRefType().getElementType());
  return vector::ExtractOp::create(b, loc, vector::LoadOp::create(b, loc, type, flat.memref, at), part);
}

/// Returns the operand of a cast whose operand was already cast when it was loaded, else null.
static Value findGivenResult(Operation &inner, const IRMapping &mapping) {
  Value operand = isa<CastOpInterface>(inner) ? mapping.lookupOrNull(inner.getOperand(0)) : Value();
  return operand && operand.getType() == inner.getResult(0).getType() ? operand : Value();
}

Value TileEmitter::State::emitFused(OpBuilder &b, Operation &inner, IRMapping &mapping) {
  auto sum = dyn_cast<arith::AddFOp>(inner);
  if (!emitter.fusesProducts || !sum || isVector() || !emitter.op.getNumReductionLoops() || !sum->hasOneUse() ||
      *sum->user_begin() != emitter.op.getBlock()->getTerminator())
    return nullptr;
  for (auto [term, accumulator] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (product && product->hasOneUse() && llvm::is_contained(emitter.op.getRegionOutputArgs(), accumulator))
      return math::FmaOp::create(b, loc, mapping.lookupOrDefault(product.getLhs()),
                                 mapping.lookupOrDefault(product.getRhs()), mapping.lookup(accumulator));
  }
  return nullptr;
}

SmallVector<Value> TileEmitter::State::body(OpBuilder &b, ValueRange inputs, ValueRange outputs,
                                            ArrayRef<Value> loopIndices, ArrayRef<int64_t> point) {
  Block *block = emitter.op.getBlock();
  IRMapping mapping;
  unsigned numInputs = emitter.op.getNumDpsInputs();
  mapping.map(block->getArguments().take_front(numInputs), inputs);
  for (auto [argument, value] : llvm::zip(block->getArguments().drop_front(numInputs), outputs))
    if (value)
      mapping.map(argument, value);
  for (Operation &inner : block->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value at = loopIndices[index.getDim()];
      auto steps = raggedSteps.find(index.getDim());
      if (steps != raggedSteps.end())
        at = steps->second[point[index.getDim()]].index;
      else if (int64_t step = point[index.getDim()])
        at = arith::AddIOp::create(b, loc, at, constant(b, step));
      mapping.map(index.getResult(), at);
      continue;
    }
    if (Value given = findGivenResult(inner, mapping)) {
      mapping.map(inner.getResult(0), given);
      continue;
    }
    if (auto gather = dyn_cast<memref::LoadOp>(inner))
      mapping.map(gather.getResult(), loadGathered(b, gather, mapping, loopIndices, point));
    else if (Value fused = emitFused(b, inner, mapping))
      mapping.map(inner.getResult(0), fused);
    else
      widenClone(b, inner, mapping);
  }
  SmallVector<Value> results;
  for (Value value : block->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// Runs the body once at each point. The accumulators and the results are point-major.
SmallVector<Value> TileEmitter::State::computePoints(OpBuilder &b, ArrayRef<Value> starts, ArrayRef<Value> loopIndices,
                                                     ValueRange accumulators) {
  unsigned numInputs = emitter.op.getNumDpsInputs(), numOutputs = emitter.op.getNumDpsInits();
  SmallVector<Value> results;
  for (auto [number, point] : llvm::enumerate(points)) {
    SmallVector<Value> inputs;
    for (unsigned i = 0; i < numInputs; ++i) {
      bool used = !emitter.op.getBlock()->getArgument(i).use_empty();
      inputs.push_back(used ? load(b, emitter.accesses[i], starts[i], point) : Value());
    }
    // Unused inputs still need a value to map. Any value works, because nothing reads it.
    for (Value &input : inputs)
      if (!input)
        input = starts.front();
    llvm::append_range(results,
                       body(b, inputs, accumulators.slice(number * numOutputs, numOutputs), loopIndices, point));
  }
  return results;
}

SmallVector<Value> TileEmitter::State::loadOutputs(OpBuilder &b, ArrayRef<Value> starts) {
  linalg::LinalgOp op = emitter.op;
  unsigned numInputs = op.getNumDpsInputs(), numOutputs = op.getNumDpsInits();
  bool reduces = llvm::any_of(emitter.nest.loops, [](auto loop) { return loop.reduction; });
  SmallVector<Value> values;
  for (ArrayRef<int64_t> point : points)
    for (unsigned i = 0; i < numOutputs; ++i) {
      bool used = reduces || !op.getBlock()->getArgument(numInputs + i).use_empty();
      Value value = emitter.initial;
      if (used && !value)
        value = load(b, emitter.accesses[numInputs + i], starts[numInputs + i], point);
      values.push_back(used && isVector() ? asVector(b, value) : value);
    }
  return values;
}

void TileEmitter::State::storeOutputs(OpBuilder &b, ArrayRef<Value> starts, ValueRange results) {
  unsigned numInputs = emitter.op.getNumDpsInputs(), numOutputs = emitter.op.getNumDpsInits();
  int quad = quadLoop(emitter.accesses[numInputs]);
  size_t pointStride = 1; // Distance between the numbers of points that are neighbors along `quad`.
  for (size_t loop = tile.factors.size(); quad >= 0 && loop-- > static_cast<size_t>(quad) + 1;)
    pointStride *= tile.factors[loop];
  for (auto [number, point] : llvm::enumerate(points))
    for (unsigned i = 0; i < numOutputs; ++i) {
      Value value = results[number * numOutputs + i];
      if (quad >= 0 && point[quad] % 4 != 0)
        continue;
      if (quad >= 0) { // The op has only one output.
        Value parts[] = {value, results[number + pointStride], results[number + 2 * pointStride],
                         results[number + 3 * pointStride]};
        value = vector::FromElementsOp::create(b, loc, VectorType::get({4}, value.getType()), parts);
      }
      store(b, emitter.accesses[numInputs + i], starts[numInputs + i], point, value);
    }
}

void TileEmitter::State::advance(OpBuilder &b, size_t loop, Value index, MutableArrayRef<Value> current) {
  for (unsigned i = 0; i < emitter.op.getNumDpsInputs(); ++i)
    if (AffineExpr stride = emitter.accesses[i].strides[loop]; !is(stride, 0))
      current[i] = add(b, current[i], scale(b, index, stride));
}

//===-- Reductions ------------------------------------------------------------------------------------------------===//

SmallVector<SmallVector<int64_t>> inlay::enumeratePoints(ArrayRef<int64_t> factors) {
  SmallVector<SmallVector<int64_t>> points{SmallVector<int64_t>(factors.size(), 0)};
  for (auto [loop, factor] : llvm::enumerate(factors)) {
    SmallVector<SmallVector<int64_t>> expanded;
    for (const SmallVector<int64_t> &point : points)
      for (int64_t step = 0; step < factor; ++step) {
        expanded.push_back(point);
        expanded.back()[loop] = step;
      }
    points = std::move(expanded);
  }
  return points;
}

size_t inlay::findPoint(ArrayRef<int64_t> factors, ArrayRef<int64_t> point) {
  size_t number = 0;
  for (auto [factor, step] : llvm::zip_equal(factors, point))
    number = number * factor + step;
  return number;
}

void TileEmitter::State::reduceUnrolled(ReductionLoops &loops, MutableArrayRef<Value> indices, ArrayRef<Value> current,
                                        const ReductionShare &share, const SumCut &cut) {
  int64_t size = cast<AffineConstantExpr>(emitter.sizes[share.loop]).getValue();
  int64_t together = share.count * share.unrolled, whole = size - together + share.count;
  auto compute = [&](Value index, int64_t steps) {
    OpBuilder &b = loops.inside();
    SmallVector<Value> values = llvm::to_vector(loops.accumulators());
    for (int64_t step = 0; step < steps; ++step) {
      indices[share.loop] = step ? add(b, index, constant(b, step * share.count)) : index;
      SmallVector<Value> there(current);
      advance(b, share.loop, indices[share.loop], there);
      values = computePoints(b, there, indices, values);
    }
    loops.close(values);
  };
  compute(loops.open(share.number, constant(loops.inside(), whole), together, cut), share.unrolled);
  if (size % together == 0)
    return;
  // The share of this invocation continues after its last whole iteration.
  OpBuilder &b = loops.inside();
  Value distance = arith::SubIOp::create(b, loc, constant(b, whole + together - 1), share.number);
  Value iterations = arith::DivUIOp::create(b, loc, distance, constant(b, together));
  Value done = arith::MulIOp::create(b, loc, iterations, constant(b, together));
  Value first = arith::AddIOp::create(b, loc, share.number, done);
  compute(loops.open(first, constant(b, size), share.count), 1);
}

SmallVector<Value> TileEmitter::State::reduce(OpBuilder &builder, ArrayRef<Value> starts, SmallVector<Value> values,
                                              const ReductionShare &share) {
  ReductionLoops loops(builder, loc, values);
  SmallVector<Value> indices(base);
  SmallVector<Value> current(starts);
  SmallVector<SumCut> cuts =
      emitter.cutReductions(share.loop, share.count * share.unrolled, /*roundsUp=*/true, share.unrolled);
  for (auto [loop, info, cut] : llvm::enumerate(emitter.nest.loops, cuts)) {
    if (!info.reduction)
      continue;
    bool isShared = share.count > 1 && loop == share.loop;
    if (isShared && share.unrolled > 1) {
      reduceUnrolled(loops, indices, current, share, cut);
      if (!loops.isEmpty())
        loops.closeAll(llvm::to_vector(loops.accumulators()));
      return llvm::to_vector(loops.accumulators());
    }
    Value first = isShared ? share.number : constant(loops.inside(), 0);
    Value size = value(loops.inside(), emitter.sizes[loop]);
    indices[loop] = loops.open(first, size, isShared ? share.count : 1, cut);
    advance(loops.inside(), loop, indices[loop], current);
  }
  SmallVector<Value> results = computePoints(loops.inside(), current, indices, loops.accumulators());
  if (!loops.isEmpty()) {
    for (Value &result : results)
      result = isVector() ? asVector(loops.inside(), result) : result;
    loops.closeAll(results);
    results = llvm::to_vector(loops.accumulators());
  }
  return results;
}

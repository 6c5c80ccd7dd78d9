// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits dot products. The lanes of a workgroup's subgroups go along the sum, each with partial sums of all results. The
// subgroup then adds up the partial sums of its lanes, and one invocation per result those of the subgroups.

#include "DotProductEmitter.h"
#include "SubgroupProductEmitter.h"
#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

/// Elements of a vector.
static constexpr int64_t kVector = 4;

static Type getElementType(const TileEmitter::Access &access) {
  return cast<MemRefType>(access.flat.getType()).getElementType();
}

bool inlay::canEmitDotProduct(const TileEmitter &emitter, const PackedOperand *packed) {
  linalg::LinalgOp op = emitter.getOp();
  auto isFloat = [&](const TileEmitter::Access &access) {
    Type element = access.flat ? getElementType(access) : Type();
    return element && (element.isF32() || element.isF16() || (packed && element.isBF16()));
  };
  return isPlainProduct(emitter) && op.getNumDpsInputs() == 2 && llvm::all_of(emitter.getAccesses(), isFloat) &&
         getElementType(emitter.getAccesses().back()).isF32() && isa_and_nonnull<arith::AddFOp>(findCombiner(op));
}

std::vector<int64_t> inlay::findDotProductWidths(const TileEmitter &emitter, const PackedOperand *packed) {
  std::vector<int64_t> widths;
  for (const TileEmitter::Access &access : emitter.getAccesses().drop_back()) {
    if (packed && widths.size() == packed->getInput()) {
      widths.push_back(packed->getWidth());
      continue;
    }
    Type element = getElementType(access);
    int loop = emitter.findVectors(access, element);
    bool isAligned = loop >= 0 && emitter.shape().loops[loop].reduction;
    widths.push_back(isAligned ? 128 / element.getIntOrFloatBitWidth() : 1);
  }
  return widths;
}

namespace {
/// Emits the results of one workgroup.
class DotProductEmitter {
public:
  DotProductEmitter(TileEmitter &emitter, const DotProductTile &tile, const DotProductPlace &place,
                    const DotProductFusion &fusion)
      : emitter(emitter), tile(tile), place(place), fusion(fusion),
        widths(findDotProductWidths(emitter, fusion.packed)),
        scalarTile{std::vector<int64_t>(emitter.shape().loops.size(), 1)},
        state{emitter, scalarTile, place.base, emitter.getOp().getLoc(), {}, nullptr, {}, {}},
        loc(emitter.getOp().getLoc()) {}

  void run(OpBuilder &b);

private:
  using Access = TileEmitter::Access;
  using State = TileEmitter::State;

  const Access &access(size_t operand) const { return emitter.getAccesses()[operand]; }
  size_t output() const { return emitter.getAccesses().size() - 1; }
  bool isStreamed(size_t input) const { return input == tile.streamed; }
  /// Returns the loop whose steps in the tile access different elements of `input`, and the number of these steps.
  int tileLoop(size_t input) const { return isStreamed(input) ? tile.columnLoop : tile.rowLoop; }
  int64_t countSteps(size_t input) const { return isStreamed(input) ? tile.columns : tile.rows; }
  /// Returns the invocations of a workgroup.
  int64_t invocations() const { return place.lanes * tile.subgroups; }
  bool isRagged(int loop) const {
    return loop >= 0 && tile.factor(loop) > 1 && !emitter.size(loop).isMultipleOf(tile.factor(loop));
  }

  Value indexAlong(OpBuilder &b, int loop, int64_t step);
  Value start(OpBuilder &b, size_t operand, ArrayRef<Value> indices);
  SmallVector<SmallVector<Value>> stepsOf(OpBuilder &b, size_t input);
  SmallVector<Value> loadTerms(OpBuilder &b, size_t input, Value uniform, Value perLane, int64_t first, int64_t width);
  SmallVector<Value> addTerms(OpBuilder &b, Value uniformTerm, Value laneTerm, int64_t width, int64_t depth,
                              ValueRange sums);
  SmallVector<Value> addPackedTerms(OpBuilder &b, Value uniformTerm, Value laneTerm, int64_t depth, ValueRange sums);
  SmallVector<Value> reduce(OpBuilder &b);
  Value countWhole(OpBuilder &b, int64_t together);
  void joinSubgroups(OpBuilder &b, ValueRange sums);
  Value loadInitial(OpBuilder &b, ArrayRef<Value> indices);
  void storeResult(OpBuilder &b);

  TileEmitter &emitter;
  const DotProductTile &tile;
  const DotProductPlace &place;
  const DotProductFusion &fusion;
  std::vector<int64_t> widths; ///< Elements of each input that a lane may load at once.
  TileShape scalarTile;
  State state;
  Location loc;
  Value lane, subgroup;
  Value memory;                               ///< The sums of each subgroup, in workgroup memory.
  SmallVector<SmallVector<Value>> starts;     ///< Index of the first term for each input and step of its tile loop.
  SmallVector<PackedOperand::Row> packedRows; ///< The packed input for each step of its tile loop.
};
} // namespace

//===-- Before the loops ----------------------------------------------------------------------------------------===//

/// Returns the index of step `step` of the tile along `loop`. Steps beyond the end compute the last one again.
Value DotProductEmitter::indexAlong(OpBuilder &b, int loop, int64_t step) {
  if (step == 0)
    return place.base[loop];
  Value index = arith::AddIOp::create(b, loc, place.base[loop], state.constant(b, step));
  if (!isRagged(loop))
    return index;
  Value last = arith::SubIOp::create(b, loc, state.value(b, emitter.size(loop)), state.constant(b, 1));
  return arith::MinUIOp::create(b, loc, index, last);
}

/// Returns the index in `operand` of the element at `indices`, one per parallel loop.
Value DotProductEmitter::start(OpBuilder &b, size_t operand, ArrayRef<Value> indices) {
  Value sum;
  for (auto [index, stride] : llvm::zip_equal(indices, access(operand).strides))
    if (index && !State::is(stride, 0))
      sum = state.add(b, sum, state.scale(b, index, stride));
  if (!State::is(access(operand).offset, 0) || !sum)
    sum = state.add(b, sum, state.value(b, access(operand).offset));
  return sum;
}

/// Returns the index along each loop for each step of the tile loop of `input`.
SmallVector<SmallVector<Value>> DotProductEmitter::stepsOf(OpBuilder &b, size_t input) {
  SmallVector<SmallVector<Value>> steps;
  int loop = tileLoop(input);
  for (int64_t step = 0; step < countSteps(input); ++step) {
    SmallVector<Value> &indices = steps.emplace_back(place.base);
    if (loop >= 0)
      indices[loop] = indexAlong(b, loop, step);
  }
  return steps;
}

//===-- The sums ------------------------------------------------------------------------------------------------===//

/// Loads `width` consecutive terms of an input, widened to f32. Their index is `uniform`, the same for all lanes, plus
/// `perLane` plus the constant `first`. The addition in this order lets drivers keep the uniform part out of vector
/// registers and the constant part in the instruction.
SmallVector<Value> DotProductEmitter::loadTerms(OpBuilder &b, size_t input, Value uniform, Value perLane, int64_t first,
                                                int64_t width) {
  Value flat = access(input).flat;
  Type element = getElementType(access(input));
  AffineExpr stride = access(input).strides[tile.innerLoop];
  Operation *widening = findWidening(emitter.getOp(), input);
  Value index = arith::AddIOp::create(b, loc, uniform, perLane);
  auto at = [&](int64_t term) -> Value {
    return term ? state.add(b, index, state.scale(b, state.constant(b, term), stride)) : index;
  };
  SmallVector<Value> terms;
  int64_t vector = width % kVector == 0 && widths[input] > 1 ? kVector : 1;
  for (int64_t term = 0; term < width; term += vector) {
    if (vector == 1) {
      terms.push_back(memref::LoadOp::create(b, loc, flat, at(first + term)));
      continue;
    }
    Value loaded = vector::LoadOp::create(b, loc, VectorType::get({vector}, element), flat, at(first + term));
    for (int64_t part = 0; part < vector; ++part)
      terms.push_back(vector::ExtractOp::create(b, loc, loaded, part));
  }
  for (Value &term : terms)
    if (widening) {
      Operation *cast = b.clone(*widening);
      cast->setOperand(0, term);
      term = cast->getResult(0);
    }
  return terms;
}

/// Adds `depth` steps of this lane to the sums of a product with a packed input, which is unpacked a few terms at a
/// time, so that few values are live. The first term is `uniformTerm`, which may be null, plus `laneTerm`.
SmallVector<Value> DotProductEmitter::addPackedTerms(OpBuilder &b, Value uniformTerm, Value laneTerm, int64_t depth,
                                                     ValueRange sums) {
  size_t other = 1 - tile.streamed;
  int64_t width = tile.width, part = std::min(width, kVector);
  AffineExpr stride = access(other).strides[tile.innerLoop];
  Value uniform = uniformTerm ? state.scale(b, uniformTerm, stride) : Value();
  Value perLane = state.scale(b, laneTerm, stride);
  SmallVector<SmallVector<PackedOperand::Load>> loads(depth); // By step and column.
  for (int64_t step = 0; step < depth; ++step)
    for (const PackedOperand::Row &row : packedRows)
      loads[step].push_back(fusion.packed->load(b, row, uniformTerm, laneTerm, step * invocations() * width));
  SmallVector<Value> results(sums);
  for (int64_t first = 0; first < width * depth; first += part) {
    int64_t step = first / width, inStep = first % width;
    SmallVector<SmallVector<Value>> rows;
    for (Value start : starts[other]) {
      Value at = uniform ? state.add(b, start, uniform) : start;
      rows.push_back(loadTerms(b, other, at, perLane, step * invocations() * width + inStep, part));
    }
    for (int64_t column = 0; column < tile.columns; ++column) {
      SmallVector<Value> terms = fusion.packed->unpack(b, loads[step][column], inStep, part);
      for (int64_t term = 0; term < part; ++term)
        for (int64_t row = 0; row < tile.rows; ++row) {
          SmallVector<Value> inputs(output());
          inputs[tile.streamed] = terms[term];
          inputs[other] = rows[row][term];
          Value &sum = results[row * tile.columns + column];
          sum = state.body(b, inputs, sum, {}, {}).front();
        }
    }
  }
  return results;
}

/// Adds `depth` steps of `width` terms of this lane to the sums. The first term is `uniformTerm` plus `laneTerm`.
SmallVector<Value> DotProductEmitter::addTerms(OpBuilder &b, Value uniformTerm, Value laneTerm, int64_t width,
                                               int64_t depth, ValueRange sums) {
  if (fusion.packed)
    return addPackedTerms(b, uniformTerm, laneTerm, depth, sums);
  SmallVector<SmallVector<SmallVector<Value>>> loaded(output()); // By input, step of the tile and term.
  for (size_t input = 0; input < output(); ++input) {
    AffineExpr stride = access(input).strides[tile.innerLoop];
    Value uniform = uniformTerm ? state.scale(b, uniformTerm, stride) : Value();
    Value perLane = state.scale(b, laneTerm, stride);
    for (Value first : starts[input]) {
      SmallVector<Value> &terms = loaded[input].emplace_back();
      Value at = uniform ? state.add(b, first, uniform) : first;
      for (int64_t step = 0; step < depth; ++step)
        llvm::append_range(terms, loadTerms(b, input, at, perLane, step * invocations() * width, width));
    }
  }
  SmallVector<Value> results(sums);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column)
      for (int64_t term = 0; term < width * depth; ++term) {
        SmallVector<Value> inputs(output());
        for (size_t input = 0; input < output(); ++input)
          inputs[input] = loaded[input][isStreamed(input) ? column : row][term];
        Value &sum = results[row * tile.columns + column];
        sum = state.body(b, inputs, sum, {}, {}).front();
      }
  return results;
}

/// Returns the number of terms in whole iterations, which take `together` terms.
Value DotProductEmitter::countWhole(OpBuilder &b, int64_t together) {
  AffineExpr size = emitter.size(tile.innerLoop);
  if (auto known = dyn_cast<AffineConstantExpr>(size))
    return state.constant(b, known.getValue() / together * together);
  Value end = state.value(b, size);
  return arith::SubIOp::create(b, loc, end, arith::RemUIOp::create(b, loc, end, state.constant(b, together)));
}

/// Returns the sums of the terms of this lane.
SmallVector<Value> DotProductEmitter::reduce(OpBuilder &b) {
  TypedAttr neutral = getNeutral(findCombiner(emitter.getOp()));
  Value zero = arith::ConstantOp::create(b, loc, neutral);
  ReductionLoops loops(b, loc, SmallVector<Value>(tile.results(), zero));
  AffineExpr size = emitter.size(tile.innerLoop);
  auto known = dyn_cast<AffineConstantExpr>(size);
  Value number =
      arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, subgroup, state.constant(b, place.lanes)), lane);
  auto firstTerm = [&](int64_t width) -> Value {
    return width == 1 ? number : arith::MulIOp::create(b, loc, number, state.constant(b, width)).getResult();
  };
  int64_t together = invocations() * tile.width * tile.depth;
  Value whole = countWhole(b, together), first = firstTerm(tile.width);
  if (!known || known.getValue() >= together) {
    SumCut cut =
        emitter.cutReductions(tile.innerLoop, together, /*roundsUp=*/false, tile.width * tile.depth)[tile.innerLoop];
    Value index = loops.open(state.constant(b, 0), whole, together, cut);
    loops.close(addTerms(loops.inside(), index, first, tile.width, tile.depth, loops.accumulators()));
  }
  if (!size.isMultipleOf(together)) {
    int64_t width = fusion.packed ? tile.width : std::min(tile.width, kVector);
    OpBuilder &inside = loops.inside();
    Value from = arith::AddIOp::create(inside, loc, whole, firstTerm(width));
    Value index = loops.open(from, state.value(inside, size), invocations() * width);
    loops.close(addTerms(loops.inside(), nullptr, index, width, /*depth=*/1, loops.accumulators()));
  }
  return llvm::to_vector(loops.accumulators());
}

//===-- The results ---------------------------------------------------------------------------------------------===//

/// Adds up the sums of the lanes of each subgroup and stores them in workgroup memory.
void DotProductEmitter::joinSubgroups(OpBuilder &b, ValueRange sums) {
  SmallVector<Value> totals;
  for (Value sum : sums)
    totals.push_back(gpu::SubgroupReduceOp::create(b, loc, sum, gpu::AllReduceOperation::ADD, /*uniform=*/false));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, state.constant(b, 0));
  OpBuilder inFirst = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false).getThenBodyBuilder();
  Value slot = arith::MulIOp::create(inFirst, loc, subgroup, state.constant(inFirst, tile.results()));
  for (auto [number, total] : llvm::enumerate(totals)) {
    Value at = arith::AddIOp::create(inFirst, loc, slot, state.constant(inFirst, int64_t(number)));
    memref::StoreOp::create(inFirst, loc, total, memory, at);
  }
  gpu::BarrierOp::create(b, loc);
}

/// Returns the value from which the sum of the element at `indices` starts.
Value DotProductEmitter::loadInitial(OpBuilder &b, ArrayRef<Value> indices) {
  if (Value initial = emitter.getInitial())
    return initial;
  if (fusion.prologue)
    return fusion.prologue->compute(b, scalarTile, indices).front();
  return memref::LoadOp::create(b, loc, access(output()).flat, start(b, output(), indices));
}

/// Stores one result: the invocation with its number adds up the sums of the subgroups.
void DotProductEmitter::storeResult(OpBuilder &b) {
  Value number = place.invocation, isResult;
  if (tile.results() < invocations())
    isResult = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, state.constant(b, tile.results()));
  OpBuilder inside = isResult ? scf::IfOp::create(b, loc, isResult, false).getThenBodyBuilder() : b;
  SmallVector<Value> indices(place.base);
  Value columns = state.constant(inside, tile.columns);
  std::pair<int, Value> steps[] = {{tile.rowLoop, arith::DivUIOp::create(inside, loc, number, columns)},
                                   {tile.columnLoop, arith::RemUIOp::create(inside, loc, number, columns)}};
  for (auto [loop, step] : steps) {
    if (loop < 0)
      continue;
    indices[loop] = arith::AddIOp::create(inside, loc, place.base[loop], step);
    if (!isRagged(loop))
      continue;
    Value exists = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ult, indices[loop],
                                         state.value(inside, emitter.size(loop)));
    inside = scf::IfOp::create(inside, loc, exists, /*withElseRegion=*/false).getThenBodyBuilder();
  }
  Value sum;
  for (int64_t from = 0; from < tile.subgroups; ++from) {
    Value at = arith::AddIOp::create(inside, loc, number, state.constant(inside, from * tile.results()));
    Value part = memref::LoadOp::create(inside, loc, memory, at);
    sum = sum ? arith::AddFOp::create(inside, loc, sum, part).getResult() : part;
  }
  Value result = arith::AddFOp::create(inside, loc, loadInitial(inside, indices), sum);
  if (fusion.epilogue)
    fusion.epilogue->emit(inside, scalarTile, indices, result);
  else
    memref::StoreOp::create(inside, loc, result, access(output()).flat, start(inside, output(), indices));
}

void DotProductEmitter::run(OpBuilder &b) {
  lane = gpu::LaneIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  subgroup = gpu::SubgroupIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  memory = memref::AllocOp::create(
      b, loc, MemRefType::get({tile.subgroups * tile.results()}, b.getF32Type(), MemRefLayoutAttrInterface(), space));
  for (size_t input = 0; input < output(); ++input) {
    SmallVector<Value> &ofInput = starts.emplace_back();
    for (ArrayRef<Value> indices : stepsOf(b, input)) {
      if (fusion.packed && isStreamed(input))
        packedRows.push_back(fusion.packed->startRow(b, indices));
      else
        ofInput.push_back(start(b, input, indices));
    }
  }
  joinSubgroups(b, reduce(b));
  storeResult(b);
}

void inlay::emitDotProduct(OpBuilder &builder, TileEmitter &emitter, const DotProductTile &tile,
                           const DotProductPlace &place, const DotProductFusion &fusion) {
  DotProductEmitter(emitter, tile, place, fusion).run(builder);
}

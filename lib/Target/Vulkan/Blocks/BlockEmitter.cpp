// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the parts of both operands that a step of a block needs to workgroup memory, with zeros beyond the ends of
// loops. CooperativeMatrixEmitter.cpp and WorkgroupProductEmitter.cpp multiply them.

#include "BlockEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

std::optional<std::pair<Value, Value>> inlay::findFactors(const TileEmitter &emitter) {
  linalg::LinalgOp op = emitter.getOp();
  ArrayRef<TileEmitter::Access> accesses = emitter.getAccesses();
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 2 ||
      llvm::any_of(accesses, [](const TileEmitter::Access &access) { return !access.flat; }) ||
      accesses.back().flat == accesses[0].flat || accesses.back().flat == accesses[1].flat)
    return std::nullopt;
  Block *block = op.getBlock();
  auto sum = block->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return std::nullopt;
  for (auto [start, term] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto product = term.getDefiningOp<arith::MulFOp>(); product && start == block->getArgument(2))
      return std::pair(product.getLhs(), product.getRhs());
  return std::nullopt;
}

std::optional<size_t> inlay::findBlockVectors(const TileEmitter &emitter, const ProductLoops &loops, size_t input,
                                              Type element) {
  size_t last = (input == loops.lhs ? loops.rows : loops.columns).back();
  int loop = emitter.findVectors(emitter.getAccesses()[input], element, /*maybeOpen=*/true);
  return loop >= 0 && (size_t(loop) == loops.inner || size_t(loop) == last) ? std::optional(size_t(loop))
                                                                            : std::nullopt;
}

AffineExpr inlay::countBlockSteps(const TileEmitter &emitter, const ProductLoops &loops, int64_t depth) {
  AffineExpr count = emitter.size(loops.inner).ceilDiv(depth);
  for (size_t loop : loops.sums)
    count = count * emitter.size(loop);
  return count;
}

BlockEmitter::BlockEmitter(TileEmitter &emitter, const ProductLoops &loops, const BlockSize &blockSize,
                           const BlockPlace &place, const ProductFusion &fusion, Type element, Layout layout,
                           int64_t buffers)
    : emitter(emitter), loops(loops), blockSize(blockSize), place(place), fusion(fusion), element(element),
      layout(layout), buffers(buffers), scalarTile{std::vector<int64_t>(emitter.shape().loops.size(), 1)},
      base(emitter.shape().loops.size()),
      state{emitter, scalarTile, base, emitter.getOp().getLoc(), {}, nullptr, {}, {}}, loc(emitter.getOp().getLoc()) {}

void BlockEmitter::makeParts(OpBuilder &b) {
  rowCount = count(b, loops.rows);
  columnCount = count(b, loops.columns);
  parts.push_back(makePart(b, /*isLhs=*/true));
  parts.push_back(makePart(b, /*isLhs=*/false));
}

Value BlockEmitter::allocate(OpBuilder &b, int64_t count, Type type) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return memref::AllocOp::create(b, loc, MemRefType::get({count}, type, MemRefLayoutAttrInterface(), space));
}

//===-- Loops that are counted together --------------------------------------------------------------------------===//

Value BlockEmitter::count(OpBuilder &b, ArrayRef<size_t> loops) {
  Value product;
  for (size_t loop : loops) {
    Value size = state.value(b, emitter.size(loop));
    product = product ? arith::MulIOp::create(b, loc, product, size).getResult() : size;
  }
  return product;
}

/// Returns true if blocks of `block` steps of the combined loops never reach over the end.
bool BlockEmitter::isWhole(ArrayRef<size_t> loops, int64_t block) const {
  AffineExpr steps = getAffineConstantExpr(1, emitter.getOp().getContext());
  for (size_t loop : loops)
    steps = steps * emitter.size(loop);
  return steps.isMultipleOf(block);
}

/// Splits a number into the index along each of the loops. The last loop is the fastest.
SmallVector<Value> BlockEmitter::split(OpBuilder &b, ArrayRef<size_t> loops, Value number) {
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
Value BlockEmitter::offset(OpBuilder &b, const Access &access, ArrayRef<size_t> loops, ArrayRef<Value> indices) {
  Value sum;
  for (auto [loop, index] : llvm::zip_equal(loops, indices))
    if (!State::is(access.strides[loop], 0))
      sum = add(b, sum, state.scale(b, index, access.strides[loop]));
  return sum;
}

Value BlockEmitter::outerOffset(OpBuilder &b, const Access &access) {
  Value sum = State::is(access.offset, 0) ? Value() : state.value(b, access.offset);
  SmallVector<Value> indices;
  for (size_t loop : loops.outer)
    indices.push_back(place.outer[loop]);
  return add(b, sum, offset(b, access, loops.outer, indices));
}

//===-- Copying operands to workgroup memory ---------------------------------------------------------------------===//

BlockEmitter::Part BlockEmitter::makePart(OpBuilder &b, bool isLhs) {
  Part part;
  part.operand = isLhs ? loops.lhs : 1 - loops.lhs;
  size_t lastLoop = (isLhs ? loops.rows : loops.columns).back();
  int64_t across = isLhs ? blockSize.rows : blockSize.columns;
  std::optional<size_t> vectorLoop = findBlockVectors(emitter, loops, part.operand, element);
  part.hasVectors = vectorLoop.has_value();
  part.readsTerms = vectorLoop ? vectorLoop == loops.inner : !State::is(access(part.operand).strides[lastLoop], 1);
  part.computed = fusion.getInput(part.operand);
  part.keepsTerms = layout == Layout::AsRead && part.readsTerms;
  int64_t minor = part.keepsTerms ? blockSize.depth : across, lines = part.keepsTerms ? across : blockSize.depth;
  part.pitch = getBlockPitch(minor, element.getIntOrFloatBitWidth() / 8);
  Type slotType = layout == Layout::AsRead ? Type(VectorType::get({kWidth}, element)) : element;
  part.slots = lines * part.pitch / (layout == Layout::AsRead ? kWidth : 1);
  part.memory = allocate(b, buffers * part.slots, slotType);
  int64_t quads = lines * minor / kWidth, invocations = blockSize.invocations;
  for (int64_t first = 0; first < quads; first += invocations) {
    Value number = addConstant(b, place.invocation, first);
    Value isActive = first + invocations > quads ? isBelow(b, number, state.constant(b, quads)) : Value();
    part.quads.push_back(makeQuad(b, part, isLhs, number, isActive));
  }
  return part;
}

BlockEmitter::Quad BlockEmitter::makeQuad(OpBuilder &b, const Part &part, bool isLhs, Value number, Value isActive) {
  Quad quad;
  quad.isActive = isActive;
  ArrayRef<size_t> acrossLoops = isLhs ? loops.rows : loops.columns;
  int64_t block = isLhs ? blockSize.rows : blockSize.columns;
  int64_t minorQuads = (part.readsTerms ? blockSize.depth : block) / kWidth;
  Value major = divide(b, number, minorQuads), minorQuad = remainder(b, number, minorQuads);
  Value minor = multiply(b, minorQuad, kWidth);
  if (layout == Layout::AsRead)
    quad.slot = add(b, multiply(b, major, part.pitch / kWidth), minorQuad);
  else
    quad.slot =
        part.readsTerms ? add(b, multiply(b, minor, part.pitch), major) : add(b, multiply(b, major, part.pitch), minor);
  const Access &operand = access(part.operand);
  Value outer = outerOffset(b, operand);
  for (int64_t i = 0; i < (part.hasVectors ? 1 : kWidth); ++i) {
    Value across = part.readsTerms ? major : addConstant(b, minor, i);
    Value depth = part.readsTerms ? addConstant(b, minor, i) : major;
    Value at = add(b, isLhs ? place.row : place.column, across);
    SmallVector<Value> acrossIndices = split(b, acrossLoops, at);
    Value start = add(b, outer, offset(b, operand, acrossLoops, acrossIndices));
    quad.starts.push_back(add(b, start, state.scale(b, depth, operand.strides[loops.inner])));
    quad.depths.push_back(depth);
    Value inside = isWhole(acrossLoops, block) ? Value() : isBelow(b, at, isLhs ? rowCount : columnCount);
    quad.insides.push_back(both(b, inside, isActive));
    if (!part.computed)
      continue;
    SmallVector<Value> &indices = quad.indices.emplace_back(place.outer.begin(), place.outer.end());
    for (auto [loop, index] : llvm::zip_equal(acrossLoops, acrossIndices))
      indices[loop] = index;
  }
  return quad;
}

/// Returns the number of steps along the inner loop.
Value BlockEmitter::countInnerSteps(OpBuilder &b) {
  AffineExpr size = emitter.size(loops.inner);
  if (auto known = dyn_cast<AffineConstantExpr>(size))
    return state.constant(b, llvm::divideCeilSigned(known.getValue(), blockSize.depth));
  return divide(b, addConstant(b, state.value(b, size), blockSize.depth - 1), blockSize.depth);
}

/// Returns the number of steps over all reductions.
Value BlockEmitter::countSteps(OpBuilder &b) {
  Value steps = countInnerSteps(b);
  if (loops.sums.empty())
    return steps;
  return arith::MulIOp::create(b, loc, steps, count(b, loops.sums));
}

BlockEmitter::Step BlockEmitter::findStep(OpBuilder &b, Value number) {
  Step step{nullptr, {}, SmallVector<Value>(parts.size())};
  if (!loops.sums.empty()) {
    Value inner = countInnerSteps(b);
    step.sums = split(b, loops.sums, arith::DivUIOp::create(b, loc, number, inner));
    for (auto [at, part] : llvm::zip_equal(step.at, parts))
      at = offset(b, access(part.operand), loops.sums, step.sums);
    number = arith::RemUIOp::create(b, loc, number, inner);
  }
  step.depth = multiply(b, number, blockSize.depth);
  for (auto [at, part] : llvm::zip_equal(step.at, parts))
    at = add(b, at, state.scale(b, step.depth, access(part.operand).strides[loops.inner]));
  return step;
}

/// Returns true if all steps are inside of the reductions. The first step is loaded even if there is none.
bool BlockEmitter::hasWholeSteps() const {
  auto isNeverEmpty = [&](size_t loop) { return getRange(emitter.size(loop), emitter.getSymbols()).min > 0; };
  return emitter.size(loops.inner).isMultipleOf(blockSize.depth) && isNeverEmpty(loops.inner) &&
         llvm::all_of(loops.sums, isNeverEmpty);
}

/// Loads or computes element `number` of `quad`, or its only vector. If `inside` is false, the result is any number.
Value BlockEmitter::loadElements(OpBuilder &b, const Part &part, const Quad &quad, size_t number, const Step &step,
                                 Value inside) {
  auto type = VectorType::get({kWidth}, element);
  if (part.computed) {
    SmallVector<Value> indices(quad.indices[number]);
    indices[loops.inner] = add(b, step.depth, quad.depths[number]);
    for (auto [loop, index] : llvm::zip(loops.sums, step.sums))
      indices[loop] = index;
    size_t along = part.readsTerms ? loops.inner : (part.operand == loops.lhs ? loops.rows : loops.columns).back();
    SmallVector<Value> elements = part.computed->compute(b, indices, inside, along, part.hasVectors ? kWidth : 1);
    return part.hasVectors ? vector::FromElementsOp::create(b, loc, type, elements).getResult() : elements.front();
  }
  Value index = add(b, quad.starts[number], step.at[&part - parts.data()]);
  if (inside)
    index = arith::SelectOp::create(b, loc, inside, index, state.constant(b, 0));
  if (part.hasVectors)
    return vector::LoadOp::create(b, loc, type, access(part.operand).flat, index);
  return memref::LoadOp::create(b, loc, access(part.operand).flat, index);
}

/// Loads four elements. Elements beyond an end are zero.
Value BlockEmitter::loadQuad(OpBuilder &b, const Part &part, const Quad &quad, const Step &step) {
  auto type = VectorType::get({kWidth}, element);
  bool isWholeDepth = hasWholeSteps();
  Value size = isWholeDepth ? Value() : state.value(b, emitter.size(loops.inner));
  SmallVector<Value> elements;
  for (auto [number, depth, acrossInside] : llvm::enumerate(quad.depths, quad.insides)) {
    Value inside = acrossInside;
    if (!isWholeDepth)
      inside = both(b, inside, isBelow(b, add(b, step.depth, depth), size));
    Value loaded = loadElements(b, part, quad, number, step, inside);
    if (inside) {
      Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(loaded.getType()));
      if (part.hasVectors)
        inside = vector::BroadcastOp::create(b, loc, VectorType::get({kWidth}, b.getI1Type()), inside);
      loaded = arith::SelectOp::create(b, loc, inside, loaded, nothing);
    }
    elements.push_back(loaded);
  }
  return part.hasVectors ? elements.front() : vector::FromElementsOp::create(b, loc, type, elements).getResult();
}

SmallVector<Value> BlockEmitter::loadStep(OpBuilder &b, Value number) {
  Step step = findStep(b, number);
  SmallVector<Value> loaded;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads)
      loaded.push_back(loadQuad(b, part, quad, step));
  return loaded;
}

void BlockEmitter::storeStep(OpBuilder &b, ValueRange loaded, Value buffer) {
  size_t next = 0;
  for (const Part &part : parts)
    for (const Quad &quad : part.quads) {
      Value value = loaded[next++];
      OpBuilder inside =
          quad.isActive ? scf::IfOp::create(b, loc, quad.isActive, /*withElseRegion=*/false).getThenBodyBuilder() : b;
      Value slot = add(inside, quad.slot, bufferStart(inside, part, buffer));
      if (layout == Layout::AsRead) {
        memref::StoreOp::create(inside, loc, value, part.memory, slot);
        continue;
      }
      for (int64_t i = 0; i < kWidth; ++i) {
        Value one = vector::ExtractOp::create(inside, loc, value, i);
        Value at = addConstant(inside, slot, i * (part.readsTerms ? part.pitch : 1));
        memref::StoreOp::create(inside, loc, one, part.memory, at);
      }
    }
}

Value BlockEmitter::bufferStart(OpBuilder &b, const Part &part, Value buffer) {
  return buffer ? multiply(b, buffer, part.slots) : Value();
}

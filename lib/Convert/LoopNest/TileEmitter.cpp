// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the loops and accesses of an op, and emits its register tiles. TilePolicy.cpp chooses the size of a tile, and
// TileState.cpp emits its parts. Target/Vulkan/Products emits products that subgroups or matrix units compute.

#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace inlay;

//===-- Reading the op ------------------------------------------------------------------------------------------===//

/// Returns true if every op of the body computes lane by lane, so that vectors can compute it.
static bool isVectorizable(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        if (isa<arith::ConstantOp>(inner))
                          return true;
                        return OpTrait::hasElementwiseMappableTraits(&inner) && inner.getNumRegions() == 0;
                      }) &&
         llvm::none_of(op->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isInteger(1); });
}

LogicalResult TileEmitter::addAccess(OpBuilder &builder, OpOperand &operand) {
  Access access;
  AffineExpr zero = getAffineConstantExpr(0, builder.getContext());
  access.strides.assign(nest.loops.size(), zero);
  if (op.isScalar(&operand)) {
    access.scalar = operand.get();
    accesses.push_back(std::move(access));
    return success();
  }
  FailureOr<LinearBuffer> flat = flattenBuffer(builder, op.getLoc(), operand.get(), kernel.roots);
  if (failed(flat))
    return op.emitError("unsupported-shape: expected buffers whose layout follows from the sizes of inputs, but got ")
           << operand.get().getType();
  access.flat = flat->memref;
  access.offset = flat->offset;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [stride, expr] : llvm::zip(flat->strides, map.getResults())) {
    SmallVector<int64_t> coefficients;
    if (failed(getFlattenedAffineExpr(expr, map.getNumDims(), 0, &coefficients)) ||
        coefficients.size() != map.getNumDims() + 1)
      return op.emitError("expected linear indexing maps, but got ") << AffineMapAttr::get(map);
    access.offset = access.offset + stride * coefficients.pop_back_val();
    for (auto [sum, coefficient] : llvm::zip_equal(access.strides, coefficients))
      sum = sum + stride * coefficient;
  }
  prepare(builder, access.offset);
  for (AffineExpr stride : access.strides)
    prepare(builder, stride);
  accesses.push_back(std::move(access));
  return success();
}

void TileEmitter::prepare(OpBuilder &builder, AffineExpr expr) {
  if (isa<AffineConstantExpr>(expr))
    return;
  Value &value = kernel.sizes[expr];
  if (!value)
    value = cast<Value>(materializeExpr(builder, op.getLoc(), expr));
}

AffineExpr inlay::readLoopSize(linalg::LinalgOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<SmallVector<AffineExpr>> dims = getBufferDims(operand.get());
    if (!dims)
      continue;
    for (auto [dim, expr] : llvm::zip_equal(*dims, op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext()))
        return dim;
  }
  return nullptr;
}

LogicalResult TileEmitter::readLoops(OpBuilder &builder) {
  symbols = inlay::getSymbols(op);
  for (auto [loop, known, kind] : llvm::enumerate(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    bool isOpen = ShapedType::isDynamic(known);
    AffineExpr size = isOpen ? readLoopSize(op, loop) : getAffineConstantExpr(known, builder.getContext());
    if (!size)
      return op.emitError("unsupported-shape: expected loops whose sizes follow from the sizes of inputs");
    prepare(builder, size);
    isOpen = !isa<AffineConstantExpr>(size);
    sizes.push_back(size);
    nest.loops.push_back({getTypicalValue(size, symbols), kind == utils::IteratorType::reduction, isOpen});
  }
  return success();
}

/// Returns the typical value of each stride for policies. A stride that is known only at a call is never 0 or 1.
static std::vector<int64_t> getTypicalStrides(ArrayRef<AffineExpr> strides, ArrayRef<SymbolAttr> symbols) {
  std::vector<int64_t> typical;
  for (AffineExpr stride : strides) {
    auto constant = dyn_cast<AffineConstantExpr>(stride);
    typical.push_back(constant ? constant.getValue() : std::max<int64_t>(2, getTypicalValue(stride, symbols)));
  }
  return typical;
}

/// Returns true if a flat buffer is known to consist of whole vectors of four elements. With `maybeOpen`, this includes
/// buffers whose size is known only at a call.
static bool hasWholeVectors(Value flat, bool maybeOpen) {
  auto type = cast<MemRefType>(flat.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0) % 4 == 0;
  std::optional<SmallVector<AffineExpr>> dims = maybeOpen ? getBufferDims(flat) : std::nullopt;
  return dims && dims->front().isMultipleOf(4);
}

int TileEmitter::findVectors(const Access &access, Type element, bool maybeOpen) const {
  auto isMultiple = [](AffineExpr expr) { return expr.isMultipleOf(4); };
  auto isOther = [&](const Access &other) {
    return other.flat == access.flat && (other.strides != access.strides || other.offset != access.offset);
  };
  auto type = access.flat ? cast<MemRefType>(access.flat.getType()) : MemRefType();
  // All accesses of a kernel must see a buffer as vectors, or none.
  if (!type || type.getElementType() != element || type.getMemorySpace() || !hasWholeVectors(access.flat, maybeOpen) ||
      !isMultiple(access.offset) || llvm::any_of(accesses, isOther) ||
      llvm::any_of(gathers, [&](const auto &gather) { return gather.second.memref == access.flat; }))
    return -1;
  int found = -1;
  for (auto [loop, stride] : llvm::enumerate(access.strides)) {
    if (isMultiple(stride))
      continue;
    if (found >= 0 || !State::is(stride, 1) || !sizes[loop].isMultipleOf(4) || !isa<AffineConstantExpr>(sizes[loop]))
      return -1;
    found = static_cast<int>(loop);
  }
  return found;
}

/// Returns the loop whose index is the last index of `gather`, if the body uses that index only as the last index of
/// loads. Returns -1 otherwise.
static int findGatheredLoop(memref::LoadOp gather) {
  auto last =
      gather.getIndices().empty() ? linalg::IndexOp() : gather.getIndices().back().getDefiningOp<linalg::IndexOp>();
  if (!last)
    return -1;
  auto isLastIndex = [](OpOperand &use) {
    auto load = dyn_cast<memref::LoadOp>(use.getOwner());
    return load && use.getOperandNumber() + 1 == load->getNumOperands();
  };
  bool isOnlyUse = llvm::all_of(last->getBlock()->getOps<linalg::IndexOp>(), [&](linalg::IndexOp index) {
    return index.getDim() != last.getDim() || llvm::all_of(index->getUses(), isLastIndex);
  });
  return isOnlyUse ? int(last.getDim()) : -1;
}

int TileEmitter::findGatheredVectors(memref::LoadOp gather) const {
  const LinearBuffer &flat = gathers.find(gather)->second;
  auto isSame = [&](const auto &other) { return other.second.memref == flat.memref && other.first != gather; };
  auto isRead = [&](const Access &access) { return access.flat == flat.memref; };
  int loop = findGatheredLoop(gather);
  bool hasElement = gathersHalves ? gather.getType().isF16() : gather.getType().isF32();
  if (loop < 0 || !hasElement || !hasWholeVectors(flat.memref, /*maybeOpen=*/true) || !flat.offset.isMultipleOf(4) ||
      !State::is(flat.strides.back(), 1) || llvm::any_of(gathers, isSame) || llvm::any_of(accesses, isRead) ||
      llvm::any_of(ArrayRef(flat.strides).drop_back(), [](AffineExpr stride) { return !stride.isMultipleOf(4); }))
    return -1;
  auto known = dyn_cast<AffineConstantExpr>(sizes[loop]);
  return known && known.isMultipleOf(4) ? loop : -1;
}

bool TileEmitter::gathersAlong(size_t loop) const {
  return llvm::all_of(
      gathers, [&](const auto &gather) { return findGatheredLoop(cast<memref::LoadOp>(gather.first)) == int(loop); });
}

bool TileEmitter::readsVectors(size_t loop) const {
  for (const auto &[gather, flat] : gathers)
    if (findGatheredVectors(cast<memref::LoadOp>(gather)) != int(loop))
      return false;
  for (auto [access, quads] : llvm::zip(accesses, nest.inputQuads)) // The accesses of the inputs come first.
    if (access.flat && !State::is(access.strides[loop], 0) && quads != int(loop))
      return false;
  return true;
}

FailureOr<TileEmitter> TileEmitter::create(OpBuilder &builder, linalg::LinalgOp op, KernelValues *shared) {
  TileEmitter emitter(op);
  if (shared)
    emitter.kernel = *shared;
  if (failed(emitter.readLoops(builder)))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(emitter.addAccess(builder, operand)))
      return failure();
  WalkResult walk = op->walk([&](memref::LoadOp gather) {
    FailureOr<LinearBuffer> flat = flattenBuffer(builder, op.getLoc(), gather.getMemRef(), emitter.kernel.roots);
    if (failed(flat))
      return WalkResult::interrupt();
    emitter.prepare(builder, flat->offset);
    for (AffineExpr stride : flat->strides)
      emitter.prepare(builder, stride);
    emitter.gathers.insert({gather, *flat});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return op.emitError(
        "unsupported-shape: expected the body to load from buffers whose layout follows from the sizes of inputs");
  for (const Access &access : ArrayRef(emitter.accesses).take_front(op.getNumDpsInputs()))
    emitter.nest.inputStrides.push_back(getTypicalStrides(access.strides, emitter.symbols));
  const Access &output = emitter.accesses[op.getNumDpsInputs()];
  emitter.nest.outputStrides = getTypicalStrides(output.strides, emitter.symbols);
  Type element = builder.getF32Type();
  for (const Access &access : ArrayRef(emitter.accesses).take_front(op.getNumDpsInputs()))
    emitter.nest.inputQuads.push_back(emitter.findVectors(access, element));
  emitter.nest.outputQuad = op.getNumDpsInits() == 1 ? emitter.findVectors(output, element) : -1;
  bool alike = llvm::all_of(ArrayRef(emitter.accesses).drop_front(op.getNumDpsInputs()),
                            [&](const Access &other) { return other.strides == output.strides; });
  emitter.nest.vectorizable = alike && isVectorizable(op);
  emitter.nest.sumsLanes = emitter.nest.vectorizable && findCombiner(op);
  if (shared)
    *shared = emitter.kernel;
  return emitter;
}

void TileEmitter::setLocal(const LocalBuffer &local) {
  for (auto [operand, access] : llvm::zip_equal(op->getOpOperands(), accesses)) {
    if (operand.get() != local.buffer)
      continue;
    access.flat = local.memref;
    access.start = local.start;
    access.offset = getAffineConstantExpr(0, op.getContext());
    access.strides.assign(nest.loops.size(), access.offset);
    for (auto [stride, expr] : llvm::zip_equal(local.strides, op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        access.strides[dim.getPosition()] = access.strides[dim.getPosition()] + stride;
  }
}

void TileEmitter::setElements(Value buffer, ArrayRef<Value> elements) {
  AffineExpr zero = getAffineConstantExpr(0, op.getContext());
  for (auto [operand, access] : llvm::zip(op->getOpOperands(), accesses)) {
    if (operand.get() != buffer)
      continue;
    access.flat = access.start = nullptr;
    access.offset = zero;
    access.strides.assign(nest.loops.size(), zero);
    access.elements.assign(elements.begin(), elements.end());
  }
}

//===-- Emitting a tile -------------------------------------------------------------------------------------------===//

SmallVector<SumCut> TileEmitter::cutReductions(size_t loop, int64_t step, bool roundsUp, int64_t terms) const {
  SmallVector<SumCut> cuts(nest.loops.size());
  if (!maxTerms || !isa_and_nonnull<arith::AddFOp>(findCombiner(op)))
    return cuts;
  SmallVector<size_t> reductions;
  std::vector<int64_t> steps;
  for (auto [number, info] : llvm::enumerate(nest.loops)) {
    if (!info.reduction)
      continue;
    int64_t size = getRange(sizes[number], symbols).max;
    if (number == loop)
      size = roundsUp ? llvm::divideCeil(size, step) : size / step;
    reductions.push_back(number);
    steps.push_back(size);
  }
  int64_t maxIterations = std::max<int64_t>(maxTerms / terms, 2);
  for (auto [number, count, blocks] : llvm::zip_equal(reductions, steps, cutSums(steps, maxIterations))) {
    auto known = dyn_cast<AffineConstantExpr>(sizes[number]);
    bool isExact = known && !(number == loop && roundsUp && known.getValue() % step);
    int64_t whole = count;
    for (int64_t block : llvm::reverse(blocks)) {
      isExact &= whole % block == 0;
      whole = block;
    }
    cuts[number] = {std::move(blocks), isExact};
  }
  return cuts;
}

void TileEmitter::emit(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base, int64_t active,
                       ArrayRef<size_t> ragged, Value activeLanes) {
  if (tile.vectorLoop >= 0 && nest.loops[tile.vectorLoop].reduction)
    return emitLaneReduction(builder, tile, base);
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, ragged, {}};
  state.prepareRagged(builder);
  if (state.isVector() && activeLanes) {
    auto type = VectorType::get({tile.lanes}, builder.getI1Type());
    state.mask = vector::CreateMaskOp::create(builder, op.getLoc(), type, activeLanes);
  } else if (state.isVector() && active < tile.lanes) {
    SmallVector<bool> lanes(tile.lanes, false);
    std::fill_n(lanes.begin(), active, true);
    auto type = VectorType::get({tile.lanes}, builder.getI1Type());
    state.mask = arith::ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, lanes));
  }
  SmallVector<Value> starts = state.startIndices(builder);
  SmallVector<Value> values = state.loadOutputs(builder, starts);
  state.storeOutputs(builder, starts, state.reduce(builder, starts, std::move(values)));
}

SmallVector<Value> TileEmitter::compute(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base,
                                        ArrayRef<size_t> ragged, ArrayRef<Value> initial) {
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, ragged, {}};
  state.prepareRagged(builder);
  SmallVector<Value> starts = state.startIndices(builder);
  SmallVector<Value> values = initial.empty() ? state.loadOutputs(builder, starts) : llvm::to_vector(initial);
  return state.reduce(builder, starts, std::move(values));
}

void TileEmitter::storeTile(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base, ArrayRef<size_t> ragged,
                            ValueRange elements) {
  State state{*this, tile, base, op.getLoc(), enumeratePoints(tile.factors), nullptr, ragged, {}};
  state.prepareRagged(builder);
  state.storeOutputs(builder, state.startIndices(builder), elements);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the elementwise ops before and after a product that its kernel can compute too, and emits them for elements in
// registers.

#include "ProductNeighbor.h"
#include "FusableOps.h"
#include "inlay/Convert/Bufferize/Bufferize.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace inlay;

//===-- Emitting -------------------------------------------------------------------------------------------------===//

namespace {
/// A tile of a product, as the neighbor sees it.
struct NeighborTile {
  NeighborTile(const TileShape &tile, ArrayRef<Value> productBase, ArrayRef<size_t> productRagged,
               ArrayRef<size_t> loops);

  TileShape shape;
  SmallVector<Value> base;
  SmallVector<size_t> ragged;
  SmallVector<size_t> order; ///< For each point, its number in the tile of the product.
};
} // namespace

NeighborTile::NeighborTile(const TileShape &tile, ArrayRef<Value> productBase, ArrayRef<size_t> productRagged,
                           ArrayRef<size_t> loops) {
  for (auto [own, loop] : llvm::enumerate(loops)) {
    shape.factors.push_back(tile.factors[loop]);
    base.push_back(productBase[loop]);
    if (llvm::is_contained(productRagged, loop))
      ragged.push_back(own);
  }
  for (ArrayRef<int64_t> point : enumeratePoints(shape.factors)) {
    SmallVector<int64_t> steps(tile.factors.size());
    for (auto [step, loop] : llvm::zip_equal(point, loops))
      steps[loop] = step;
    size_t &number = order.emplace_back(0);
    for (auto [factor, step] : llvm::zip_equal(tile.factors, steps))
      number = number * factor + step;
  }
}

SmallVector<Value> ProductNeighbor::compute(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base,
                                            ArrayRef<size_t> ragged) const {
  NeighborTile own(tile, base, ragged, loops);
  SmallVector<Value> computed = emitter->compute(builder, own.shape, own.base, own.ragged), elements(computed.size());
  for (auto [number, element] : llvm::zip_equal(own.order, computed))
    elements[number] = element;
  return elements;
}

void ProductNeighbor::emit(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base, ValueRange elements,
                           ArrayRef<size_t> ragged) const {
  NeighborTile own(tile, base, ragged, loops);
  emitter->setElements(buffer, llvm::map_to_vector(own.order, [&](size_t number) { return elements[number]; }));
  emitter->emit(builder, own.shape, own.base, /*active=*/1, own.ragged);
}

Location inlay::fuseLocs(ArrayRef<linalg::LinalgOp> ops) {
  SmallVector<Location> locs = llvm::map_to_vector(ops, [](linalg::LinalgOp op) { return op.getLoc(); });
  return FusedLoc::get(locs.front().getContext(), locs);
}

//===-- Finding neighbors ----------------------------------------------------------------------------------------===//

/// Returns true if after `product` only `reader` reads `buffer`, through any view.
static bool isReadLastBy(Value buffer, Operation *product, Operation *reader) {
  auto isBefore = [&](Operation *user) {
    Operation *inBlock = product->getBlock()->findAncestorOpInBlock(*user); // The user may be in a launch.
    return inBlock && inBlock->isBeforeInBlock(product);
  };
  SmallVector<Value> views{findRoot(buffer)};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (user != reader && user != product && !isBefore(user))
        return false;
    }
  return true;
}

/// Returns the next structured op if there are only views and dequantizations in between, else null. A dequantization
/// writes only a buffer of its own.
static linalg::LinalgOp findNextOp(linalg::LinalgOp op, const Dequantizations &dequantizations) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    auto structured = dyn_cast<linalg::LinalgOp>(next);
    if (structured && isa<BlockArgument>(structured.getDpsInits().front()) &&
        dequantizations.lookup(structured.getDpsInits().front()) == structured)
      continue;
    if (structured)
      return structured;
    if (!isPure(next))
      return nullptr;
  }
  return nullptr;
}

/// Returns true if the body loads from buffers at computed indices.
static bool gathers(linalg::LinalgOp op) {
  return op.getBlock()->walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Returns the loop of `product` for each loop of `op`, which accesses the elements of the product by `map`. Returns
/// nullopt if an iteration of `op` is not one element.
static std::optional<SmallVector<size_t>> matchLoops(linalg::LinalgOp product, linalg::LinalgOp op, AffineMap map) {
  AffineMap written = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  if (!map.isPermutation() || !written.isProjectedPermutation())
    return std::nullopt;
  SmallVector<size_t> loops(op.getNumLoops());
  for (auto [of, to] : llvm::zip_equal(map.getResults(), written.getResults()))
    loops[cast<AffineDimExpr>(of).getPosition()] = cast<AffineDimExpr>(to).getPosition();
  return loops;
}

/// If `next` is an elementwise op of the elements of `product`, and no other op needs these elements, returns the loop
/// of `product` for each loop of `next`. Else returns nullopt.
static std::optional<SmallVector<size_t>> matchEpilogue(linalg::LinalgOp product, linalg::LinalgOp next) {
  Value buffer = product.getDpsInits().front();
  if (!next || next.getNumReductionLoops() || !isScratch(buffer) || !isReadLastBy(buffer, product, next))
    return std::nullopt;
  OpOperand *read = nullptr;
  Value root = findRoot(buffer);
  for (OpOperand &operand : next->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) || findRoot(operand.get()) != root)
      continue;
    if (read || operand.get() != buffer || !next.isDpsInput(&operand))
      return std::nullopt;
    read = &operand;
  }
  if (!read || gathers(next))
    return std::nullopt;
  return matchLoops(product, next, next.getMatchingIndexingMap(read));
}

/// If `op` is an elementwise op that computes the elements from which the sums of `product` start, returns the loop of
/// `product` for each loop of `op`. Else returns nullopt.
static std::optional<SmallVector<size_t>> matchPrologue(linalg::LinalgOp op, linalg::LinalgOp product) {
  if (!product.getNumReductionLoops() || op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      product.getNumDpsInits() != 1 || op.getDpsInits().front() != product.getDpsInits().front())
    return std::nullopt;
  bool overwrites = op.getRegionOutputArgs().front().use_empty() && !writesInputs(op, op);
  if (!overwrites || gathers(op) || shareInputs(op, product) || !canDelay(op, product))
    return std::nullopt;
  return matchLoops(product, op, op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
}

/// Returns the last structured op before `product` that writes its result, or null.
static linalg::LinalgOp findLastWriter(linalg::LinalgOp product) {
  linalg::LinalgOp last;
  for (Operation *user : product.getDpsInits().front().getUsers()) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    bool writes = op && op->getBlock() == product->getBlock() && op->isBeforeInBlock(product) &&
                  llvm::is_contained(op.getDpsInits(), product.getDpsInits().front());
    if (writes && (!last || last->isBeforeInBlock(op)))
      last = op;
  }
  return last;
}

Prologue::Prologue(linalg::LinalgOp product, KernelValues &values) {
  linalg::LinalgOp op = findLastWriter(product);
  std::optional<SmallVector<size_t>> loops = op ? matchPrologue(op, product) : std::nullopt;
  if (!loops)
    return;
  OpBuilder builder(product);
  emitter = TileEmitter::create(builder, op, &values);
  if (failed(emitter))
    return;
  emitter->setQuads(true);
  neighbor = ProductNeighbor{&*emitter, product.getDpsInits().front(), std::move(*loops)};
}

Epilogue::Epilogue(linalg::LinalgOp product, SmallVectorImpl<linalg::LinalgOp> &ops, KernelValues &values,
                   const Dequantizations &dequantizations, const FusionLimits &limits, const PackedOperand *packed) {
  linalg::LinalgOp next = findNextOp(product, dequantizations);
  std::optional<SmallVector<size_t>> loops = matchEpilogue(product, next);
  SmallVector<linalg::LinalgOp, 3> all(ops.begin(), ops.end());
  all.push_back(next);
  // Other workgroups may still compute the product, so `next` must not write the inputs of its kernel.
  auto conflicts = [&](linalg::LinalgOp op) { return writesInputs(next, op) || shareInputs(next, op); };
  if (!loops || countBodySteps(next) > limits.steps || !fitsBuffers(all, packed, limits.buffers) ||
      readsPacked(next, packed) || llvm::any_of(ops, conflicts))
    return;
  OpBuilder builder(next);
  emitter = TileEmitter::create(builder, next, &values);
  if (failed(emitter))
    return;
  emitter->setQuads(true);
  neighbor = ProductNeighbor{&*emitter, product.getDpsInits().front(), std::move(*loops)};
  ops.push_back(next);
}

void ProductNeighbors::findPrologue(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed) {
  prologue.emplace(ops.back(), values);
  if (!prologue->get())
    return;
  ops.insert(ops.begin(), prologue->get()->emitter->getOp());
  if (countBodySteps(ops.front()) <= limits.steps && fitsBuffers(ops, packed, limits.buffers) &&
      !readsPacked(ops.front(), packed))
    return;
  ops.erase(ops.begin());
  prologue.reset();
}

void ProductNeighbors::findInputs(const TileEmitter &emitter, KernelValues &values,
                                  const Dequantizations &dequantizations, const FusionLimits &limits,
                                  CanCompute canCompute) {
  OpBuilder builder(emitter.getOp());
  inputs.resize(ops.back().getNumDpsInputs());
  for (auto [number, input] : llvm::enumerate(inputs)) {
    input = ProductInput::find(builder, emitter, number, dequantizations, values);
    if (!input)
      continue;
    linalg::LinalgOp op = input->getOp();
    bool conflicts = llvm::any_of(ops, [&](linalg::LinalgOp other) { return shareInputs(op, other); });
    ops.insert(ops.begin(), op);
    if (!conflicts && canCompute(number, *input) && fitsBuffers(ops, /*packed=*/nullptr, limits.buffers))
      continue;
    ops.erase(ops.begin());
    input.reset();
  }
}

ProductNeighbors::ProductNeighbors(const TileEmitter &emitter, KernelValues &values,
                                   const Dequantizations &dequantizations, const FusionLimits &limits,
                                   CanCompute canCompute, const PackedOperand *packed)
    : ops{emitter.getOp()} {
  linalg::LinalgOp product = emitter.getOp();
  if (!product.getNumReductionLoops() || product.getNumDpsInits() != 1)
    return;
  if (!emitter.getInitial())
    findPrologue(values, limits, packed);
  if (canCompute)
    findInputs(emitter, values, dequantizations, limits, canCompute);
  epilogue.emplace(product, ops, values, dequantizations, limits, packed);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the elementwise ops before and after a product that its kernel can compute too, and emits them for elements in
// registers.

#include "ProductNeighbor.h"
#include "FusableOps.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/TileState.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace inlay;

//===-- Emitting -------------------------------------------------------------------------------------------------===//

namespace {
/// A tile of a product, as the neighbor sees it.
struct NeighborTile {
  NeighborTile(OpBuilder &builder, Location loc, const TileShape &tile, ArrayRef<Value> productBase,
               ArrayRef<size_t> productRagged, ArrayRef<NeighborLoop> loops);

  TileShape shape;
  SmallVector<Value> base;
  SmallVector<size_t> ragged;
  SmallVector<size_t> order; ///< For each point, its number in the tile of the product.
};
} // namespace

NeighborTile::NeighborTile(OpBuilder &builder, Location loc, const TileShape &tile, ArrayRef<Value> productBase,
                           ArrayRef<size_t> productRagged, ArrayRef<NeighborLoop> loops) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  for (auto [own, at] : llvm::enumerate(loops)) {
    // The tile is inside of one step of the outer dims that a view splits off.
    shape.factors.push_back(at.divisor == 1 && at.modulus != 1 ? tile.factors[at.loop] : 1);
    Value index = productBase[at.loop];
    if (at.divisor > 1)
      index = arith::DivUIOp::create(builder, loc, index, constant(at.divisor));
    if (at.modulus)
      index = arith::RemUIOp::create(builder, loc, index, constant(at.modulus));
    base.push_back(index);
    if (llvm::is_contained(productRagged, at.loop))
      ragged.push_back(own);
  }
  for (ArrayRef<int64_t> point : enumeratePoints(shape.factors)) {
    SmallVector<int64_t> steps(tile.factors.size());
    for (auto [step, at] : llvm::zip_equal(point, loops))
      steps[at.loop] += step;
    size_t &number = order.emplace_back(0);
    for (auto [factor, step] : llvm::zip_equal(tile.factors, steps))
      number = number * factor + step;
  }
}

SmallVector<Value> ProductNeighbor::compute(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base,
                                            ArrayRef<size_t> ragged) const {
  NeighborTile own(builder, emitter->getOp().getLoc(), tile, base, ragged, loops);
  SmallVector<Value> computed = emitter->compute(builder, own.shape, own.base, own.ragged), elements(computed.size());
  for (auto [number, element] : llvm::zip_equal(own.order, computed))
    elements[number] = element;
  return elements;
}

void ProductNeighbor::emit(OpBuilder &builder, const TileShape &tile, ArrayRef<Value> base, ValueRange elements,
                           ArrayRef<size_t> ragged) const {
  Location loc = emitter->getOp().getLoc();
  auto crosses = [&](const NeighborLoop &at) {
    return at.divisor == 1 && at.modulus > 1 && at.modulus % tile.factors[at.loop];
  };
  if (llvm::any_of(loops, crosses)) { // Emits each point alone.
    for (auto [number, point] : llvm::enumerate(enumeratePoints(tile.factors))) {
      SmallVector<Value> at(base);
      for (auto [index, step] : llvm::zip_equal(at, point))
        if (step)
          index = arith::AddIOp::create(builder, loc, index, arith::ConstantIndexOp::create(builder, loc, step));
      emit(builder, TileShape{std::vector<int64_t>(at.size(), 1)}, at, elements[number]);
    }
    return;
  }
  NeighborTile own(builder, loc, tile, base, ragged, loops);
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

using NeighborLoops = SmallVector<NeighborLoop>;

/// Returns the index of each dim of `view` by the loops of `product`, whose output is the root of the view. Returns
/// nullopt if the view does more than split dims into dims of known sizes.
static std::optional<NeighborLoops> findViewIndices(linalg::LinalgOp product, Value view) {
  AffineMap written = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  if (!written.isProjectedPermutation())
    return std::nullopt;
  NeighborLoops root;
  for (AffineExpr index : written.getResults())
    root.push_back({cast<AffineDimExpr>(index).getPosition()});
  if (view == product.getDpsInits().front())
    return root;
  auto expanded = view.getDefiningOp<memref::ExpandShapeOp>();
  if (!expanded || expanded.getSrc() != product.getDpsInits().front())
    return std::nullopt;
  MemRefType type = expanded.getResultType();
  NeighborLoops indices(type.getRank(), {0});
  for (auto [at, group] : llvm::zip_equal(root, expanded.getReassociationIndices())) {
    int64_t divisor = 1;
    for (int64_t dim : llvm::reverse(group)) {
      bool isFirst = dim == group.front();
      int64_t size = type.getDimSize(dim);
      if (!isFirst && (ShapedType::isDynamic(size) || size < 1))
        return std::nullopt;
      indices[dim] = {at.loop, divisor, isFirst ? 0 : size};
      divisor *= isFirst ? 1 : size;
    }
  }
  return indices;
}

/// Returns the index of each loop of `op`, which accesses `view`, by the loops of `product`. `view` is the output of
/// the product or a view of it. Returns nullopt if an iteration of `op` is not one element.
static std::optional<NeighborLoops> matchLoops(linalg::LinalgOp product, linalg::LinalgOp op, OpOperand &view) {
  AffineMap map = op.getMatchingIndexingMap(&view);
  std::optional<NeighborLoops> indices = findViewIndices(product, view.get());
  if (!indices || !map.isPermutation())
    return std::nullopt;
  NeighborLoops loops(op.getNumLoops(), {0});
  for (auto [of, index] : llvm::zip_equal(map.getResults(), *indices))
    loops[cast<AffineDimExpr>(of).getPosition()] = index;
  return loops;
}

/// If `next` is an elementwise op of the elements of `product`, and no other op needs these elements, returns its
/// operand with them. Else returns null.
static OpOperand *matchEpilogue(linalg::LinalgOp product, linalg::LinalgOp next) {
  Value buffer = product.getDpsInits().front();
  if (!next || next.getNumReductionLoops() || !isScratch(buffer) || !isReadLastBy(buffer, product, next))
    return nullptr;
  OpOperand *read = nullptr;
  Value root = findRoot(buffer);
  for (OpOperand &operand : next->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) || findRoot(operand.get()) != root)
      continue;
    if (read || !next.isDpsInput(&operand))
      return nullptr;
    read = &operand;
  }
  return gathers(next) ? nullptr : read;
}

/// If `op` is an elementwise op that computes the elements from which the sums of `product` start, returns the index of
/// each loop of `op`. Else returns nullopt.
static std::optional<NeighborLoops> matchPrologue(linalg::LinalgOp op, linalg::LinalgOp product) {
  if (!product.getNumReductionLoops() || op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      product.getNumDpsInits() != 1 || op.getDpsInits().front() != product.getDpsInits().front())
    return std::nullopt;
  bool overwrites = op.getRegionOutputArgs().front().use_empty() && !writesInputs(op, op);
  if (!overwrites || gathers(op) || shareInputs(op, product) || !canDelay(op, product))
    return std::nullopt;
  return matchLoops(product, op, *op.getDpsInitOperand(0));
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
  std::optional<NeighborLoops> loops = op ? matchPrologue(op, product) : std::nullopt;
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
  OpOperand *read = matchEpilogue(product, next);
  std::optional<NeighborLoops> loops = read ? matchLoops(product, next, *read) : std::nullopt;
  if (!loops || (!limits.takesViews && !llvm::all_of(*loops, std::mem_fn(&NeighborLoop::isWhole))))
    return;
  SmallVector<linalg::LinalgOp, 3> all(ops.begin(), ops.end());
  all.push_back(next);
  // Other workgroups may still compute the product, so `next` must not write the inputs of its kernel.
  auto conflicts = [&](linalg::LinalgOp op) { return writesInputs(next, op) || shareInputs(next, op); };
  if (countBodySteps(next) > limits.steps || !fitsBuffers(all, packed, limits.buffers) || readsPacked(next, packed) ||
      llvm::any_of(ops, conflicts))
    return;
  OpBuilder builder(next);
  emitter = TileEmitter::create(builder, next, &values);
  if (failed(emitter))
    return;
  emitter->setQuads(true);
  neighbor = ProductNeighbor{&*emitter, read->get(), std::move(*loops)};
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

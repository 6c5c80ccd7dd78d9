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
    order.push_back(findPoint(tile.factors, steps));
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
  if (next.getNumReductionLoops() || !isScratch(buffer) || !isReadLastBy(buffer, product, next))
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

/// Returns the neighbor `op` of a product, which accesses `buffer`. Emits flat buffers before `position`.
static std::optional<ProductNeighbor> makeNeighbor(linalg::LinalgOp op, Value buffer, NeighborLoops loops,
                                                   Operation *position, KernelValues &values) {
  OpBuilder builder(position);
  FailureOr<TileEmitter> emitter = TileEmitter::create(builder, op, &values);
  if (failed(emitter))
    return std::nullopt;
  emitter->setQuads(true);
  return ProductNeighbor{std::make_shared<TileEmitter>(std::move(*emitter)), buffer, std::move(loops)};
}

/// Returns true if the launch of `ops` does not exceed the limits of devices.
bool ProductNeighbors::fits(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed) const {
  constexpr size_t kMaxSizes = 20; // Of the 32 push constants that every device supports. The others are for the grid.
  return values.sizes.size() <= kMaxSizes && fitsBuffers(ops, packed, limits.buffers);
}

void ProductNeighbors::findPrologue(KernelValues &values, const FusionLimits &limits, const PackedOperand *packed) {
  linalg::LinalgOp product = ops.back(), op = findLastWriter(product);
  std::optional<NeighborLoops> loops = op ? matchPrologue(op, product) : std::nullopt;
  if (!loops || countBodySteps(op) > limits.steps || accessesPacked(op, packed))
    return;
  prologue = makeNeighbor(op, product.getDpsInits().front(), std::move(*loops), product, values);
  ops.insert(ops.begin(), op);
  if (prologue && fits(values, limits, packed))
    return;
  ops.erase(ops.begin());
  prologue.reset();
}

void ProductNeighbors::findEpilogue(linalg::LinalgOp product, KernelValues &values,
                                    const Dequantizations &dequantizations, const FusionLimits &limits,
                                    const PackedOperand *packed) {
  linalg::LinalgOp op = findNextOp(product, dequantizations);
  OpOperand *read = op ? matchEpilogue(product, op) : nullptr;
  std::optional<NeighborLoops> loops = read ? matchLoops(product, op, *read) : std::nullopt;
  if (!loops || (!limits.takesViews && !llvm::all_of(*loops, std::mem_fn(&NeighborLoop::isWhole))))
    return;
  // Other workgroups may still compute the product, so `op` must not write the inputs of its kernel.
  auto conflicts = [&](linalg::LinalgOp other) { return writesInputs(op, other) || shareInputs(op, other); };
  if (countBodySteps(op) > limits.steps || accessesPacked(op, packed) || llvm::any_of(ops, conflicts))
    return;
  epilogue = makeNeighbor(op, read->get(), std::move(*loops), op, values);
  ops.push_back(op);
  if (epilogue && fits(values, limits, packed))
    return;
  ops.pop_back();
  epilogue.reset();
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
    if (!conflicts && canCompute(number, *input) && fits(values, limits, /*packed=*/nullptr))
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
  findEpilogue(product, values, dequantizations, limits, packed);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches a product as dot products, on matrix units or as blocks of workgroups. The first two kinds also compute the
// elementwise ops before and after the product. Policies and emitters in Products/ and Blocks/ choose the tile and emit
// the body. LinalgToGPU.cpp launches all other ops.

#include "ProductLaunches.h"
#include "Launch.h"
#include "Target/Vulkan/Blocks/CooperativeMatrixEmitter.h"
#include "Target/Vulkan/Blocks/WorkgroupProductEmitter.h"
#include "Target/Vulkan/Products/DotProductEmitter.h"
#include "Target/Vulkan/Products/SubgroupProductEmitter.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

/// Invocations compute with 32-bit indices.
static constexpr int64_t kMaxGroups = (int64_t(1) << 31) - 1;

//===-- Neighbors ------------------------------------------------------------------------------------------------===//

/// Returns true if after `product` only `reader` reads `buffer`, through any view.
static bool isReadLastBy(Value buffer, Operation *product, Operation *reader) {
  SmallVector<Value> views{findRoot(buffer)};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (user != reader && user != product &&
               (user->getBlock() != product->getBlock() || !user->isBeforeInBlock(product)))
        return false;
    }
  return true;
}

/// Returns the next structured op if there are only views and dequantizations in between, else null. A dequantization
/// writes only a buffer of its own.
static linalg::LinalgOp findNext(linalg::LinalgOp op, const Dequantizations &dequantizations) {
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

/// Returns true if a buffer is in both lists.
static bool haveCommonBuffer(ValueRange lhs, ValueRange rhs) {
  for (Value one : lhs)
    for (Value other : rhs)
      if (isa<MemRefType>(one.getType()) && isa<MemRefType>(other.getType()) && findRoot(one) == findRoot(other))
        return true;
  return false;
}

/// Returns true if `op` writes a buffer that `other` reads.
static bool writesInputs(linalg::LinalgOp op, linalg::LinalgOp other) {
  return haveCommonBuffer(op.getDpsInits(), other.getDpsInputs());
}

/// Returns true if `op` and `product` read the same buffer. Accesses of a kernel must see a buffer as vectors, or none,
/// but an emitter knows only those of its own op.
static bool sharesInputs(linalg::LinalgOp op, linalg::LinalgOp product) {
  return haveCommonBuffer(op.getDpsInputs(), product.getDpsInputs());
}

/// Returns true if `op` reads codes, scales or offsets of `packed`, which may be null.
static bool readsPacked(linalg::LinalgOp op, const PackedOperand *packed) {
  return packed && haveCommonBuffer(op.getDpsInputs(), packed->getBuffers());
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
  // Other workgroups may still compute the product, so `next` must not write its inputs.
  if (!read || gathers(next) || writesInputs(next, product) || sharesInputs(next, product))
    return std::nullopt;
  return matchLoops(product, next, next.getMatchingIndexingMap(read));
}

/// If `op` is an elementwise op that computes the elements from which the sums of `product` start, returns the loop of
/// `product` for each loop of `op`. Else returns nullopt.
static std::optional<SmallVector<size_t>> matchPrologue(linalg::LinalgOp op, linalg::LinalgOp product) {
  if (!product || !product.getNumReductionLoops() || op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      product.getNumDpsInits() != 1 || op.getDpsInits().front() != product.getDpsInits().front())
    return std::nullopt;
  bool overwrites = op.getRegionOutputArgs().front().use_empty() && !writesInputs(op, op);
  if (!overwrites || gathers(op) || sharesInputs(op, product))
    return std::nullopt;
  return matchLoops(product, op, op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
}

/// Returns true if a kernel of these ops needs at most `maxBuffers` buffers. `packed` may be null.
static bool fitsBuffers(ArrayRef<linalg::LinalgOp> ops, const PackedOperand *packed, int64_t maxBuffers) {
  llvm::SmallDenseSet<Value> roots;
  if (packed)
    roots.insert(packed->getBuffers().begin(), packed->getBuffers().end());
  for (linalg::LinalgOp op : ops)
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()) && !(packed && operand == packed->getMatrix()))
        roots.insert(findRoot(operand));
  return int64_t(roots.size()) <= maxBuffers;
}

namespace {
/// The elementwise op after a product that its launch also computes, if there is one.
class Epilogue {
public:
  /// Finds the epilogue of a product whose launch computes `ops`, and adds it to them. `packed` may be null.
  Epilogue(linalg::LinalgOp product, SmallVectorImpl<linalg::LinalgOp> &ops, KernelValues &values,
           const ProductContext &context, const PackedOperand *packed = nullptr);
  Epilogue(const Epilogue &) = delete; // `neighbor` points to `emitter`.

  /// Returns null if there is no epilogue.
  const ProductNeighbor *get() const { return neighbor ? &*neighbor : nullptr; }

private:
  FailureOr<TileEmitter> emitter = failure();
  std::optional<ProductNeighbor> neighbor;
};
} // namespace

Epilogue::Epilogue(linalg::LinalgOp product, SmallVectorImpl<linalg::LinalgOp> &ops, KernelValues &values,
                   const ProductContext &context, const PackedOperand *packed) {
  linalg::LinalgOp next = findNext(product, context.dequantizations);
  std::optional<SmallVector<size_t>> loops = matchEpilogue(product, next);
  SmallVector<linalg::LinalgOp, 3> all(ops.begin(), ops.end());
  all.push_back(next);
  if (!loops || !fitsBuffers(all, packed, context.profiles.maxBuffers) || readsPacked(next, packed) ||
      llvm::any_of(ops, [&](linalg::LinalgOp op) { return writesInputs(next, op); }))
    return;
  OpBuilder builder(next);
  emitter = TileEmitter::create(builder, next, &values);
  if (failed(emitter))
    return;
  neighbor = ProductNeighbor{&*emitter, product.getDpsInits().front(), std::move(*loops)};
  ops.push_back(next);
}

//===-- Blocks of workgroups -------------------------------------------------------------------------------------===//

namespace {
/// The numbering of the blocks of a product: along the rows first, so that workgroups that run at the same time read
/// the same columns.
struct BlockGrid {
  BlockGrid(const TileEmitter &emitter, const ProductLoops &loops, const BlockSize &block);

  SmallVector<AffineExpr> counts; ///< Number of blocks along each outer loop, along the columns and along the rows.
  SmallVector<int64_t> factors;
  AffineExpr groups, steps; ///< Number of workgroups, and steps of a block.
};
} // namespace

BlockGrid::BlockGrid(const TileEmitter &emitter, const ProductLoops &loops, const BlockSize &block) {
  MLIRContext *context = emitter.getOp().getContext();
  auto sizes = [&](ArrayRef<size_t> numbers) {
    return llvm::map_to_vector(numbers, [&](size_t loop) { return emitter.size(loop); });
  };
  counts = sizes(loops.outer);
  factors.assign(counts.size(), 1);
  factors.append({block.columns, block.rows});
  counts.push_back(countElements(sizes(loops.columns), context).ceilDiv(block.columns));
  counts.push_back(countElements(sizes(loops.rows), context).ceilDiv(block.rows));
  groups = countElements(counts, context);
  steps = countBlockSteps(emitter, loops, block.depth);
}

/// Returns true if the device can run this number of workgroups.
static bool canLaunch(AffineExpr groups, const TileEmitter &emitter, int64_t maxGrid) {
  uint64_t maxGroups = std::min<uint64_t>(kMaxGroups, llvm::SaturatingMultiply<uint64_t>(maxGrid, maxGrid));
  int64_t minGroups = getRange(groups, emitter.getSymbols()).min; // Larger sizes are checked at the call.
  return minGroups >= 0 && uint64_t(minGroups) <= maxGroups;
}

/// Returns true if the device can compute these blocks.
static bool canLaunch(const BlockGrid &grid, const TileEmitter &emitter, int64_t maxGrid) {
  return canLaunch(grid.groups, emitter, maxGrid) && getRange(grid.steps, emitter.getSymbols()).max <= kMaxIterations;
}

static Location fuseLocs(ArrayRef<linalg::LinalgOp> ops) {
  SmallVector<Location> locs = llvm::map_to_vector(ops, [](linalg::LinalgOp op) { return op.getLoc(); });
  return FusedLoc::get(locs.front().getContext(), locs);
}

/// Emits a launch with a workgroup for each block. `emit` emits the code of a block.
static void launchBlocks(OpBuilder &builder, Location loc, TileEmitter &emitter, const ProductLoops &loops,
                         const BlockSize &block, const BlockGrid &grid, int64_t maxGrid,
                         llvm::function_ref<void(OpBuilder &, const BlockPlace &)> emit) {
  SmallVector<OpFoldResult> counts =
      llvm::map_to_vector(grid.counts, [&](AffineExpr expr) { return materializeExpr(builder, loc, expr); });
  Launch launch = openWorkgroups(builder, loc, grid.groups, getRange(grid.groups, emitter.getSymbols()).max,
                                 block.invocations, maxGrid);
  SmallVector<Value> base = splitNumber(launch.inside, loc, grid.factors, counts, launch.number);
  BlockPlace place{SmallVector<Value>(emitter.shape().loops.size()), nullptr, nullptr, launch.op.getThreadIds().x};
  place.row = base.pop_back_val();
  place.column = base.pop_back_val();
  for (auto [loop, index] : llvm::zip_equal(loops.outer, base))
    place.outer[loop] = index;
  emit(launch.inside, place);
  sinkScalars(launch.op, launch.count);
}

static SmallVector<linalg::LinalgOp, 3> launchCooperativeMatrixProduct(linalg::LinalgOp op, TileEmitter &emitter,
                                                                       KernelValues &values,
                                                                       const ProductContext &context) {
  const ProductProfiles &profiles = context.profiles;
  std::optional<CooperativeMatrixTile> tile = isCooperativeMatrixProduct(emitter)
                                                  ? chooseCooperativeMatrixTile(emitter.shape(), profiles.matrices)
                                                  : std::nullopt;
  if (!tile)
    return {};
  BlockGrid grid(emitter, tile->loops, tile->block());
  if (!canLaunch(grid, emitter, profiles.maxGrid))
    return {};
  SmallVector<linalg::LinalgOp, 3> ops{op};
  Epilogue epilogue(op, ops, values, context);
  OpBuilder builder(ops.back());
  launchBlocks(builder, fuseLocs(ops), emitter, tile->loops, tile->block(), grid, profiles.maxGrid,
               [&](OpBuilder &inside, const BlockPlace &place) {
                 emitCooperativeMatrixProduct(inside, emitter, *tile, place, epilogue.get());
               });
  return ops;
}

static SmallVector<linalg::LinalgOp, 3> launchWorkgroupProduct(linalg::LinalgOp op, TileEmitter &emitter,
                                                               const ProductContext &context) {
  const ProductProfiles &profiles = context.profiles;
  if (!isWorkgroupProduct(emitter) || !isPlainProduct(emitter))
    return {};
  SubgroupProductProfile subgroups = profiles.subgroups;
  subgroups.enough = profiles.workgroups.enough;
  std::optional<SubgroupProductTile> other = chooseSubgroupProductTile(emitter.shape(), subgroups);
  if (!other)
    return {};
  std::optional<WorkgroupProductTile> tile = chooseWorkgroupProductTile(
      emitter.shape(), profiles.workgroups, getSubgroupProductCost(emitter.shape(), *other, subgroups));
  if (!tile)
    return {};
  BlockGrid grid(emitter, tile->loops, tile->block());
  if (!canLaunch(grid, emitter, profiles.maxGrid))
    return {};
  OpBuilder builder(op);
  launchBlocks(
      builder, op.getLoc(), emitter, tile->loops, tile->block(), grid, profiles.maxGrid,
      [&](OpBuilder &inside, const BlockPlace &place) { emitWorkgroupProduct(inside, emitter, *tile, place); });
  return {op};
}

//===-- Dot products ---------------------------------------------------------------------------------------------===//

/// Emits the launch of dot products. Workgroups are numbered along the rows first, so that workgroups that run at the
/// same time read the same columns.
static LogicalResult launchDotProduct(OpBuilder &builder, Location loc, TileEmitter &emitter,
                                      const DotProductTile &tile, int64_t lanes, int64_t maxGrid,
                                      const DotProductFusion &fusion) {
  SmallVector<size_t> loops; // Parallel loops, the row loop last.
  for (auto [number, loop] : llvm::enumerate(emitter.shape().loops))
    if (!loop.reduction && int(number) != tile.rowLoop)
      loops.push_back(number);
  if (tile.rowLoop >= 0)
    loops.push_back(tile.rowLoop);
  SmallVector<AffineExpr> counts;
  SmallVector<int64_t> factors;
  for (size_t loop : loops) {
    factors.push_back(tile.factor(int(loop)));
    counts.push_back(emitter.size(loop).ceilDiv(factors.back()));
  }
  AffineExpr groups = countElements(counts, builder.getContext());
  ReductionShare share{size_t(tile.innerLoop), nullptr, lanes * tile.subgroups};
  if (!canLaunch(groups, emitter, maxGrid) || countIterations(emitter, share) > kMaxIterations)
    return failure();
  cutSums(emitter, share);
  SmallVector<OpFoldResult> values =
      llvm::map_to_vector(counts, [&](AffineExpr expr) { return materializeExpr(builder, loc, expr); });
  Launch launch =
      openWorkgroups(builder, loc, groups, getRange(groups, emitter.getSymbols()).max, tile.subgroups * lanes, maxGrid);
  DotProductPlace place{SmallVector<Value>(emitter.shape().loops.size()), launch.op.getThreadIds().x, lanes};
  for (auto [loop, first] : llvm::zip_equal(loops, splitNumber(launch.inside, loc, factors, values, launch.number)))
    place.base[loop] = first;
  emitDotProduct(launch.inside, emitter, tile, place, fusion);
  sinkScalars(launch.op, launch.count);
  return success();
}

/// Launches `product` as dot products, with its epilogue and with the other ops of `fusion`. Returns no ops if that is
/// not possible or does not pay.
static SmallVector<linalg::LinalgOp, 3> launchFused(linalg::LinalgOp product, TileEmitter &emitter,
                                                    KernelValues &values, const ProductContext &context,
                                                    DotProductFusion fusion) {
  const ProductProfiles &profiles = context.profiles;
  const PackedOperand *packed = fusion.packed;
  if (!canEmitDotProduct(emitter, packed))
    return {};
  const DotProductProfile &dots = packed ? profiles.packedDots : profiles.dots;
  std::optional<DotProductTile> tile =
      chooseDotProductTile(emitter.shape(), findDotProductWidths(emitter, packed), dots);
  SmallVector<linalg::LinalgOp, 3> ops{product};
  if (fusion.prologue)
    ops.insert(ops.begin(), fusion.prologue->emitter->getOp());
  if (!tile || !fitsBuffers(ops, packed, profiles.maxBuffers) ||
      (packed && (tile->streamed != packed->getInput() || tile->innerLoop != packed->getLoop())))
    return {};
  Epilogue epilogue(product, ops, values, context, packed);
  fusion.epilogue = epilogue.get();
  OpBuilder builder(ops.back());
  if (failed(launchDotProduct(builder, fuseLocs(ops), emitter, *tile, dots.lanes, profiles.maxGrid, fusion)))
    return {};
  return ops;
}

/// Launches `product` as dot products that read packed codes if it has dequantized weights, else from floats.
/// `prologue` may be null.
static SmallVector<linalg::LinalgOp, 3> launchDotProduct(linalg::LinalgOp product, TileEmitter &emitter,
                                                         KernelValues &values, const ProductContext &context,
                                                         const ProductNeighbor *prologue) {
  OpBuilder builder(product);
  for (size_t input = 0; input < size_t(product.getNumDpsInputs()); ++input) {
    auto packed = PackedOperand::find(builder, product, input, context.dequantizations, values);
    if (!packed || (prologue && readsPacked(prologue->emitter->getOp(), &*packed)))
      continue;
    DotProductFusion fusion{&*packed, prologue, nullptr};
    if (SmallVector<linalg::LinalgOp, 3> ops = launchFused(product, emitter, values, context, fusion); !ops.empty())
      return ops;
  }
  return launchFused(product, emitter, values, context, {nullptr, prologue, nullptr});
}

SmallVector<linalg::LinalgOp, 3> inlay::launchProduct(linalg::LinalgOp op, TileEmitter &emitter, KernelValues &values,
                                                      const ProductContext &context) {
  SmallVector<linalg::LinalgOp, 3> ops = launchDotProduct(op, emitter, values, context, /*prologue=*/nullptr);
  if (ops.empty())
    ops = launchCooperativeMatrixProduct(op, emitter, values, context);
  return ops.empty() ? launchWorkgroupProduct(op, emitter, context) : ops;
}

SmallVector<linalg::LinalgOp, 3> inlay::launchProductAfter(linalg::LinalgOp op, TileEmitter &emitter,
                                                           KernelValues &values, const ProductContext &context) {
  linalg::LinalgOp product = findNext(op, context.dequantizations);
  std::optional<SmallVector<size_t>> loops = matchPrologue(op, product);
  if (!loops || context.initial.contains(product) || context.profiles.packedDots.lanes < 2)
    return {};
  OpBuilder builder(product);
  FailureOr<TileEmitter> productEmitter = TileEmitter::create(builder, product, &values);
  if (failed(productEmitter))
    return {};
  productEmitter->setFusesProducts(true);
  ProductNeighbor prologue{&emitter, op.getDpsInits().front(), *loops};
  return launchDotProduct(product, *productEmitter, values, context, &prologue);
}

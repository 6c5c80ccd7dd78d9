// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches a product as dot products, on matrix units, as blocks of workgroups or as tiles of subgroups, together with
// the elementwise ops before and after it. Policies and emitters in Products/ and Blocks/ choose the tile and emit the
// body. LinalgToGPU.cpp launches all other ops.

#include "ProductLaunches.h"
#include "Launch.h"
#include "Target/Vulkan/Blocks/CooperativeMatrixEmitter.h"
#include "Target/Vulkan/Blocks/WorkgroupProductEmitter.h"
#include "Target/Vulkan/Products/DotProductEmitter.h"
#include "Target/Vulkan/Products/FusableOps.h"
#include "Target/Vulkan/Products/SubgroupProductEmitter.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

/// Invocations compute with 32-bit indices.
static constexpr int64_t kMaxGroups = (int64_t(1) << 31) - 1;

/// No limit for the bodies of elementwise ops, in kernels that contain them once.
static constexpr int64_t kAnySteps = std::numeric_limits<int64_t>::max();

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

/// Emits a launch of `ops` with a workgroup for each block, before the last one. `emit` emits the code of a block.
static void launchBlocks(ArrayRef<linalg::LinalgOp> ops, TileEmitter &emitter, const ProductLoops &loops,
                         const BlockSize &block, const BlockGrid &grid, int64_t maxGrid,
                         llvm::function_ref<void(OpBuilder &, const BlockPlace &)> emit) {
  OpBuilder builder(ops.back());
  Location loc = fuseLocs(ops);
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

/// Returns true if blocks can compute input `number`: where they would read vectors of the input, they read vectors of
/// what it is computed from.
static bool canComputeInBlock(const TileEmitter &emitter, const ProductLoops &loops, size_t number,
                              const ProductInput &input, Type element) {
  std::optional<size_t> loop = findBlockVectors(emitter, loops, number, element);
  return !loop || input.hasVectors(*loop);
}

/// Launches the product of `emitter` and its neighbors with a workgroup for each block of `tile`. `element` is the type
/// of operands in workgroup memory. `emit` emits a block. Returns no ops if the device can't run so many workgroups.
template <typename Tile>
static KernelOps
launchTile(TileEmitter &emitter, KernelValues &values, const ProductContext &context, const Tile &tile, Type element,
           void (*emit)(OpBuilder &, TileEmitter &, const Tile &, const BlockPlace &, const ProductFusion &)) {
  const ProductProfiles &profiles = context.profiles;
  BlockGrid grid(emitter, tile.loops, tile.block());
  if (!canLaunch(grid, emitter, profiles.maxGrid))
    return {};
  ProductNeighbors neighbors(emitter, values, context.dequantizations, profiles.limitFusion(tile.rows * tile.columns),
                             [&](size_t number, const ProductInput &input) {
                               return canComputeInBlock(emitter, tile.loops, number, input, element);
                             });
  launchBlocks(
      neighbors.getOps(), emitter, tile.loops, tile.block(), grid, profiles.maxGrid,
      [&](OpBuilder &inside, const BlockPlace &place) { emit(inside, emitter, tile, place, neighbors.getFusion()); });
  return KernelOps(neighbors.getOps());
}

/// Launches `product` on matrix units, if it can be computed there and that pays.
static KernelOps launchCooperativeMatrixProduct(linalg::LinalgOp product, TileEmitter &emitter, KernelValues &values,
                                                const ProductContext &context) {
  if (!isCooperativeMatrixProduct(emitter))
    return {};
  std::optional<CooperativeMatrixTile> tile = chooseCooperativeMatrixTile(emitter.shape(), context.profiles.matrices);
  return tile ? launchTile(emitter, values, context, *tile, Float16Type::get(product.getContext()),
                           emitCooperativeMatrixProduct)
              : KernelOps();
}

/// Launches `product` with one workgroup for each block, if that pays.
static KernelOps launchWorkgroupProduct(linalg::LinalgOp product, TileEmitter &emitter, KernelValues &values,
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
  return tile
             ? launchTile(emitter, values, context, *tile, Float32Type::get(product.getContext()), emitWorkgroupProduct)
             : KernelOps();
}

//===-- Tiles of subgroups ---------------------------------------------------------------------------------------===//

namespace {
/// The numbering of the tiles of a product: along the row loop first, so that subgroups that run at the same time read
/// the same columns, then blocks of lanes, then the other loops.
struct SubgroupProductGrid {
  SubgroupProductGrid(const TileEmitter &emitter, const SubgroupProductTile &tile, int64_t lanes, MLIRContext *context);

  SmallVector<unsigned> laneLoops, outerLoops;
  SmallVector<AffineExpr> laneCounts; ///< Number of tiles along each lane loop.
  /// Number of tiles along each outer loop, of blocks of lanes, and of tiles along the row loop if there is one.
  SmallVector<AffineExpr> counts;
  AffineExpr positions; ///< Number of positions of lanes.
  AffineExpr groups;
};
} // namespace

SubgroupProductGrid::SubgroupProductGrid(const TileEmitter &emitter, const SubgroupProductTile &tile, int64_t lanes,
                                         MLIRContext *context) {
  for (auto [number, loop] : llvm::enumerate(emitter.shape().loops)) {
    AffineExpr count = emitter.size(number).ceilDiv(tile.factor(number));
    if (loop.reduction || static_cast<int>(number) == tile.rowLoop)
      continue;
    if (tile.isLaneLoop[number]) {
      laneLoops.push_back(number);
      laneCounts.push_back(count);
    } else {
      outerLoops.push_back(number);
      counts.push_back(count);
    }
  }
  positions = countElements(laneCounts, context);
  counts.push_back(positions.ceilDiv(lanes));
  if (tile.rowLoop >= 0)
    counts.push_back(emitter.size(tile.rowLoop).ceilDiv(tile.rows));
  groups = countElements(counts, context);
}

/// Returns the tile of invocation `lane` of subgroup `number`.
static SubgroupProductPlace findPlace(OpBuilder &builder, Location loc, const SubgroupProductTile &tile,
                                      const SubgroupProductGrid &grid, int64_t lanes, bool loadsUniformly, Value number,
                                      ArrayRef<OpFoldResult> counts, ArrayRef<OpFoldResult> laneCounts,
                                      Value positions) {
  SubgroupProductPlace place{SmallVector<Value>(tile.isLaneLoop.size()), nullptr, lanes, nullptr, loadsUniformly};
  place.lane = gpu::LaneIdOp::create(builder, loc, /*upper_bound=*/IntegerAttr());
  SmallVector<int64_t> factors(grid.outerLoops.size(), 1);
  factors.append({lanes, tile.rows});
  SmallVector<Value> base = splitNumber(builder, loc, factors, counts, number);
  for (auto [loop, index] : llvm::zip(grid.outerLoops, base))
    place.base[loop] = index;
  if (tile.rowLoop >= 0)
    place.base[tile.rowLoop] = base.back();
  Value position = arith::AddIOp::create(builder, loc, base[grid.outerLoops.size()], place.lane);
  if (!grid.positions.isMultipleOf(lanes)) {
    place.isActive = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, positions);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    position = arith::MinUIOp::create(builder, loc, position, arith::SubIOp::create(builder, loc, positions, one));
  }
  SmallVector<int64_t> laneFactors;
  for (unsigned loop : grid.laneLoops)
    laneFactors.push_back(tile.factor(loop));
  for (auto [loop, index] : llvm::zip(grid.laneLoops, splitNumber(builder, loc, laneFactors, laneCounts, position)))
    place.base[loop] = index;
  return place;
}

/// Returns true if a tile can compute input `number` at the cost of a select for each element: it reads vectors where
/// it would read vectors of the input, only indices are computed, and they stay the same in the inner loop.
static bool canComputeInTile(const TileEmitter &emitter, const SubgroupProductTile &tile, size_t number,
                             const ProductInput &input) {
  int loop = findQuadLoop(emitter.shape(), tile, number);
  linalg::LinalgOp op = input.getOp();
  auto isCheap = [](Operation &inner) {
    return isa<memref::LoadOp, arith::SelectOp, arith::ConstantOp>(inner) ||
           llvm::none_of(inner.getResultTypes(), llvm::IsaPred<FloatType>);
  };
  bool isFast = loop >= 0 ? input.hasVectors(loop) : input.isStraight(tile.innerLoop);
  return isFast && !findWidening(emitter.getOp(), number) && llvm::all_of(op.getBlock()->without_terminator(), isCheap);
}

/// Returns the tile of the product of `emitter`. It has few points if an input that all lanes share is computed, and if
/// the device can run as many tiles: each row then needs scalar registers for indices and for whether they are inside
/// of the source.
static std::optional<SubgroupProductTile> chooseSubgroupTile(const TileEmitter &emitter, KernelValues &values,
                                                             const ProductContext &context) {
  constexpr int64_t kMaxComputedPoints = 8;
  SubgroupProductProfile profile = context.profiles.subgroups;
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(emitter.shape(), profile);
  if (!tile || !profile.loadsUniformly || tile->rows <= kMaxComputedPoints)
    return tile;
  OpBuilder builder(emitter.getOp());
  for (size_t number = 0; number < emitter.shape().inputStrides.size(); ++number)
    if (auto input = ProductInput::find(builder, emitter, number, context.dequantizations, values);
        input && isLoadedTogether(emitter.shape(), *tile, number) && canComputeInTile(emitter, *tile, number, *input)) {
      profile.maxPoints = kMaxComputedPoints;
      std::optional<SubgroupProductTile> fewer = chooseSubgroupProductTile(emitter.shape(), profile);
      SubgroupProductGrid grid(emitter, *fewer, profile.lanes, emitter.getOp().getContext());
      return canLaunch(grid.groups, emitter, context.profiles.maxGrid) ? fewer : tile;
    }
  return tile;
}

/// Launches `product` with one subgroup for each tile and block of lanes.
static KernelOps launchSubgroupProduct(linalg::LinalgOp product, TileEmitter &emitter, KernelValues &values,
                                       const ProductContext &context) {
  const ProductProfiles &profiles = context.profiles;
  std::optional<SubgroupProductTile> tile =
      isPlainProduct(emitter) ? chooseSubgroupTile(emitter, values, context) : std::nullopt;
  if (!tile)
    return {};
  int64_t lanes = profiles.subgroups.lanes;
  SubgroupProductGrid grid(emitter, *tile, lanes, product.getContext());
  auto known = dyn_cast<AffineConstantExpr>(grid.groups);
  if ((known && known.getValue() == 0) || !canLaunch(grid.groups, emitter, profiles.maxGrid) ||
      countIterations(emitter) > kMaxIterations)
    return {};
  ProductNeighbors neighbors(emitter, values, context.dequantizations, profiles.limitFusion(tile->rows * tile->columns),
                             [&](size_t number, const ProductInput &input) {
                               return profiles.subgroups.loadsUniformly &&
                                      canComputeInTile(emitter, *tile, number, input);
                             });
  OpBuilder builder(neighbors.getOps().back());
  Location loc = fuseLocs(neighbors.getOps());
  auto materialize = [&](AffineExpr expr) { return materializeExpr(builder, loc, expr); };
  SmallVector<OpFoldResult> counts = llvm::map_to_vector(grid.counts, materialize);
  SmallVector<OpFoldResult> laneCounts = llvm::map_to_vector(grid.laneCounts, materialize);
  Value positions = getValueOrCreateConstantIndexOp(builder, loc, materialize(grid.positions));
  cutSums(emitter);
  Launch launch = openWorkgroups(builder, loc, grid.groups, getRange(grid.groups, emitter.getSymbols()).max, lanes,
                                 profiles.maxGrid);
  SubgroupProductPlace place = findPlace(launch.inside, loc, *tile, grid, lanes, profiles.subgroups.loadsUniformly,
                                         launch.number, counts, laneCounts, positions);
  emitSubgroupProduct(launch.inside, emitter, *tile, place, neighbors.getFusion());
  sinkScalars(launch.op, launch.count);
  return KernelOps(neighbors.getOps());
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

/// Launches `product` as dot products, with its neighbors. `packed` may be null. Returns no ops if that is not possible
/// or does not pay.
static KernelOps launchDotProduct(linalg::LinalgOp product, TileEmitter &emitter, KernelValues &values,
                                  const ProductContext &context, const PackedOperand *packed) {
  const ProductProfiles &profiles = context.profiles;
  if (!canEmitDotProduct(emitter, packed) || !fitsBuffers({product}, packed, profiles.maxBuffers))
    return {};
  const DotProductProfile &dots = packed ? profiles.packedDots : profiles.dots;
  std::optional<DotProductTile> tile =
      chooseDotProductTile(emitter.shape(), findDotProductWidths(emitter, packed), dots);
  if (!tile || (packed && (tile->streamed != packed->getInput() || tile->innerLoop != packed->getLoop())))
    return {};
  ProductNeighbors neighbors(emitter, values, context.dequantizations, {profiles.maxBuffers, kAnySteps},
                             /*canCompute=*/nullptr, packed);
  OpBuilder builder(neighbors.getOps().back());
  if (failed(launchDotProduct(builder, fuseLocs(neighbors.getOps()), emitter, *tile, dots.lanes, profiles.maxGrid,
                              {neighbors.getFusion(), packed})))
    return {};
  return KernelOps(neighbors.getOps());
}

/// Launches `product` as dot products that read packed codes if it has dequantized weights, else from floats.
static KernelOps launchDotProduct(linalg::LinalgOp product, TileEmitter &emitter, KernelValues &values,
                                  const ProductContext &context) {
  OpBuilder builder(product);
  for (size_t input = 0; input < size_t(product.getNumDpsInputs()); ++input)
    if (auto packed = PackedOperand::find(builder, product, input, context.dequantizations, values))
      if (KernelOps ops = launchDotProduct(product, emitter, values, context, &*packed); !ops.empty())
        return ops;
  return launchDotProduct(product, emitter, values, context, /*packed=*/nullptr);
}

//===-- All kinds of launches ------------------------------------------------------------------------------------===//

using Launcher = KernelOps(linalg::LinalgOp, TileEmitter &, KernelValues &, const ProductContext &);

KernelOps inlay::launchProduct(linalg::LinalgOp op, TileEmitter &emitter, const KernelValues &values,
                               const ProductContext &context) {
  // An attempt may emit values where a later one, which has other neighbors, can't use them.
  for (auto launch : {static_cast<Launcher *>(launchDotProduct), launchCooperativeMatrixProduct, launchWorkgroupProduct,
                      launchSubgroupProduct}) {
    KernelValues own = values;
    if (KernelOps ops = launch(op, emitter, own, context); !ops.empty())
      return ops;
  }
  return {};
}

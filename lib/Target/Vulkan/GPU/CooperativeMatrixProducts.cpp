// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches a product with its epilogue on matrix units. Products/CooperativeMatrixPolicy.cpp chooses the tile, and
// Products/CooperativeMatrixEmitter.cpp emits the body. LinalgToGPU.cpp launches all other ops.

#include "CooperativeMatrixProducts.h"
#include "Launch.h"
#include "Target/Vulkan/Products/CooperativeMatrixEmitter.h"
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

//===-- Epilogues ------------------------------------------------------------------------------------------------===//

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

/// Returns true if `buffer` is scratch memory, which is neither an argument nor a result of the segment.
static bool isScratch(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(findRoot(buffer));
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto arguments = func ? func->getAttrOfType<IntegerAttr>(plan::kArgumentsAttr) : IntegerAttr();
  return arguments && argument.getArgNumber() >= arguments.getInt();
}

/// Returns the next structured op if there are only views in between, else null.
static linalg::LinalgOp findNext(linalg::LinalgOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(next))
      return structured;
    if (!isPure(next))
      return nullptr;
  }
  return nullptr;
}

/// If `next` is an elementwise op of the elements of `product`, and no other op needs these elements, returns the loop
/// of `product` for each loop of `next`. Else returns nullopt.
static std::optional<SmallVector<size_t>> matchLoops(linalg::LinalgOp product, linalg::LinalgOp next) {
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
  for (Value init : next.getDpsInits())
    for (Value input : product.getDpsInputs())
      if (findRoot(init) == findRoot(input))
        return std::nullopt;
  bool gathers = next.getBlock()->walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  AffineMap written = product.getMatchingIndexingMap(product.getDpsInitOperand(0));
  AffineMap map = read ? next.getMatchingIndexingMap(read) : AffineMap();
  if (gathers || !map || !map.isPermutation() || !written.isProjectedPermutation())
    return std::nullopt;
  SmallVector<size_t> loops(next.getNumLoops());
  for (auto [of, to] : llvm::zip_equal(map.getResults(), written.getResults()))
    loops[cast<AffineDimExpr>(of).getPosition()] = cast<AffineDimExpr>(to).getPosition();
  return loops;
}

//===-- Launches -------------------------------------------------------------------------------------------------===//

namespace {
/// The numbering of the blocks of a product: along the rows first, so that workgroups that run at the same time read
/// the same columns.
struct CooperativeMatrixGrid {
  CooperativeMatrixGrid(const TileEmitter &emitter, const CooperativeMatrixTile &tile, MLIRContext *context);

  SmallVector<AffineExpr> counts; ///< Number of blocks along each outer loop, along the columns and along the rows.
  SmallVector<int64_t> factors;
  AffineExpr groups, steps; ///< Number of workgroups, and steps of a block.
};
} // namespace

CooperativeMatrixGrid::CooperativeMatrixGrid(const TileEmitter &emitter, const CooperativeMatrixTile &tile,
                                             MLIRContext *context) {
  auto sizes = [&](ArrayRef<size_t> loops) {
    return llvm::map_to_vector(loops, [&](size_t loop) { return emitter.size(loop); });
  };
  counts = sizes(tile.loops.outer);
  factors.assign(counts.size(), 1);
  factors.append({tile.blockColumns(), tile.blockRows()});
  counts.push_back(countElements(sizes(tile.loops.columns), context).ceilDiv(tile.blockColumns()));
  counts.push_back(countElements(sizes(tile.loops.rows), context).ceilDiv(tile.blockRows()));
  groups = countElements(counts, context);
  steps = countElements(sizes(tile.loops.sums), context) * emitter.size(tile.loops.inner).ceilDiv(tile.depth);
}

/// Returns true if the device can run the workgroups and an invocation can run the steps.
static bool isWithinLimits(const CooperativeMatrixGrid &grid, const TileEmitter &emitter, int64_t maxGrid) {
  uint64_t maxGroups = std::min<uint64_t>(kMaxGroups, llvm::SaturatingMultiply<uint64_t>(maxGrid, maxGrid));
  int64_t minGroups = getRange(grid.groups, emitter.getSymbols()).min; // Larger sizes are checked at the call.
  return minGroups >= 0 && uint64_t(minGroups) <= maxGroups &&
         getRange(grid.steps, emitter.getSymbols()).max <= kMaxIterations;
}

static void emitLaunch(OpBuilder &builder, Location loc, TileEmitter &emitter, const CooperativeMatrixTile &tile,
                       const CooperativeMatrixGrid &grid, int64_t lanes, int64_t maxGrid,
                       const CooperativeMatrixEpilogue *epilogue) {
  SmallVector<OpFoldResult> counts =
      llvm::map_to_vector(grid.counts, [&](AffineExpr expr) { return materializeExpr(builder, loc, expr); });
  Launch launch = openWorkgroups(builder, loc, grid.groups, getRange(grid.groups, emitter.getSymbols()).max,
                                 tile.subgroups() * lanes, maxGrid);
  SmallVector<Value> base = splitNumber(launch.inside, loc, grid.factors, counts, launch.number);
  CooperativeMatrixPlace place{SmallVector<Value>(emitter.shape().loops.size()), nullptr, nullptr,
                               launch.op.getThreadIds().x, lanes};
  place.row = base.pop_back_val();
  place.column = base.pop_back_val();
  for (auto [loop, index] : llvm::zip_equal(tile.loops.outer, base))
    place.outer[loop] = index;
  emitCooperativeMatrixProduct(launch.inside, emitter, tile, place, epilogue);
  sinkScalars(launch.op, launch.count);
}

SmallVector<linalg::LinalgOp, 2> inlay::launchCooperativeMatrixProduct(linalg::LinalgOp op, TileEmitter &emitter,
                                                                       KernelValues &values,
                                                                       const CooperativeMatrixProfile &profile,
                                                                       int64_t maxGrid) {
  std::optional<CooperativeMatrixTile> tile =
      isCooperativeMatrixProduct(emitter) ? chooseCooperativeMatrixTile(emitter.shape(), profile) : std::nullopt;
  if (!tile)
    return {};
  CooperativeMatrixGrid grid(emitter, *tile, op.getContext());
  if (!isWithinLimits(grid, emitter, maxGrid))
    return {};
  linalg::LinalgOp next = findNext(op);
  if (std::optional<SmallVector<size_t>> loops = matchLoops(op, next)) {
    OpBuilder builder(next);
    FailureOr<TileEmitter> nextEmitter = TileEmitter::create(builder, next, &values);
    if (succeeded(nextEmitter)) {
      CooperativeMatrixEpilogue epilogue{&*nextEmitter, op.getDpsInits().front(), *loops};
      Location loc = FusedLoc::get(op.getContext(), {op.getLoc(), next.getLoc()});
      emitLaunch(builder, loc, emitter, *tile, grid, profile.lanes, maxGrid, &epilogue);
      return {op, next};
    }
  }
  OpBuilder builder(op);
  emitLaunch(builder, op.getLoc(), emitter, *tile, grid, profile.lanes, maxGrid, /*epilogue=*/nullptr);
  return {op};
}

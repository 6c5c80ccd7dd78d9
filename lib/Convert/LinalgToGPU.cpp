// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops on buffers to GPU launches, one launch per op.

#include "Launch.h"
#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace inlay {
#define GEN_PASS_DEF_LINALGTOGPUPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Invocations work on 32-bit indices.
static constexpr int64_t kMaxTiles = (int64_t(1) << 31) - 1;

namespace {
/// A launch under construction.
struct Launch {
  gpu::LaunchOp op;
  OpBuilder inside; ///< within the bounds check
  Value number;     ///< the invocation's
  Value count;      ///< of invocations: the one constant that stays outside, as a launch parameter
};
} // namespace

/// Opens a launch of `tiles` invocations, of which there are at most `most`.
static Launch openLaunch(OpBuilder &builder, Location loc, AffineExpr tiles, int64_t most, int64_t block,
                         int64_t maxGrid) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  auto value = [&](AffineExpr expr) {
    return getValueOrCreateConstantIndexOp(builder, loc, materializeExpr(builder, loc, expr));
  };
  Grid grid = foldGrid(tiles.ceilDiv(block), most / block, maxGrid);
  Value one = constant(1), count = value(tiles), size = constant(block);
  auto launch = gpu::LaunchOp::create(builder, loc, value(grid.width), value(grid.height), one, size, one, one);
  OpBuilder inner = OpBuilder::atBlockBegin(&launch.getBody().front());
  gpu::KernelDim3 group = launch.getBlockIds();
  Value row = arith::MulIOp::create(inner, loc, group.y, launch.getGridSize().x);
  Value groupNumber = arith::AddIOp::create(inner, loc, row, group.x);
  Value first = arith::MulIOp::create(inner, loc, groupNumber, launch.getBlockSize().x);
  Value number = arith::AddIOp::create(inner, loc, first, launch.getThreadIds().x);
  Value inside = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, number, count);
  auto guard = scf::IfOp::create(inner, loc, inside, /*withElseRegion=*/false);
  gpu::TerminatorOp::create(inner, loc);
  return {launch, guard.getThenBodyBuilder(), number, count};
}

/// How many tiles there are along each loop; 1 for reductions.
static SmallVector<AffineExpr> countTiles(MLIRContext *context, const TileEmitter &emitter, const TileShape &tile) {
  SmallVector<AffineExpr> counts;
  for (auto [number, loop] : llvm::enumerate(emitter.shape().loops))
    counts.push_back(loop.reduction ? getAffineConstantExpr(1, context)
                                    : emitter.size(number).ceilDiv(tile.factors[number]));
  return counts;
}

/// Refuses ops with too much for one launch or one invocation.
static LogicalResult checkLimits(linalg::LinalgOp op, const TileEmitter &emitter, AffineExpr tiles, int64_t block,
                                 int64_t maxGrid) {
  // Limits of real devices go up to 2^32 - 1, so their products may not fit.
  uint64_t groups = llvm::SaturatingMultiply<uint64_t>(maxGrid, maxGrid);
  uint64_t most = std::min<uint64_t>(kMaxTiles, llvm::SaturatingMultiply<uint64_t>(groups, block));
  int64_t fewest = getRange(tiles, emitter.getSymbols()).min; // what is more at a call is found then
  if (fewest < 0 || static_cast<uint64_t>(fewest) > most)
    return op.emitError("unsupported-shape: expected at most ") << most << " tiles, but got " << fewest;
  if (countIterations(emitter) > kMaxIterations)
    return op.emitError("unsupported-shape: expected at most ")
           << kMaxIterations << " steps of a reduction per element";
  return success();
}

static LogicalResult convertOp(linalg::LinalgOp op, Value initial, int64_t block, int64_t maxGrid) {
  OpBuilder builder(op);
  FailureOr<TileEmitter> emitter = TileEmitter::create(builder, op);
  if (failed(emitter))
    return failure();
  emitter->setInitial(initial);
  TileLimits limits;
  limits.pointwiseFactor = 4;
  limits.maxPoints = 64; // 8 x 8: with more, drivers compile for seconds
  TileShape tile = chooseTile(emitter->shape(), limits);
  SmallVector<AffineExpr> counts = countTiles(op.getContext(), *emitter, tile);
  AffineExpr tiles = countElements(counts, op.getContext());
  if (failed(checkLimits(op, *emitter, tiles, block, maxGrid)))
    return failure();
  if (auto known = dyn_cast<AffineConstantExpr>(tiles); !known || known.getValue() > 0) {
    int64_t most = getRange(tiles, emitter->getSymbols()).max;
    SmallVector<OpFoldResult> outside; // of the launch: the counts of parallel loops
    for (auto [loop, count] : llvm::zip_equal(emitter->shape().loops, counts))
      outside.push_back(loop.reduction ? OpFoldResult() : materializeExpr(builder, op.getLoc(), count));
    Launch launch = openLaunch(builder, op.getLoc(), tiles, most, block, maxGrid);
    SmallVector<Value> base = splitNumber(launch.inside, op.getLoc(), tile.factors, outside, launch.number);
    emitter->emit(launch.inside, tile, base, /*active=*/1, findRagged(emitter->shape(), tile));
    sinkScalars(launch.op, launch.count);
  }
  op.erase();
  return success();
}

namespace {
struct LinalgToGPUPass : inlay::impl::LinalgToGPUPassBase<LinalgToGPUPass> {
  using LinalgToGPUPassBase::LinalgToGPUPassBase;

  void runOnOperation() override {
    if (block < 1 || maxGrid < 1) {
      getOperation().emitError("expected a positive block and grid, but got ")
          << block.getValue() << " and " << maxGrid.getValue();
      return signalPassFailure();
    }
    replaceCopies(getOperation());
    InitialValues initial = prepareLinalgOps(getOperation());
    for (auto op : llvm::to_vector(getOperation().getOps<linalg::LinalgOp>()))
      if (failed(convertOp(op, initial.lookup(op), block, maxGrid)))
        return signalPassFailure();
  }
};
} // namespace

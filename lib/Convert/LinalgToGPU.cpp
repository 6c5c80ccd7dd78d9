// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops on buffers to GPU launches, one launch per op.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace inlay {
#define GEN_PASS_DEF_LINALGTOGPUPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Invocations work on 32-bit indices.
static constexpr int64_t kMaxTiles = (int64_t(1) << 31) - 1;

/// Mesa's llvmpipe leaves an invocation's loops, nested ones counted together, after this many iterations without a
/// word.
static constexpr int64_t kMaxIterations = (int64_t(1) << 16) - 2;

namespace {
/// A launch under construction.
struct Launch {
  gpu::LaunchOp op;
  OpBuilder inside; ///< within the bounds check
  Value number;     ///< the invocation's
  Value count;      ///< of invocations: the one constant that stays outside, as a launch parameter
};
} // namespace

/// Opens a launch of `tiles` invocations.
static Launch openLaunch(OpBuilder &builder, Location loc, int64_t tiles, int64_t block, int64_t maxGrid) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  int64_t groups = llvm::divideCeil(tiles, block);
  int64_t width = std::min(groups, maxGrid), height = llvm::divideCeil(groups, width);
  Value one = constant(1), count = constant(tiles), size = constant(block);
  auto launch = gpu::LaunchOp::create(builder, loc, constant(width), constant(height), one, size, one, one);
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

/// Gives the launch its own copies of constants from around it, so that they don't become launch parameters.
static void sinkConstants(Launch &launch) {
  Region &body = launch.op.getBody();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(body, captured);
  OpBuilder builder = OpBuilder::atBlockBegin(&body.front());
  for (Value value : captured)
    if (Operation *op = value.getDefiningOp(); op && op->hasTrait<OpTrait::ConstantLike>() && value != launch.count)
      replaceAllUsesInRegionWith(value, builder.clone(*op)->getResult(0), body);
}

/// The tile's first index along each parallel loop, from the invocation's number; the last loop is the fastest.
static SmallVector<Value> splitNumber(OpBuilder &builder, Location loc, const LoopNestShape &shape,
                                      const TileShape &tile, Value number) {
  SmallVector<Value> base(shape.loops.size());
  for (size_t loop = shape.loops.size(); loop-- > 0;) {
    if (shape.loops[loop].reduction)
      continue;
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    int64_t count = llvm::divideCeil(shape.loops[loop].size, tile.factors[loop]);
    if (count == 1) {
      base[loop] = constant(0);
      continue;
    }
    Value index = arith::RemUIOp::create(builder, loc, number, constant(count));
    number = arith::DivUIOp::create(builder, loc, number, constant(count));
    base[loop] = arith::MulIOp::create(builder, loc, index, constant(tile.factors[loop]));
  }
  return base;
}

/// Iterations of all loops that an invocation runs, or `kMaxIterations` + 1 if there are more.
static int64_t countIterations(const LoopNestShape &shape) {
  int64_t runs = 1, total = 0;
  for (const LoopNestShape::Loop &loop : shape.loops)
    if (loop.reduction && (llvm::MulOverflow(runs, loop.size, runs) || (total += runs) > kMaxIterations))
      return kMaxIterations + 1;
  return total;
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
  int64_t tiles = 1;
  SmallVector<size_t> ragged;
  for (auto [number, loop, factor] : llvm::enumerate(emitter->shape().loops, tile.factors)) {
    int64_t count = llvm::divideCeil(loop.size, factor);
    if (!loop.reduction && llvm::MulOverflow(tiles, count, tiles))
      return op.emitError("unsupported-shape: too many elements");
    if (count * factor != loop.size)
      ragged.push_back(number);
  }
  // Limits of real devices go up to 2^32 - 1, so their products may not fit.
  uint64_t groups = llvm::SaturatingMultiply<uint64_t>(maxGrid, maxGrid);
  uint64_t most = std::min<uint64_t>(kMaxTiles, llvm::SaturatingMultiply<uint64_t>(groups, block));
  if (static_cast<uint64_t>(tiles) > most)
    return op.emitError("unsupported-shape: expected at most ") << most << " tiles, but got " << tiles;
  if (countIterations(emitter->shape()) > kMaxIterations)
    return op.emitError("unsupported-shape: expected at most ")
           << kMaxIterations << " steps of a reduction per element";
  if (tiles > 0) {
    Launch launch = openLaunch(builder, op.getLoc(), tiles, block, maxGrid);
    SmallVector<Value> base = splitNumber(launch.inside, op.getLoc(), emitter->shape(), tile, launch.number);
    emitter->emit(launch.inside, tile, base, /*active=*/1, ragged);
    sinkConstants(launch);
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

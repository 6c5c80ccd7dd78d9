// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts structured ops on buffers to GPU launches, one launch per op.

#include "Launch.h"
#include "ProductLaunches.h"
#include "SubgroupProductProfile.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Support/MatrixShape.h"
#include "inlay/Target/Vulkan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace inlay {
#define GEN_PASS_DEF_LINALGTOGPUPASS
#include "inlay/Target/Vulkan/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Invocations compute with 32-bit indices.
static constexpr int64_t kMaxTiles = (int64_t(1) << 31) - 1;

/// Opens a launch of `tiles` invocations, of which there are at most `maxTiles`.
static Launch openLaunch(OpBuilder &builder, Location loc, AffineExpr tiles, int64_t maxTiles, int64_t block,
                         int64_t maxGrid) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  auto value = [&](AffineExpr expr) {
    return getValueOrCreateConstantIndexOp(builder, loc, materializeExpr(builder, loc, expr));
  };
  Grid grid = foldGrid(tiles.ceilDiv(block), maxTiles / block, maxGrid);
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

/// Returns the number of tiles along each loop; 1 for reductions.
static SmallVector<AffineExpr> countTiles(MLIRContext *context, const TileEmitter &emitter, const TileShape &tile) {
  SmallVector<AffineExpr> counts;
  for (auto [number, loop] : llvm::enumerate(emitter.shape().loops))
    counts.push_back(loop.reduction ? getAffineConstantExpr(1, context)
                                    : emitter.size(number).ceilDiv(tile.factors[number]));
  return counts;
}

/// Refuses ops that need too many tiles or too many iterations per invocation.
static LogicalResult checkLimits(linalg::LinalgOp op, const TileEmitter &emitter, AffineExpr tiles, int64_t block,
                                 int64_t maxGrid) {
  // Limits of real devices go up to 2^32 - 1, so their products may overflow.
  uint64_t groups = llvm::SaturatingMultiply<uint64_t>(maxGrid, maxGrid);
  uint64_t maxTiles = std::min<uint64_t>(kMaxTiles, llvm::SaturatingMultiply<uint64_t>(groups, block));
  int64_t minTiles = getRange(tiles, emitter.getSymbols()).min; // Larger sizes are checked at the call.
  if (minTiles < 0 || static_cast<uint64_t>(minTiles) > maxTiles)
    return op.emitError("unsupported-shape: expected at most ") << maxTiles << " tiles, but got " << minTiles;
  if (countIterations(emitter) > kMaxIterations)
    return op.emitError("unsupported-shape: expected at most ")
           << kMaxIterations << " steps of a reduction per element";
  return success();
}

namespace {
struct OpConverter {
  int64_t block, maxGrid, pointwiseFactor;
  ProductProfiles products;

  LogicalResult convertAll(func::FuncOp func, const InitialValues &initial) const;
  FailureOr<KernelOps> convert(linalg::LinalgOp op, TileEmitter &emitter, KernelValues &values,
                               const ProductContext &context) const;
};
} // namespace

/// Returns the number of elements that an invocation computes of an op without reductions. It is smaller for bodies
/// that drivers take longer to compile.
static int64_t choosePointwiseFactor(linalg::LinalgOp op, int64_t maxFactor) {
  constexpr int64_t kSmallBody = 6, kDefault = 4;
  Block *body = op.getBlock();
  bool isSmall = body->getOperations().size() <= kSmallBody && body->getOps<memref::LoadOp>().empty();
  return isSmall ? maxFactor : std::min(maxFactor, kDefault);
}

/// Returns the ops of a function in the order of their conversion. Ops with reductions come first, because their
/// kernels may compute other ops too. Dequantizations come last, each before those whose results it reads, because
/// their readers may read the codes instead.
static SmallVector<linalg::LinalgOp> orderOps(func::FuncOp func, const Dequantizations &dequantizations) {
  llvm::SmallDenseSet<Operation *> late;
  for (auto [buffer, op] : dequantizations)
    late.insert(op);
  SmallVector<linalg::LinalgOp> ops = llvm::to_vector(func.getOps<linalg::LinalgOp>());
  auto first = std::stable_partition(ops.begin(), ops.end(), [&](linalg::LinalgOp op) { return !late.contains(op); });
  std::stable_partition(ops.begin(), first, [](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0; });
  std::reverse(first, ops.end());
  return ops;
}

/// Returns true if an op other than `writer` accesses `buffer` through any view.
static bool isReadByOthers(Value buffer, Operation *writer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    return isa<ViewLikeOpInterface>(user) ? isReadByOthers(user->getResult(0), writer) : user != writer;
  });
}

LogicalResult OpConverter::convertAll(func::FuncOp func, const InitialValues &initial) const {
  llvm::SmallDenseSet<Operation *> done;
  Dequantizations dequantizations = findDequantizations(func);
  ProductContext context{products, dequantizations};
  for (linalg::LinalgOp op : orderOps(func, dequantizations)) {
    if (done.contains(op))
      continue;
    if (Value buffer = op.getDpsInits().front(); dequantizations.lookup(buffer) == op && !isReadByOthers(buffer, op)) {
      op.erase();
      continue;
    }
    OpBuilder builder(op);
    KernelValues values;
    FailureOr<TileEmitter> emitter = TileEmitter::create(builder, op, &values);
    if (failed(emitter))
      return failure();
    emitter->setInitial(initial.lookup(op));
    emitter->setFusesProducts(true);
    KernelOps ops;
    if (op.getNumReductionLoops())
      ops = launchProduct(op, *emitter, values, context);
    if (ops.empty()) {
      FailureOr<KernelOps> converted = convert(op, *emitter, values, context);
      if (failed(converted))
        return failure();
      ops = std::move(*converted);
    }
    for (linalg::LinalgOp launched : ops) {
      done.insert(launched);
      launched.erase();
    }
  }
  return success();
}

/// Emits a tile of the op of `emitter` and its neighbors.
static void emitTile(OpBuilder &builder, TileEmitter &emitter, const TileShape &tile, ArrayRef<Value> base,
                     const ProductFusion &fusion) {
  SmallVector<size_t> ragged = findRagged(emitter.shape(), tile);
  if (!fusion.prologue && !fusion.epilogue)
    return emitter.emit(builder, tile, base, /*active=*/1, ragged);
  SmallVector<Value> initial;
  if (fusion.prologue)
    initial = fusion.prologue->compute(builder, tile, base, ragged);
  SmallVector<Value> elements = emitter.compute(builder, tile, base, ragged, initial);
  if (fusion.epilogue)
    fusion.epilogue->emit(builder, tile, base, elements, ragged);
  else
    emitter.storeTile(builder, tile, base, ragged, elements);
}

/// Launches `op` with an invocation for each tile. The kernel of an op with reductions also computes its neighbors.
/// Returns the ops that the launch replaces.
FailureOr<KernelOps> OpConverter::convert(linalg::LinalgOp op, TileEmitter &emitter, KernelValues &values,
                                          const ProductContext &context) const {
  TileLimits limits;
  limits.pointwiseFactor = choosePointwiseFactor(op, pointwiseFactor);
  limits.maxPoints = 64; // 8 x 8 points. With more, drivers compile for seconds.
  TileShape tile = chooseTile(emitter.shape(), limits);
  SmallVector<AffineExpr> counts = countTiles(op.getContext(), emitter, tile);
  AffineExpr tiles = countElements(counts, op.getContext());
  if (failed(checkLimits(op, emitter, tiles, block, maxGrid)))
    return failure();
  if (auto known = dyn_cast<AffineConstantExpr>(tiles); known && known.getValue() == 0)
    return KernelOps{op};
  int64_t points = 1;
  for (int64_t factor : tile.factors)
    points *= factor;
  FusionLimits fusion = products.limitFusion(points);
  fusion.takesViews = false; // Tiles may be wider than the dims that a view splits.
  ProductNeighbors neighbors(emitter, values, context.dequantizations, fusion);
  OpBuilder builder(neighbors.getOps().back());
  Location loc = fuseLocs(neighbors.getOps());
  int64_t maxTiles = getRange(tiles, emitter.getSymbols()).max;
  SmallVector<OpFoldResult> outside; // Counts of parallel loops, materialized outside the launch.
  for (auto [loop, count] : llvm::zip_equal(emitter.shape().loops, counts))
    outside.push_back(loop.reduction ? OpFoldResult() : materializeExpr(builder, loc, count));
  Launch launch = openLaunch(builder, loc, tiles, maxTiles, block, maxGrid);
  SmallVector<Value> base = splitNumber(launch.inside, loc, tile.factors, outside, launch.number);
  emitter.setQuads(true);
  cutSums(emitter);
  emitTile(launch.inside, emitter, tile, base, neighbors.getFusion());
  sinkScalars(launch.op, launch.count);
  return KernelOps(neighbors.getOps());
}

/// Returns true if the emitter supports the shape: f16 operands with lines of at least 16 bytes.
static bool canLoad(const MatrixShape &shape) {
  return shape.element == "f16" && shape.sum == "f32" && std::min({shape.rows, shape.columns, shape.depth}) >= 8;
}

namespace {
struct LinalgToGPUPass : inlay::impl::LinalgToGPUPassBase<LinalgToGPUPass> {
  using LinalgToGPUPassBase::LinalgToGPUPassBase;

  void runOnOperation() override {
    if (block < 1 || maxGrid < 1) {
      getOperation().emitError("expected positive options 'block' and 'max-grid', but got ")
          << block.getValue() << " and " << maxGrid.getValue();
      return signalPassFailure();
    }
    FailureOr<SubgroupProductProfile> profile =
        makeProfile(getOperation(), {subgroup, arithmetic, inSoftware, texels, tuning});
    if (failed(profile))
      return signalPassFailure();
    CooperativeMatrixProfile matrixProfile;
    for (const std::string &text : matrices) {
      std::optional<MatrixShape> shape = parseMatrixShape(text);
      if (!shape) {
        getOperation().emitError("expected option 'matrices' to have shapes such as 16x8x16xf16xf32, but got '")
            << text << "'";
        return signalPassFailure();
      }
      if (canLoad(*shape))
        matrixProfile.units.push_back({shape->rows, shape->columns, shape->depth});
    }
    matrixProfile.lanes = subgroup;
    matrixProfile.maxInvocations = invocations;
    matrixProfile.memory = memory;
    ProductProfiles products{DotProductProfile::from(*profile, invocations),
                             DotProductProfile::from(*profile, invocations, /*isPacked=*/true),
                             matrixProfile,
                             WorkgroupProductProfile::from(*profile, invocations, memory),
                             *profile,
                             maxGrid,
                             maxBuffers};
    OpConverter converter{block, maxGrid, inSoftware ? 16 : 4, products};
    replaceCopies(getOperation());
    FailureOr<InitialValues> initial = prepareLinalgOps(getOperation());
    if (failed(initial) || failed(converter.convertAll(getOperation(), *initial)))
      signalPassFailure();
  }
};
} // namespace

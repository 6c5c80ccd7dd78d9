// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts structured ops on buffers to vectorized loop nests for the host.

#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Target/Host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace inlay {
#define GEN_PASS_DEF_LINALGTOLOOPSPASS
#include "inlay/Target/Host/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
/// The part of a loop that a kernel runs: the steps [lower, upper). Both bounds are multiples of `multiple`.
struct LoopPart {
  unsigned loop;
  Value lower, upper;
  int64_t multiple;
};

/// Emits the parallel loops around a tile, outermost first.
class NestBuilder {
public:
  NestBuilder(TileEmitter &emitter, TileShape tile, std::optional<LoopPart> part, Location loc)
      : emitter(emitter), tile(std::move(tile)), part(part), loc(loc), base(emitter.shape().loops.size()) {}

  /// Emits loop `loop` and all loops inside it.
  void emit(OpBuilder &builder, size_t loop) {
    if (loop == base.size()) {
      emitter.emit(builder, tile, base, active, /*ragged=*/{}, activeLanes);
      return;
    }
    const LoopNestShape::Loop &info = emitter.shape().loops[loop];
    if (info.reduction)
      return emit(builder, loop + 1);
    bool vector = static_cast<int>(loop) == tile.vectorLoop;
    if (part && part->loop == loop)
      return emitRange(builder, loop, part->lower, part->upper, part->multiple);
    if (info.isOpen)
      return emitRange(builder, loop, arith::ConstantIndexOp::create(builder, loc, 0),
                       cast<Value>(materializeExpr(builder, loc, emitter.size(loop))), /*multiple=*/1);
    if (!vector)
      return emitTiles(builder, loop, info.size);
    int64_t whole = info.size / tile.lanes * tile.lanes;
    active = tile.lanes;
    emitSteps(builder, loop, 0, whole, tile.lanes);
    active = info.size - whole;
    emitSteps(builder, loop, whole, info.size, tile.lanes);
  }

private:
  /// Emits full tiles, then one tile for the remaining steps.
  void emitTiles(OpBuilder &builder, size_t loop, int64_t size) {
    int64_t factor = tile.factors[loop], rest = size % factor;
    emitSteps(builder, loop, 0, size - rest, factor);
    tile.factors[loop] = rest;
    emitSteps(builder, loop, size - rest, size, rest);
    tile.factors[loop] = factor;
  }

  /// Emits a loop whose bounds are known only at a call: full tiles, then the remaining steps one by one or masked.
  void emitRange(OpBuilder &builder, size_t loop, Value lower, Value upper, int64_t multiple) {
    bool vector = static_cast<int>(loop) == tile.vectorLoop;
    int64_t factor = vector ? tile.lanes : tile.factors[loop];
    Value step = arith::ConstantIndexOp::create(builder, loc, factor);
    if (vector)
      active = tile.lanes;
    if (multiple % factor == 0)
      return emitLoop(builder, loop, lower, upper, step);
    Value count = arith::SubIOp::create(builder, loc, upper, lower);
    Value rest = arith::RemUIOp::create(builder, loc, count, step);
    Value whole = arith::SubIOp::create(builder, loc, upper, rest);
    emitLoop(builder, loop, lower, whole, step);
    if (!vector) {
      tile.factors[loop] = 1;
      emitLoop(builder, loop, whole, upper, arith::ConstantIndexOp::create(builder, loc, 1));
      tile.factors[loop] = factor;
      return;
    }
    activeLanes = rest;
    emitLoop(builder, loop, whole, upper, step);
    activeLanes = nullptr;
  }

  /// Emits the steps in [from, to). Emits a loop if there is more than one.
  void emitSteps(OpBuilder &builder, size_t loop, int64_t from, int64_t to, int64_t step) {
    if (from >= to)
      return;
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    Value lower = constant(from);
    if (to - from > step)
      return emitLoop(builder, loop, lower, constant(to), constant(step));
    base[loop] = lower;
    emit(builder, loop + 1);
  }

  void emitLoop(OpBuilder &builder, size_t loop, Value from, Value to, Value step) {
    auto forOp = scf::ForOp::create(builder, loc, from, to, step);
    base[loop] = forOp.getInductionVar();
    OpBuilder inner = OpBuilder::atBlockBegin(forOp.getBody());
    emit(inner, loop + 1);
  }

  TileEmitter &emitter;
  TileShape tile;
  std::optional<LoopPart> part;
  Location loc;
  SmallVector<Value> base;
  int64_t active = 1;
  Value activeLanes; ///< Number of active lanes if it is known only at a call.
};

struct LinalgToLoopsPass : inlay::impl::LinalgToLoopsPassBase<LinalgToLoopsPass> {
  using LinalgToLoopsPassBase::LinalgToLoopsPassBase;

  /// Returns the part of the loop by which `op` is split that this function runs, or nullopt if it is no kernel or `op`
  /// is not split.
  std::optional<LoopPart> findPart(OpBuilder &builder, linalg::LinalgOp op, const TileEmitter &emitter) {
    auto unit = getOperation()->getAttrOfType<IntegerAttr>(plan::kUnitAttr);
    auto split = op->getAttrOfType<IntegerAttr>(plan::kSplitAttr);
    if (!unit || !split)
      return std::nullopt;
    unsigned loop = split.getInt();
    Value together = arith::ConstantIndexOp::create(builder, op.getLoc(), unit.getInt()), ends[2];
    for (unsigned i = 0; i < 2; ++i)
      ends[i] = arith::MulIOp::create(builder, op.getLoc(), getOperation().getArgument(i), together);
    AffineExpr size = emitter.size(loop);
    auto known = dyn_cast<AffineConstantExpr>(size);
    if (!known || known.getValue() % unit.getInt()) {
      Value last = getValueOrCreateConstantIndexOp(builder, op.getLoc(), materializeExpr(builder, op.getLoc(), size));
      ends[1] = arith::MinUIOp::create(builder, op.getLoc(), ends[1], last);
    }
    int64_t multiple = known ? std::gcd(unit.getInt(), known.getValue()) : 1;
    return LoopPart{loop, ends[0], ends[1], multiple};
  }

  LogicalResult convertOp(linalg::LinalgOp op, Value initial) {
    OpBuilder builder(op);
    FailureOr<TileEmitter> emitter = TileEmitter::create(builder, op);
    if (failed(emitter))
      return failure();
    if (auto constant = op->getAttrOfType<TypedAttr>(plan::kInitialAttr))
      initial = arith::ConstantOp::create(builder, op.getLoc(), constant);
    emitter->setInitial(initial);
    emitter->setMaxTerms(chooseMaxTerms(emitter->shape()));
    TileLimits limits;
    limits.lanes = lanes;
    limits.maxPoints = 8;
    TileShape tile = chooseTile(emitter->shape(), limits);
    NestBuilder(*emitter, tile, findPart(builder, op, *emitter), op.getLoc()).emit(builder, 0);
    op.erase();
    return success();
  }

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    if (lanes < 1) {
      getOperation().emitError("expected at least one lane, but got ") << lanes.getValue();
      return signalPassFailure();
    }
    replaceCopies(getOperation());
    FailureOr<InitialValues> initial = prepareLinalgOps(getOperation());
    if (failed(initial))
      return signalPassFailure();
    for (auto op : llvm::to_vector(getOperation().getOps<linalg::LinalgOp>()))
      if (failed(convertOp(op, initial->lookup(op))))
        return signalPassFailure();
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops on buffers to vectorized loop nests for the host.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace inlay {
#define GEN_PASS_DEF_LINALGTOLOOPSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
/// Emits the parallel loops around a tile, outermost first.
class NestBuilder {
public:
  NestBuilder(TileEmitter &emitter, TileShape tile, Location loc)
      : emitter(emitter), tile(std::move(tile)), loc(loc), base(emitter.shape().loops.size()) {}

  /// Emits loop `loop` and all inside it.
  void emit(OpBuilder &builder, size_t loop) {
    if (loop == base.size()) {
      emitter.emit(builder, tile, base, active, /*ragged=*/{}, activeLanes);
      return;
    }
    const LoopNestShape::Loop &info = emitter.shape().loops[loop];
    if (info.reduction)
      return emit(builder, loop + 1);
    bool vector = static_cast<int>(loop) == tile.vectorLoop;
    if (info.isOpen)
      return emitOpen(builder, loop, vector);
    if (!vector)
      return emitTiles(builder, loop, info.size);
    int64_t whole = info.size / tile.lanes * tile.lanes;
    active = tile.lanes;
    emitSteps(builder, loop, 0, whole, tile.lanes);
    active = info.size - whole;
    emitSteps(builder, loop, whole, info.size, tile.lanes);
  }

private:
  /// Whole tiles, then one of what is left.
  void emitTiles(OpBuilder &builder, size_t loop, int64_t size) {
    int64_t factor = tile.factors[loop], rest = size % factor;
    emitSteps(builder, loop, 0, size - rest, factor);
    tile.factors[loop] = rest;
    emitSteps(builder, loop, size - rest, size, rest);
    tile.factors[loop] = factor;
  }

  /// A loop whose size is known at a call alone: whole tiles, then what is left, one by one or masked.
  void emitOpen(OpBuilder &builder, size_t loop, bool vector) {
    int64_t factor = vector ? tile.lanes : tile.factors[loop];
    Value size = cast<Value>(materializeExpr(builder, loc, emitter.size(loop)));
    Value step = arith::ConstantIndexOp::create(builder, loc, factor);
    Value rest = arith::RemUIOp::create(builder, loc, size, step);
    Value whole = arith::SubIOp::create(builder, loc, size, rest);
    active = tile.lanes;
    emitLoop(builder, loop, arith::ConstantIndexOp::create(builder, loc, 0), whole, step);
    if (factor == 1)
      return;
    if (!vector) {
      tile.factors[loop] = 1;
      emitLoop(builder, loop, whole, size, arith::ConstantIndexOp::create(builder, loc, 1));
      tile.factors[loop] = factor;
      return;
    }
    activeLanes = rest;
    emitLoop(builder, loop, whole, size, step);
    activeLanes = nullptr;
  }

  /// Runs from `from` to `to` in steps, as a loop if there is more than one.
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
  Location loc;
  SmallVector<Value> base;
  int64_t active = 1;
  Value activeLanes; ///< set where they are known at a call alone
};

struct LinalgToLoopsPass : inlay::impl::LinalgToLoopsPassBase<LinalgToLoopsPass> {
  using LinalgToLoopsPassBase::LinalgToLoopsPassBase;

  LogicalResult convertOp(linalg::LinalgOp op, Value initial) {
    OpBuilder builder(op);
    FailureOr<TileEmitter> emitter = TileEmitter::create(builder, op);
    if (failed(emitter))
      return failure();
    emitter->setInitial(initial);
    TileLimits limits;
    limits.lanes = lanes;
    limits.maxPoints = 8;
    TileShape tile = chooseTile(emitter->shape(), limits);
    NestBuilder(*emitter, tile, op.getLoc()).emit(builder, 0);
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
    InitialValues initial = prepareLinalgOps(getOperation());
    for (auto op : llvm::to_vector(getOperation().getOps<linalg::LinalgOp>()))
      if (failed(convertOp(op, initial.lookup(op))))
        return signalPassFailure();
  }
};
} // namespace

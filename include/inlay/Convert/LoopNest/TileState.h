// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the parts of one tile: the loads, the body at each point, and the stores.

#ifndef INLAY_CONVERT_LOOPNEST_TILESTATE_H
#define INLAY_CONVERT_LOOPNEST_TILESTATE_H

#include "inlay/Convert/LoopNest/ReductionLoops.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace inlay {

/// The state that is fixed while one tile is emitted.
struct TileEmitter::State {
  TileEmitter &emitter;
  const TileShape &tile;
  llvm::ArrayRef<mlir::Value> base;
  mlir::Location loc;
  llvm::SmallVector<llvm::SmallVector<int64_t>> points; ///< Offsets of each point from `base`, per loop.
  mlir::Value mask;                                     ///< Active lanes; null for full vectors or scalars.
  llvm::ArrayRef<size_t> ragged;                        ///< Loops along which the tile may reach over the end.

  /// A step along a ragged loop. `index` is clamped to the last index of the loop. `inside` is false if it was clamped;
  /// it is null for the first step, which is never clamped. `offsets` holds the amount that the step adds to each
  /// access.
  struct RaggedStep {
    mlir::Value index, inside;
    llvm::SmallVector<mlir::Value> offsets;
  };
  llvm::SmallDenseMap<size_t, llvm::SmallVector<RaggedStep>, 2> raggedSteps;

  bool isVector() const { return tile.vectorLoop >= 0; }
  /// Returns the distance between lanes in memory. A stride that is known only at a call is never 0 or 1.
  mlir::AffineExpr laneStride(const Access &access) const { return access.strides[tile.vectorLoop]; }
  static bool is(mlir::AffineExpr expr, int64_t value) {
    auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr);
    return constant && constant.getValue() == value;
  }
  /// Returns the loop along which four points of the tile are one aligned vector of the access, or -1 if there is none.
  int quadLoop(const Access &access) const;
  mlir::Type widen(mlir::Type type) const { return mlir::VectorType::get({tile.lanes}, type); }

  mlir::Value constant(mlir::OpBuilder &b, int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::OpBuilder &b, mlir::Value sum, mlir::Value term) {
    return sum ? mlir::arith::AddIOp::create(b, loc, sum, term) : term;
  }
  mlir::Value value(mlir::OpBuilder &b, mlir::AffineExpr expr) {
    auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expr);
    return number ? constant(b, number.getValue()) : emitter.kernel.sizes.lookup(expr);
  }
  mlir::Value scale(mlir::OpBuilder &b, mlir::Value index, mlir::AffineExpr stride) {
    return is(stride, 1) ? index : mlir::arith::MulIOp::create(b, loc, index, value(b, stride));
  }

  void prepareRagged(mlir::OpBuilder &b);
  /// Returns the flat index of each access at the tile's first point, without the terms of reduction and ragged loops.
  llvm::SmallVector<mlir::Value> startIndices(mlir::OpBuilder &b);
  mlir::Value indexAt(mlir::OpBuilder &b, const Access &access, mlir::Value start, llvm::ArrayRef<int64_t> point);
  mlir::Value load(mlir::OpBuilder &b, const Access &access, mlir::Value start, llvm::ArrayRef<int64_t> point);
  mlir::Value loadQuad(mlir::OpBuilder &b, const Access &access, mlir::Value start, llvm::ArrayRef<int64_t> point,
                       int loop);
  /// Stores `value` unless the point lies beyond the end of a ragged loop.
  void store(mlir::OpBuilder &b, const Access &access, mlir::Value start, llvm::ArrayRef<int64_t> point,
             mlir::Value value);
  llvm::SmallVector<mlir::Value> body(mlir::OpBuilder &b, mlir::ValueRange inputs, mlir::ValueRange outputs,
                                      llvm::ArrayRef<mlir::Value> loopIndices, llvm::ArrayRef<int64_t> point);
  /// Emits `inner` as a fused multiply-add if it adds a product of the body to the accumulator, and sums of products
  /// are fused. Returns null otherwise.
  mlir::Value emitFused(mlir::OpBuilder &b, mlir::Operation &inner, mlir::IRMapping &mapping);
  mlir::Value asVector(mlir::OpBuilder &b, mlir::Value value);
  mlir::Value loadGathered(mlir::OpBuilder &b, mlir::memref::LoadOp gather, mlir::IRMapping &mapping,
                           llvm::ArrayRef<mlir::Value> loopIndices, llvm::ArrayRef<int64_t> point);
  mlir::Operation *widenClone(mlir::OpBuilder &b, mlir::Operation &inner, mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> computePoints(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> starts,
                                               llvm::ArrayRef<mlir::Value> loopIndices, mlir::ValueRange accumulators);
  /// Loads the initial values of the outputs, point-major. A value that nothing reads is null.
  llvm::SmallVector<mlir::Value> loadOutputs(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> starts);
  void storeOutputs(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> starts, mlir::ValueRange results);
  /// Emits one loop per reduction, outermost first. The loop that `share` names runs only the steps of the share. The
  /// accumulators start as `values`. Returns the accumulators after the loops.
  llvm::SmallVector<mlir::Value> reduce(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> starts,
                                        llvm::SmallVector<mlir::Value> values, const ReductionShare &share = {});
  /// Emits the loop of `share`, the last reduction, if an iteration runs several steps.
  void reduceUnrolled(ReductionLoops &loops, llvm::MutableArrayRef<mlir::Value> indices,
                      llvm::ArrayRef<mlir::Value> current, const ReductionShare &share, const SumCut &cut);
  /// Adds the offset of one loop's index to `current`, which has one flat index per input.
  void advance(mlir::OpBuilder &b, size_t loop, mlir::Value index, llvm::MutableArrayRef<mlir::Value> current);
};

/// Returns all offsets within a tile. The last loop is the fastest.
llvm::SmallVector<llvm::SmallVector<int64_t>> enumeratePoints(llvm::ArrayRef<int64_t> factors);

/// Returns the place of `point` in the result of `enumeratePoints`.
size_t findPoint(llvm::ArrayRef<int64_t> factors, llvm::ArrayRef<int64_t> point);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_TILESTATE_H

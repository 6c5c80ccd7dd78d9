// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one register tile of a structured op on buffers: the code of one GPU invocation or of one iteration of a host
// loop nest. The targets share it. They differ in the position of the tile and in the width of vectors.

#ifndef INLAY_CONVERT_LOOPNEST_TILEEMITTER_H
#define INLAY_CONVERT_LOOPNEST_TILEEMITTER_H

#include "inlay/Convert/LoopNest/Combiner.h"
#include "inlay/Convert/LoopNest/TilePolicy.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace inlay {

/// The scalars from which reductions start, by op.
using InitialValues = llvm::DenseMap<mlir::Operation *, mlir::Value>;

/// Erases structured ops in `func` that compute nothing. Erases each fill that only initializes a reduction right after
/// it, and returns the scalars of these fills. Fails with a diagnostic if an op is not on buffers, or if a buffer has
/// 2^63 elements or more.
mlir::FailureOr<InitialValues> prepareLinalgOps(mlir::func::FuncOp func);

/// A buffer as a flat, contiguous, one-dimensional memref, with the strides and the offset of a view in it. Strides and
/// offset are numbers of elements, as expressions of the function's symbols.
struct LinearBuffer {
  mlir::Value memref;
  llvm::SmallVector<mlir::AffineExpr> strides;
  mlir::AffineExpr offset;
};

/// Returns the size of `loop` if a dim of some operand of `op` is indexed by exactly that loop, else null. The operands
/// are buffers.
mlir::AffineExpr readLoopSize(mlir::linalg::LinalgOp op, unsigned loop);

/// The flat form of each root buffer of a kernel. A kernel must not access one buffer through two flat forms.
using LinearBufferRoots = llvm::SmallDenseMap<mlir::Value, mlir::Value, 4>;

/// Flattens `memref`, which may be a chain of views of a contiguous buffer. Emits the collapsed root at the builder's
/// position unless `roots` has it. Fails if the layout is not an expression of the function's symbols.
mlir::FailureOr<LinearBuffer> flattenBuffer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
                                            LinearBufferRoots &roots);

/// Values from outside a kernel that its tiles share.
struct KernelValues {
  LinearBufferRoots roots;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes; ///< Values of expressions that are known only at a call.
};

/// Memory that holds a part of `buffer` during one kernel. `buffer` is an operand, not a view.
struct LocalBuffer {
  mlir::Value buffer;
  mlir::Value memref;                          ///< Flat memory that holds the part.
  llvm::SmallVector<mlir::AffineExpr> strides; ///< Constant stride for each dim of `buffer`.
  /// Index in `memref` of the element of `buffer` whose indices are all 0. The element may lie outside the part.
  mlir::Value start;
};

/// The share of one invocation in the steps of a reduction loop: every `count`-th step, starting with step `number`.
struct ReductionShare {
  size_t loop = 0;
  mlir::Value number = nullptr;
  int64_t count = 1;
  /// Steps of the share that one iteration runs, so that their loads overlap. If it is more than 1, the loop is the
  /// last reduction, and its size is known and at least `count * unrolled`.
  int64_t unrolled = 1;
};

/// Emits the tiles of one structured op.
class TileEmitter {
public:
  /// The position of an operand's element: the sum of strides times loop indices, plus the offset.
  struct Access {
    mlir::Value flat; ///< Flat form of the buffer; null for a scalar operand.
    llvm::SmallVector<mlir::AffineExpr> strides;
    mlir::AffineExpr offset;
    mlir::Value scalar; ///< Scalar operand; null if `flat` is set.
    mlir::Value start;  ///< Additional offset into a local buffer; null for 0.
    /// The element at each point of a tile, in registers. Empty unless `flat` and `scalar` are null.
    llvm::SmallVector<mlir::Value, 0> elements;
  };
  /// The state that is kept while one tile is emitted. TileState.h defines it.
  struct State;
  /// Emits tiles whose vector loop is a reduction.
  struct LaneReducer;

  /// Reads `op`, a LinalgOp on buffers. Emits flat buffers, and the sizes and strides that are known only at a call, at
  /// the builder's position, which must be before any tile code. Fails with a diagnostic at `op` if a shape or layout
  /// is not an expression of the function's symbols. Values in `shared` are reused and new values are added to it.
  static mlir::FailureOr<TileEmitter> create(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                                             KernelValues *shared = nullptr);

  /// Returns the loops and strides that policies read. Sizes that are known only at a call have their typical value.
  const LoopNestShape &shape() const { return nest; }
  /// Returns the size of loop `loop`.
  mlir::AffineExpr size(size_t loop) const { return sizes[loop]; }
  llvm::ArrayRef<SymbolAttr> getSymbols() const { return symbols; }
  mlir::linalg::LinalgOp getOp() const { return op; }
  /// Returns the accesses of all operands, inputs first.
  llvm::ArrayRef<Access> getAccesses() const { return accesses; }
  /// Returns true if the body loads from buffers at computed indices.
  bool hasGathers() const { return !gathers.empty(); }
  /// Returns the scalar that reductions start from, or null if they start from the elements of the output.
  mlir::Value getInitial() const { return initial; }
  /// Returns the loop along which an operand with elements of type `element` has aligned vectors of four, or -1. With
  /// `maybeOpen`, also considers buffers whose size is known only at a call.
  int findVectors(const Access &access, mlir::Type element, bool maybeOpen = false) const;
  /// Returns true if all reads of four points along `loop` are of one element, or of an aligned vector of four elements
  /// that no other read shares.
  bool readsVectors(size_t loop) const;
  /// Returns true if the body uses the index of `loop` only as the last index of loads, and if all loads have it.
  bool gathersAlong(size_t loop) const;
  /// Returns how `cutSums` cuts each loop. The iterations of `loop` take `step` steps at once. The steps that do not
  /// fill an iteration are not part of the loop, or are an iteration too if `roundsUp` is set. An accumulator gets
  /// `terms` terms in each iteration.
  llvm::SmallVector<SumCut> cutReductions(size_t loop = 0, int64_t step = 1, bool roundsUp = false,
                                          int64_t terms = 1) const;

  /// Makes reductions start from `scalar` instead of the elements of the only output. Null restores the default.
  void setInitial(mlir::Value scalar) { initial = scalar; }

  /// Splits sums of floats with more than about `terms` terms into partial sums.
  void setMaxTerms(int64_t terms) { maxTerms = terms; }

  /// Makes sums of products consist of fused multiply-adds. Other additions and multiplications are not fused.
  void setFusesProducts(bool fuses) { fusesProducts = fuses; }

  /// Makes tiles without a vector loop load and store aligned vectors of four elements where possible. In that case no
  /// other code in the kernel may access the same buffers.
  void setQuads(bool use) { usesQuads = use; }

  /// Makes loads of the body load vectors of four f16 elements where `setQuads` makes them load vectors of f32.
  void setGathersHalves(bool gathers) { gathersHalves = gathers; }

  /// Makes all accesses to a buffer use the memory of `local` from now on.
  void setLocal(const LocalBuffer &local);

  /// Makes all reads of `buffer`, an input, yield `elements` from now on: one for each point of the next tiles, which
  /// have no vector loop.
  void setElements(mlir::Value buffer, llvm::ArrayRef<mlir::Value> elements);

  /// Returns true if the reductions of `op` can be computed in shares that are joined afterwards.
  static bool canShare(mlir::linalg::LinalgOp op) { return findCombiner(op) != nullptr; }
  /// Emits a share of the reductions of the element at `base` and returns the partial result. The first share includes
  /// the initial value of the reduction.
  mlir::Value emitShare(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> base, const ReductionShare &share);
  /// Combines the partial results of two shares.
  mlir::Value join(mlir::OpBuilder &builder, mlir::Value lhs, mlir::Value rhs) const;
  /// Returns the type of partial results.
  mlir::Type shareType() const { return findCombiner(op)->getResult(0).getType(); }
  /// Stores `value` as the element at `base`.
  void store(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> base, mlir::Value value);

  /// Emits the tile whose first element is at `base`, which has one index per parallel loop and null for reductions.
  /// Computes the first `active` lanes; `active == tile.lanes` means full vectors. If `activeLanes`, an index, is not
  /// null, it replaces `active`. A tile may reach over the end of the loops in `ragged`: its points there are computed
  /// from the last element and are not stored. If the vector loop is a reduction, each lane reduces its share and the
  /// lanes are joined at the end. `active`, `ragged` and `activeLanes` are then ignored.
  void emit(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base, int64_t active,
            llvm::ArrayRef<size_t> ragged = {}, mlir::Value activeLanes = nullptr);

  /// Like `emit` for a tile without a vector loop of an op with one output, but returns the elements by point instead
  /// of storing them. If `initial` is not empty, reductions start from these elements.
  llvm::SmallVector<mlir::Value> compute(mlir::OpBuilder &builder, const TileShape &tile,
                                         llvm::ArrayRef<mlir::Value> base, llvm::ArrayRef<size_t> ragged = {},
                                         llvm::ArrayRef<mlir::Value> initial = {});
  /// Stores what `compute` returned.
  void storeTile(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base,
                 llvm::ArrayRef<size_t> ragged, mlir::ValueRange elements);

private:
  void emitLaneReduction(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base);

  explicit TileEmitter(mlir::linalg::LinalgOp op) : op(op) {}
  mlir::LogicalResult readLoops(mlir::OpBuilder &builder);
  mlir::LogicalResult addAccess(mlir::OpBuilder &builder, mlir::OpOperand &operand);
  /// Emits `expr` once at the builder's position unless it is constant.
  void prepare(mlir::OpBuilder &builder, mlir::AffineExpr expr);
  /// Returns the loop along which a load of the body has aligned vectors of four elements, or -1.
  int findGatheredVectors(mlir::memref::LoadOp gather) const;

  mlir::linalg::LinalgOp op;
  LoopNestShape nest;
  llvm::SmallVector<SymbolAttr> symbols;
  llvm::SmallVector<mlir::AffineExpr> sizes; ///< Size of each loop.
  llvm::SmallVector<Access> accesses;        ///< Accesses of the inputs, then of the outputs.
  KernelValues kernel;
  llvm::DenseMap<mlir::Operation *, LinearBuffer> gathers; ///< Buffers from which the body loads.
  mlir::Value initial;
  int64_t maxTerms = 0; ///< Number of terms above which sums are cut; 0 for no limit.
  bool usesQuads = false, gathersHalves = false;
  bool fusesProducts = false;
};

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_TILEEMITTER_H

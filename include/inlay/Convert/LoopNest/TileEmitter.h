// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one register tile of a structured op on buffers: the code that one GPU invocation, or one iteration of a host
// loop nest, runs. Both targets share it; they differ in what supplies the tile's position and in vector width.

#ifndef INLAY_CONVERT_LOOPNEST_TILEEMITTER_H
#define INLAY_CONVERT_LOOPNEST_TILEEMITTER_H

#include "inlay/Convert/LoopNest/Combiner.h"
#include "inlay/Convert/LoopNest/CooperativeMatrixPolicy.h"
#include "inlay/Convert/LoopNest/SubgroupProductPolicy.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace inlay {

/// Reductions by the scalar that they start from.
using InitialValues = llvm::DenseMap<mlir::Operation *, mlir::Value>;

/// Erases structured ops in `func` that compute nothing, and each fill that only gives a reduction just after it its
/// start; returns the scalars of those.
InitialValues prepareLinalgOps(mlir::func::FuncOp func);

/// A buffer as one flat, contiguous, one-dimensional memref, and where a view's elements lie in it: expressions of the
/// function's symbols.
struct LinearBuffer {
  mlir::Value memref;
  llvm::SmallVector<mlir::AffineExpr> strides;
  mlir::AffineExpr offset;
};

/// The size of `loop`, which some operand of `op`, on buffers, goes along as it is; null if none says it.
mlir::AffineExpr readLoopSize(mlir::linalg::LinalgOp op, unsigned loop);

/// Flat forms of the buffers of one op by root: a kernel must not see one buffer as two.
using LinearBufferRoots = llvm::SmallDenseMap<mlir::Value, mlir::Value, 4>;

/// Flattens `memref` (any chain of views of a contiguous buffer), emitting the collapsed root at the builder's position
/// unless `roots` has it; failure if a layout doesn't follow from the function's symbols.
mlir::FailureOr<LinearBuffer> flattenBuffer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
                                            LinearBufferRoots &roots);

/// What the tiles of one kernel share: values from before it.
struct KernelValues {
  LinearBufferRoots roots;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes; ///< expressions that are known at a call alone
};

/// What holds a part of `buffer`, an operand without views, for the time of one kernel.
struct LocalBuffer {
  mlir::Value buffer;
  mlir::Value memref;                          ///< flat
  llvm::SmallVector<mlir::AffineExpr> strides; ///< constant; per dim of `buffer`
  mlir::Value start;                           ///< where the element at index 0 of all dims would be, an index
};

/// The steps of a reduction loop that one of several invocations takes: each `count`-th from `number` on.
struct ReductionShare {
  size_t loop = 0;
  mlir::Value number = nullptr;
  int64_t count = 1;
};

/// Which part of a product an invocation computes.
struct SubgroupProductPlace {
  llvm::SmallVector<mlir::Value> base; ///< the tile's first index along each parallel loop, null for reductions
  mlir::Value lane;                    ///< the invocation's number in its subgroup
  int64_t lanes;                       ///< of the subgroup
  mlir::Value isActive;                ///< false if another invocation has this tile, too, and stores it; null for true
};

/// Which block of a product a workgroup computes.
struct CooperativeMatrixPlace {
  llvm::SmallVector<mlir::Value> outer; ///< the index along each outer loop, null for others
  mlir::Value row, column;              ///< its first, counted along all row or column loops
  mlir::Value invocation;               ///< the number in the workgroup
  int64_t lanes;                        ///< of a subgroup
};

class TileEmitter;

/// An elementwise op that is computed of a product's elements at once, instead of storing them.
struct CooperativeMatrixEpilogue {
  TileEmitter *emitter;
  mlir::Value buffer;              ///< where it would read them
  llvm::SmallVector<size_t> loops; ///< that of the product, per loop of the op
};

class TileEmitter {
public:
  /// Reads `op`, a LinalgOp on buffers; flat buffers, and sizes and strides that are known at a call alone, are emitted
  /// at the builder's position, before any tile code. Failure (with a diagnostic at `op`) if a shape or layout doesn't
  /// follow from the function's symbols. With `shared`, what others of the kernel emitted is used again.
  static mlir::FailureOr<TileEmitter> create(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                                             KernelValues *shared = nullptr);

  /// What the policy goes by: of what is known at a call alone, what it is typically.
  const LoopNestShape &shape() const { return nest; }
  /// The size of loop `loop`.
  mlir::AffineExpr size(size_t loop) const { return sizes[loop]; }
  llvm::ArrayRef<SymbolAttr> getSymbols() const { return symbols; }

  /// Starts reductions from `scalar`, if not null, instead of what the (only) output holds.
  void setInitial(mlir::Value scalar) { initial = scalar; }

  /// Has sums of floats of more terms than about `terms` added up in parts.
  void setMaxTerms(int64_t terms) { maxTerms = terms; }

  /// Has tiles without a vector loop load and store aligned vectors of four where they can. All code that accesses the
  /// same buffers in a kernel must be this one tile's.
  void setQuads(bool use) { usesQuads = use; }

  /// Reads and writes a part of a buffer in `local` from here on.
  void setLocal(const LocalBuffer &local);

  /// True if shares of the op's reductions can be joined afterwards.
  static bool canShare(mlir::linalg::LinalgOp op) { return findCombiner(op) != nullptr; }
  /// Emits a share of the reductions of the one element at `base`: what it comes to. The first share starts as the
  /// reduction does.
  mlir::Value emitShare(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> base, const ReductionShare &share);
  /// What two shares come to.
  mlir::Value join(mlir::OpBuilder &builder, mlir::Value lhs, mlir::Value rhs) const;
  /// The type of shares.
  mlir::Type shareType() const { return findCombiner(op)->getResult(0).getType(); }
  /// Stores `value` as the element at `base`.
  void store(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> base, mlir::Value value);

  /// Emits the tile whose first element is at `base` (one index per parallel loop, null for reductions). `active` of
  /// the lanes are computed; `active == tile.lanes` for full vectors; if `activeLanes` isn't null, it says how many
  /// instead, as an index. Along loops that are `ragged`, a tile may reach
  /// over the end: what is there is computed from the last element and not stored. Where the vector loop is a
  /// reduction, each lane reduces its share, and the lanes are joined in the end; then `active`, `ragged` and
  /// `activeLanes` are of no use.
  void emit(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base, int64_t active,
            llvm::ArrayRef<size_t> ragged = {}, mlir::Value activeLanes = nullptr);

  /// True if the op's body computes from its operands' elements alone, all of 32 bits, as `emitSubgroupProduct` needs.
  bool isPlainProduct() const;
  /// Emits the tile at `place`, of which all invocations of a subgroup take part at once: what they have in common each
  /// loads a part of, and hands it to the others. Tiles may reach over the end of their row and column loops: what is
  /// there is computed from other elements and not stored.
  void emitSubgroupProduct(mlir::OpBuilder &builder, const SubgroupProductTile &tile,
                           const SubgroupProductPlace &place);

  /// True if the op adds up, in f32, products of two inputs' f16, as matrices can.
  bool isCooperativeMatrixProduct() const;
  /// Emits the block at `place`, which all invocations of a workgroup compute together. Blocks may reach over the ends
  /// of all loops.
  void emitCooperativeMatrixProduct(mlir::OpBuilder &builder, const CooperativeMatrixTile &tile,
                                    const CooperativeMatrixPlace &place, const CooperativeMatrixEpilogue *epilogue);

private:
  /// Where an operand's element lies: sum of strides times loop indices, plus offset.
  struct Access {
    mlir::Value flat;
    llvm::SmallVector<mlir::AffineExpr> strides;
    mlir::AffineExpr offset;
    mlir::Value scalar; ///< set instead of `flat` for a scalar operand
    mlir::Value start;  ///< more of the offset, of a local buffer; null for 0
  };
  struct State;
  struct Product;
  struct Matrices;

  /// As `cutSums`, for the reductions among the loops, whose last one takes `lastStep` at once.
  llvm::SmallVector<int64_t> cutReductions(int64_t lastStep) const;
  void emitLaneReduction(mlir::OpBuilder &builder, const TileShape &tile, llvm::ArrayRef<mlir::Value> base);

  explicit TileEmitter(mlir::linalg::LinalgOp op) : op(op) {}
  mlir::LogicalResult readLoops(mlir::OpBuilder &builder);
  mlir::LogicalResult addAccess(mlir::OpBuilder &builder, mlir::OpOperand &operand);
  /// The loop along which an operand of `element` has aligned vectors of four, or -1; `maybeOpen` if those of a buffer
  /// whose size is known at a call alone count.
  int findVectors(const Access &access, mlir::Type element, bool maybeOpen = false) const;
  /// Emits `expr` at the builder's position, once, unless it is constant.
  void prepare(mlir::OpBuilder &builder, mlir::AffineExpr expr);

  mlir::linalg::LinalgOp op;
  LoopNestShape nest;
  llvm::SmallVector<SymbolAttr> symbols;
  llvm::SmallVector<mlir::AffineExpr> sizes; ///< per loop
  llvm::SmallVector<Access> accesses;        ///< inputs, then outputs
  KernelValues kernel;
  llvm::DenseMap<mlir::Operation *, LinearBuffer> gathers; ///< buffers that the body loads from
  mlir::Value initial;
  int64_t maxTerms = 0; ///< 0: no bound
  bool usesQuads = false;
};

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_TILEEMITTER_H

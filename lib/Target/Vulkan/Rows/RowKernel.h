// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the ops of a row group as one GPU launch. Each workgroup computes some of the rows. Its invocations divide
// among them the tiles of each op, or the steps of a reduction.

#ifndef INLAY_LIB_TARGET_VULKAN_ROWS_ROWKERNEL_H
#define INLAY_LIB_TARGET_VULKAN_ROWS_ROWKERNEL_H

#include "RowGroup.h"
#include "RowGroupPlan.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

struct WorkgroupLimits {
  int64_t block;      ///< Invocations of a workgroup, a power of two.
  int64_t maxGrid;    ///< Maximum number of workgroups along one axis.
  int64_t memory;     ///< Bytes of workgroup memory.
  int64_t maxBuffers; ///< Maximum number of buffers of a kernel.
  bool wholeRows;     ///< True if an invocation should compute whole rows without barriers if there are enough rows.
  bool singleRows;    ///< True if a workgroup should compute one row. It may then have fewer invocations than `block`.
};

class RowKernel {
public:
  /// Plans the kernel. Emits the values that it needs from outside before the last op of the group. Fails with a
  /// diagnostic if an op cannot be converted at all. `isPossible` tells if the group can become a kernel.
  static mlir::FailureOr<RowKernel> create(const RowGroup &group, const InitialValues &initial,
                                           const WorkgroupLimits &limits);

  bool isPossible() const { return possible; }
  /// Emits the launch before the last op of the group. The caller erases the ops.
  void emit();

private:
  /// One op of the kernel.
  struct Step {
    RowGroup::Member member;
    TileEmitter emitter;
    TileShape tile;
    /// If `count` is more than 1, the invocations share the reductions, and each computes at most one element.
    ReductionShare share;
    llvm::SmallVector<mlir::OpFoldResult> counts; ///< Tiles along the last row loop and the loops inside.
    mlir::OpFoldResult total;                     ///< Number of tiles of a workgroup.
    mlir::AffineExpr totalExpr;
  };
  /// A buffer in workgroup memory.
  struct Local {
    mlir::Value buffer;
    llvm::SmallVector<mlir::AffineExpr> strides; ///< Per dim; 0 along all row loops but the last.
    RowBuffer size;
    int rowDim; ///< Dim along the last row loop.
  };

  explicit RowKernel(const RowGroup &group, const WorkgroupLimits &limits, mlir::OpBuilder builder)
      : group(group), limits(limits), builder(builder) {}

  mlir::LogicalResult createSteps(const InitialValues &initial);
  void chooseBlock();
  void findLocals();
  std::optional<Local> makeLocal(mlir::Value buffer) const;
  int64_t countShareBytes() const;
  /// Assigns offsets to the local buffers. Drops buffers that do not fit. Returns false if the kernel is then
  /// impossible.
  bool placeLocals();
  bool hasWholeRows() const;
  void planStep(Step &step);
  bool isWithinLimits() const;
  int64_t maxRows() const;
  bool overruns() const;

  void emitSteps(mlir::OpBuilder &b, mlir::gpu::LaunchOp launch, mlir::Value number);
  void emitTiles(mlir::OpBuilder &b, Step &step);
  void emitTile(mlir::OpBuilder &b, Step &step, mlir::Value number);
  void emitShared(mlir::OpBuilder &b, Step &step);
  mlir::Value allocate(mlir::OpBuilder &b, mlir::Type element, int64_t elements);
  mlir::Value isRow(mlir::OpBuilder &b, mlir::Value row);

  RowGroup group;
  WorkgroupLimits limits;
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  bool possible = false;
  KernelValues values;
  std::vector<Step> steps;
  llvm::SmallVector<Local> locals;
  RowGroupPlan plan;
  bool wholeRows = false;
  mlir::Type localType;

  // State of the launch under construction.
  mlir::Value lane;
  llvm::SmallVector<mlir::Value> rowBase; ///< First index of the workgroup along each row loop.
  llvm::SmallDenseMap<mlir::Type, mlir::Value> scratch;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_ROWS_ROWKERNEL_H

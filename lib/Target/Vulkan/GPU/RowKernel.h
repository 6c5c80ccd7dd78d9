// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One GPU launch of the ops of a row group: a workgroup for each block of rows, whose invocations share each op's tiles
// or, of reductions, the steps.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ROWKERNEL_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ROWKERNEL_H

#include "RowGroup.h"
#include "RowGroupPlan.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

struct WorkgroupLimits {
  int64_t block;      ///< invocations of a workgroup, a power of two
  int64_t maxGrid;    ///< most workgroups along one axis
  int64_t memory;     ///< bytes of a workgroup's memory
  int64_t maxBuffers; ///< of one kernel
  bool wholeRows;     ///< an invocation computes rows of its own where there are enough, without barriers
};

class RowKernel {
public:
  /// Plans the kernel; emits what it takes from around it before its last op. `failure` (with a diagnostic) if an op
  /// can't be converted at all; `isPossible` says if the kernel can.
  static mlir::FailureOr<RowKernel> create(const RowGroup &group, const InitialValues &initial,
                                           const WorkgroupLimits &limits);

  bool isPossible() const { return possible; }
  /// Emits the launch before the group's last op. The ops are the caller's to erase.
  void emit();

private:
  /// How one op runs.
  struct Step {
    RowGroup::Member member;
    TileEmitter emitter;
    TileShape tile;
    ReductionShare share; ///< of its reductions, if `count` is more than 1; each invocation has at most one element
    llvm::SmallVector<mlir::OpFoldResult> counts; ///< of tiles: along the last row loop and parallel loops inside
    mlir::OpFoldResult total;                     ///< of tiles of a workgroup
    mlir::AffineExpr totalExpr;
  };
  /// A buffer that lives in the workgroup's memory.
  struct Local {
    mlir::Value buffer;
    llvm::SmallVector<mlir::AffineExpr> strides; ///< but that of the last row loop's dim is for one row
    RowBuffer size;
    int rowDim; ///< the dim along the last row loop
  };

  explicit RowKernel(const RowGroup &group, const WorkgroupLimits &limits, mlir::OpBuilder builder)
      : group(group), limits(limits), builder(builder) {}

  mlir::LogicalResult createSteps(const InitialValues &initial);
  void findLocals();
  std::optional<Local> makeLocal(mlir::Value buffer) const;
  int64_t countShareBytes() const;
  /// Gives buffers places, those that don't fit none.
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

  // Of the launch under construction.
  mlir::Value lane;
  llvm::SmallVector<mlir::Value> rowBase; ///< per row loop: the block's first index
  llvm::SmallDenseMap<mlir::Type, mlir::Value> scratch;
};

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ROWKERNEL_H

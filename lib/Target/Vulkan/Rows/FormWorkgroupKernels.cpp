// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts groups of structured ops that work row by row to GPU launches, one launch per group.

#include "RowGroup.h"
#include "RowKernel.h"
#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Target/Vulkan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace inlay {
#define GEN_PASS_DEF_FORMWORKGROUPKERNELSPASS
#include "inlay/Target/Vulkan/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Consecutive structured ops. Ops in between are pure or allocate memory.
using Run = SmallVector<linalg::LinalgOp>;

static SmallVector<Run> findRuns(func::FuncOp func) {
  SmallVector<Run> runs(1);
  for (Operation &op : func.getBody().front())
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      runs.back().push_back(structured);
    else if (!isPure(&op) && !isa<ViewLikeOpInterface, memref::AllocOp>(op))
      runs.emplace_back();
  return runs;
}

/// Returns the group around the reduction `run[anchor]` with ops from `run[begin]` on, or nullopt if no other op joins.
static std::optional<RowGroup> formGroup(const Run &run, size_t begin, size_t anchor, int64_t minRow,
                                         bool takesProducts) {
  std::optional<RowGroup> group = RowGroup::create(run[anchor], minRow);
  if (!group)
    return std::nullopt;
  for (size_t i = anchor; i-- > begin && group->join(run[i], /*atFront=*/true, takesProducts);)
    ;
  for (size_t i = anchor + 1; i < run.size() && group->join(run[i], /*atFront=*/false, takesProducts); ++i)
    ;
  return group->members().size() > 1 ? group : std::nullopt;
}

namespace {
struct FormWorkgroupKernelsPass : inlay::impl::FormWorkgroupKernelsPassBase<FormWorkgroupKernelsPass> {
  using FormWorkgroupKernelsPassBase::FormWorkgroupKernelsPassBase;

  /// Converts the group to a kernel. Returns false if that is impossible.
  FailureOr<bool> convert(const RowGroup &group) {
    FailureOr<RowKernel> kernel =
        RowKernel::create(group, initial, {block, maxGrid, memory, maxBuffers, wholeRows, singleRows});
    if (failed(kernel))
      return failure();
    if (!kernel->isPossible())
      return false;
    kernel->emit();
    for (const RowGroup::Member &member : group.members()) {
      initial.erase(member.op);
      linalg::LinalgOp(member.op)->erase();
    }
    return true;
  }

  LogicalResult convertRun(const Run &run) {
    size_t begin = 0;
    for (size_t anchor = 0; anchor < run.size(); ++anchor)
      for (bool takesProducts : {true, false}) {
        std::optional<RowGroup> group = formGroup(run, begin, anchor, minRow, takesProducts);
        if (!group)
          break;
        bool hasProducts = group->hasProducts();
        linalg::LinalgOp last = group->members().back().op;
        size_t end = llvm::find(run, last) - run.begin() + 1;
        FailureOr<bool> converted = convert(*group);
        if (failed(converted))
          return failure();
        if (*converted) {
          begin = end;
          anchor = end - 1;
        }
        if (*converted || !hasProducts)
          break;
      }
    return success();
  }

  void runOnOperation() override {
    if (block < 1 || !llvm::isPowerOf2_64(block) || maxGrid < 1) {
      getOperation().emitError(
          "expected option 'block' to be a power of two and option 'max-grid' to be positive, but got ")
          << block.getValue() << " and " << maxGrid.getValue();
      return signalPassFailure();
    }
    if (getOperation().isDeclaration())
      return;
    replaceCopies(getOperation());
    FailureOr<InitialValues> prepared = prepareLinalgOps(getOperation());
    if (failed(prepared))
      return signalPassFailure();
    initial = std::move(*prepared);
    for (const Run &run : findRuns(getOperation()))
      if (failed(convertRun(run)))
        return signalPassFailure();
    for (auto [op, value] : initial) { // Initial values of the remaining ops.
      OpBuilder builder(op);
      linalg::FillOp::create(builder, op->getLoc(), value, cast<linalg::LinalgOp>(op).getDpsInits().front());
    }
    // Erase the allocations of buffers that are now in workgroup memory.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  InitialValues initial;
};
} // namespace

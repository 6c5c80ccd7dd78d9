// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch memory becomes buffers that the caller passes.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace inlay {
#define GEN_PASS_DEF_HOISTALLOCATIONSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// The allocation that `memref` is a view of all of, or null.
static memref::AllocOp findWholeAllocation(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(view))
      return nullptr;
    memref = view.getViewSource();
  }
  return memref.getDefiningOp<memref::AllocOp>();
}

/// Lets what is allocated only to be copied to a result be computed there. (Upstream's empty tensor elimination does
/// so too early: two results whose computations start from one fill would share a buffer.)
static void computeInPlace(func::FuncOp func) {
  for (auto copy : llvm::make_early_inc_range(func.getOps<memref::CopyOp>())) {
    auto result = dyn_cast<BlockArgument>(copy.getTarget());
    memref::AllocOp alloc = findWholeAllocation(copy.getSource());
    if (!result || !result.hasOneUse() || !alloc || alloc->getBlock() != copy->getBlock() ||
        !alloc.getType().hasStaticShape() || !alloc.getType().getLayout().isIdentity() ||
        !cast<MemRefType>(result.getType()).getLayout().isIdentity())
      continue;
    copy.erase();
    Value buffer = result;
    if (buffer.getType() != alloc.getType()) {
      OpBuilder builder(alloc);
      MemRefType type = alloc.getType();
      SmallVector<int64_t> strides = type.getStridesAndOffset().first;
      buffer = memref::ReinterpretCastOp::create(builder, alloc.getLoc(), type, result, /*offset=*/0, type.getShape(),
                                                 strides);
    }
    alloc.replaceAllUsesWith(buffer);
    alloc.erase();
  }
}

static LogicalResult hoistAllocations(func::FuncOp func) {
  func->setAttr(kArgumentsAttr, OpBuilder(func).getI64IntegerAttr(func.getNumArguments()));
  for (auto alloc : llvm::make_early_inc_range(func.getOps<memref::AllocOp>())) {
    if (!alloc.getType().hasStaticShape() || !alloc.getType().getLayout().isIdentity())
      return alloc.emitError("unsupported-shape: expected scratch memory of static size, but got ") << alloc.getType();
    if (failed(func.insertArgument(func.getNumArguments(), alloc.getType(), {}, alloc.getLoc())))
      return failure();
    alloc.replaceAllUsesWith(func.getArguments().back());
    alloc.erase();
  }
  return success();
}

namespace {
struct HoistAllocationsPass : inlay::impl::HoistAllocationsPassBase<HoistAllocationsPass> {
  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    computeInPlace(getOperation());
    if (failed(hoistAllocations(getOperation())))
      signalPassFailure();
  }
};
} // namespace

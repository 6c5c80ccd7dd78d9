// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch memory becomes buffers that the caller passes.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace inlay {
#define GEN_PASS_DEF_HOISTALLOCATIONSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

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
    if (!getOperation().isDeclaration() && failed(hoistAllocations(getOperation())))
      signalPassFailure();
  }
};
} // namespace

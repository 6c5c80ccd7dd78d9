// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check that closes the Convert phase.

#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_CONVERTVERIFYPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
struct ConvertVerifyPass : inlay::impl::ConvertVerifyPassBase<ConvertVerifyPass> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](Operation *op) {
      if (isa_and_nonnull<InlayDialect>(op->getDialect()) && !isa<ConstantOp>(op)) {
        op->emitOpError("expected every segment to be converted, but this op is left");
        return WalkResult::interrupt();
      }
      auto invoke = dyn_cast<plan::InvokeOp>(op);
      if (!invoke)
        return WalkResult::advance();
      Operation *callee = SymbolTable::lookupNearestSymbolFrom(op, invoke.getCalleeAttr());
      if (isa_and_nonnull<plan::EngineOp, plan::HostFunctionOp, func::FuncOp>(callee))
        return WalkResult::advance();
      invoke.emitOpError("expected ") << invoke.getCalleeAttr() << " to be an engine or a host function";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

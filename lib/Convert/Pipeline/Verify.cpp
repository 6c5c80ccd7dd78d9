// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the contract of the Convert phase.

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

/// Returns true if `function` is a converted segment of the framework: it has only framework calls and constants.
static bool isOfFrameworkCalls(func::FuncOp function) {
  return llvm::hasSingleElement(function.getBody()) && llvm::all_of(function.getBody().front().without_terminator(),
                                                                    llvm::IsaPred<ConstantOp, plan::FrameworkCallOp>);
}

/// Reports an op that must not remain after Convert.
static LogicalResult check(Operation *op) {
  if (isa_and_nonnull<InlayDialect>(op->getDialect()) && !isa<ConstantOp>(op))
    return op->emitOpError("expected every segment to be converted, but this op remains");
  auto invoke = dyn_cast<plan::InvokeOp>(op);
  if (!invoke)
    return success();
  Operation *callee = SymbolTable::lookupNearestSymbolFrom(op, invoke.getCalleeAttr());
  auto function = dyn_cast_or_null<func::FuncOp>(callee);
  if (isa_and_nonnull<plan::EngineOp, plan::ForeignEngineOp, plan::HostFunctionOp>(callee) ||
      (function && isOfFrameworkCalls(function)))
    return success();
  return invoke.emitOpError("expected ")
         << invoke.getCalleeAttr()
         << " to be an engine, a foreign engine, a host function or a function of framework calls";
}

namespace {
struct ConvertVerifyPass : inlay::impl::ConvertVerifyPassBase<ConvertVerifyPass> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk<WalkOrder::PreOrder>(
        [](Operation *op) { return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

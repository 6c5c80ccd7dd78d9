// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the variables that hold the results of a loop, and the initial value of each. KernelToSPIRV.cpp calls it after
// the conversion.

#include "LoopResults.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

/// The conversion of `scf.for` stores the results in their order in the last block of the loop. Result `i` is argument
/// `i + 1` of the header, because the first argument is the induction variable.
static LogicalResult storeInitialResults(spirv::LoopOp loop) {
  Block *header = loop.getHeaderBlock(), *last = loop.getContinueBlock();
  auto enter = dyn_cast<spirv::BranchOp>(loop.getEntryBlock()->getTerminator());
  auto next = dyn_cast<spirv::BranchOp>(last->getTerminator());
  if (!enter || !next || next.getTarget() != header)
    return loop.emitError("expected a loop whose first and last block branch to its header");
  OpBuilder builder(loop);
  unsigned number = 0;
  for (auto store : last->getOps<spirv::StoreOp>()) {
    auto variable = store.getPtr().getDefiningOp<spirv::VariableOp>();
    if (!variable || loop->isAncestor(variable))
      continue;
    if (++number >= header->getNumArguments() || next.getTargetOperands()[number] != store.getValue())
      return store.emitError("expected a store of the value that the next iteration gets");
    spirv::StoreOp::create(builder, loop.getLoc(), variable, enter.getTargetOperands()[number]);
  }
  return success();
}

LogicalResult inlay::storeInitialResults(spirv::ModuleOp module) {
  WalkResult result = module.walk([](spirv::LoopOp loop) {
    return failed(::storeInitialResults(loop)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

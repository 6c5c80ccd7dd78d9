// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An independent check of programs: what is read was written, and callees fit.

#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Stitch/Passes.h"

#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_STITCHVERIFYPASS
#include "inlay/Stitch/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;
using plan::Space;

/// Checks one step that reads `inputs` and writes `outputs`, and notes what it wrote.
static LogicalResult checkStep(Operation *step, ValueRange inputs, ValueRange outputs,
                               llvm::DenseSet<Value> &written) {
  for (Value input : inputs)
    if (!input.getDefiningOp<plan::InputOp>() && !input.getDefiningOp<plan::ConstantOp>() && !written.contains(input))
      return step->emitOpError("reads a buffer that no earlier step wrote");
  for (Value output : outputs) {
    if (output.getDefiningOp<plan::InputOp>() || output.getDefiningOp<plan::ConstantOp>())
      return step->emitOpError("writes a buffer that is read only");
    written.insert(output);
  }
  return success();
}

static LogicalResult checkCallee(Operation *step, FlatSymbolRefAttr name, OperandRange buffers, Space space) {
  Operation *callee = SymbolTable::lookupNearestSymbolFrom(step, name);
  int64_t expected = 0;
  if (auto engine = dyn_cast_or_null<plan::EngineOp>(callee); engine && space == Space::device)
    expected = engine.getArguments();
  else if (auto host = dyn_cast_or_null<plan::HostFunctionOp>(callee); host && space == Space::host)
    expected = host.getArguments() + host.getScratch().getNumResults();
  else
    return step->emitOpError("expected ") << name << " to be " << (space == Space::device ? "an engine" : "a host function");
  if (expected != static_cast<int64_t>(buffers.size()))
    return step->emitOpError("expected ") << expected << " buffers for " << name << ", but got " << buffers.size();
  for (Value buffer : buffers)
    if (cast<plan::BufferType>(buffer.getType()).getSpace() != space)
      return step->emitOpError("expected buffers in ") << plan::stringifySpace(space) << " memory, but got "
                                                       << buffer.getType();
  return success();
}

static LogicalResult checkProgram(plan::ProgramOp program) {
  llvm::DenseSet<Value> written;
  for (Operation &op : program.getBody().front()) {
    LogicalResult result = success();
    if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      auto from = cast<plan::BufferType>(copy.getSource().getType()), to = cast<plan::BufferType>(copy.getDestination().getType());
      if (from.getTensor() != to.getTensor())
        return op.emitOpError("expected buffers of one tensor type, but got ") << from << " and " << to;
      result = checkStep(&op, copy.getSource(), copy.getDestination(), written);
    } else if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      if (failed(checkCallee(&op, launch.getCalleeAttr(), op.getOperands(), Space::device)))
        return failure();
      result = checkStep(&op, launch.getInputs(), launch.getOutputs(), written);
    } else if (auto call = dyn_cast<plan::CallOp>(op)) {
      if (failed(checkCallee(&op, call.getCalleeAttr(), op.getOperands(), Space::host)))
        return failure();
      result = checkStep(&op, call.getInputs(), call.getOutputs(), written);
    } else if (auto callback = dyn_cast<plan::CallbackOp>(op)) {
      result = checkStep(&op, callback.getInputs(), callback.getOutputs(), written);
    }
    if (failed(result))
      return failure();
  }
  for (auto output : program.getBody().getOps<plan::OutputOp>())
    if (!written.contains(output))
      return output.emitOpError("expected a step to write output ") << output.getNumber();
  return success();
}

namespace {
struct StitchVerifyPass : inlay::impl::StitchVerifyPassBase<StitchVerifyPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      if (failed(checkProgram(program)))
        return signalPassFailure();
  }
};
} // namespace

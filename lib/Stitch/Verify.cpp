// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks programs independently of how they were assembled: every buffer is written before it is read, and callees
// match their calls.

#include "inlay/Dialect/Inlay/IR/Symbols.h"
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

static LogicalResult checkSpace(Operation *step, OperandRange buffers, Space space) {
  for (Value buffer : buffers)
    if (cast<plan::BufferType>(buffer.getType()).getSpace() != space)
      return step->emitOpError("expected buffers in ")
             << plan::stringifySpace(space) << " memory, but got " << buffer.getType();
  return success();
}

/// Returns the numbers of the inputs that a callee also writes.
static ArrayRef<int64_t> getUpdates(Operation *callee) {
  std::optional<ArrayRef<int64_t>> updates;
  if (auto engine = dyn_cast<plan::EngineOp>(callee))
    updates = engine.getUpdates();
  else if (auto host = dyn_cast<plan::HostFunctionOp>(callee))
    updates = host.getUpdates();
  return updates.value_or(ArrayRef<int64_t>());
}

/// Returns the number of buffers that a step must pass to `callee`, or nothing if such a step cannot call it.
static std::optional<int64_t> countArguments(Operation *step, Operation *callee) {
  if (auto engine = dyn_cast_or_null<plan::EngineOp>(callee); engine && isa<plan::LaunchOp>(step))
    return engine.getArguments();
  if (auto engine = dyn_cast_or_null<plan::ForeignEngineOp>(callee); engine && isa<plan::RunOp>(step))
    return engine.getArguments();
  if (auto host = dyn_cast_or_null<plan::HostFunctionOp>(callee); host && isa<plan::CallOp>(step))
    return host.getArguments() + host.getScratch().getNumResults();
  return std::nullopt;
}

/// Returns the host version of an engine. The lookup starts at its parent, because the engine is itself a symbol table.
/// Returns null if the symbol is not a host function.
static plan::HostFunctionOp findHostVersion(plan::EngineOp engine) {
  Operation *found = SymbolTable::lookupNearestSymbolFrom(engine->getParentOp(), engine.getHostVersionAttr());
  return dyn_cast_or_null<plan::HostFunctionOp>(found);
}

/// Checks that the host version of an engine takes the same buffers.
static LogicalResult checkHostVersion(plan::EngineOp engine) {
  FlatSymbolRefAttr name = engine.getHostVersionAttr();
  if (!name)
    return success();
  plan::HostFunctionOp host = findHostVersion(engine);
  if (!host)
    return engine.emitOpError("expected host version ") << name << " to be a host function";
  if (host.getArguments() != engine.getArguments())
    return engine.emitOpError("expected host version ") << name << " to take the engine's " << engine.getArguments()
                                                        << " buffers, but it takes " << host.getArguments();
  if (getUpdates(host) != getUpdates(engine))
    return engine.emitOpError("expected host version ") << name << " to update the inputs [" << getUpdates(engine)
                                                        << "], but it updates [" << getUpdates(host) << "]";
  return success();
}

/// Returns the number of symbols that the sizes of `callee` and of its host version use.
static unsigned countSymbols(Operation *callee) {
  unsigned count = 0;
  auto add = [&](AffineMap map) { count = std::max(count, map.getNumSymbols()); };
  if (auto engine = dyn_cast<plan::EngineOp>(callee)) {
    add(engine.getScratch());
    for (auto dispatch : engine.getBody().getOps<plan::DispatchOp>()) {
      add(dispatch.getGrid());
      add(dispatch.getPushConstants());
    }
    if (engine.getHostVersionAttr())
      count = std::max(count, countSymbols(findHostVersion(engine)));
  } else if (auto host = dyn_cast<plan::HostFunctionOp>(callee)) {
    add(host.getScratch());
    for (std::optional<AffineMap> map : {host.getSizes(), host.getUnsharedScratch()})
      add(map.value_or(AffineMap::get(callee->getContext())));
  }
  return count;
}

static StringRef describeCallee(Operation *step) {
  return isa<plan::LaunchOp>(step) ? "an engine" : isa<plan::RunOp>(step) ? "a foreign engine" : "a host function";
}

static LogicalResult checkCallee(Operation *step, FlatSymbolRefAttr name, OperandRange buffers, Space space) {
  Operation *callee = SymbolTable::lookupNearestSymbolFrom(step, name);
  std::optional<int64_t> expected = countArguments(step, callee);
  if (!expected)
    return step->emitOpError("expected ") << name << " to be " << describeCallee(step);
  if (size_t symbols = getSymbols(step).size(); countSymbols(callee) > symbols)
    return step->emitOpError("expected sizes of ")
           << name << " to use the program's " << symbols << " symbols, but got " << countSymbols(callee);
  if (*expected != static_cast<int64_t>(buffers.size()))
    return step->emitOpError("expected ") << *expected << " buffers for " << name << ", but got " << buffers.size();
  return checkSpace(step, buffers, space);
}

/// Checks that the inputs (outputs, states) of the program are numbered in order, and that inputs and outputs are in
/// host memory.
template <typename Op>
static LogicalResult checkBorder(plan::ProgramOp program, StringRef what) {
  for (auto [number, border] : llvm::enumerate(program.getBody().getOps<Op>())) {
    if (static_cast<uint64_t>(border.getNumber()) != number)
      return border.emitOpError("expected ") << what << " " << number << " here, but got " << border.getNumber();
    if (!std::is_same_v<Op, plan::StateOp> && border.getBuffer().getType().getSpace() != Space::host)
      return border.emitOpError("expected ") << what << "s in host memory, but got " << border.getBuffer().getType();
  }
  return success();
}

static LogicalResult checkCopy(plan::CopyOp copy) {
  auto from = cast<plan::BufferType>(copy.getSource().getType()),
       to = cast<plan::BufferType>(copy.getDestination().getType());
  if (from.getTensor() != to.getTensor())
    return copy.emitOpError("expected buffers of one tensor type, but got ") << from << " and " << to;
  if (copy.getSource() == copy.getDestination())
    return copy.emitOpError("expected two buffers, but got one");
  return success();
}

namespace {
/// Walks a program in execution order and tracks the buffers that have been written on every possible path.
class Walk {
public:
  LogicalResult checkBody(Region &body) {
    for (Operation &op : body.getOps())
      if (failed(checkOp(op)))
        return failure();
    return success();
  }

  bool isWritten(Value buffer) const { return written.contains(buffer); }

private:
  LogicalResult checkOp(Operation &op) {
    if (auto copy = dyn_cast<plan::CopyOp>(op))
      return failed(checkCopy(copy)) ? failure() : checkStep(&op, copy.getSource(), copy.getDestination());
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      return checkCall(launch, Space::device);
    if (auto call = dyn_cast<plan::CallOp>(op))
      return checkCall(call, Space::host);
    if (auto run = dyn_cast<plan::RunOp>(op))
      return checkRun(run);
    if (auto callback = dyn_cast<plan::CallbackOp>(op))
      return failed(checkSpace(&op, op.getOperands(), Space::host))
                 ? failure()
                 : checkStep(&op, callback.getInputs(), callback.getOutputs());
    if (auto branch = dyn_cast<plan::BranchOp>(op))
      return checkBranch(branch);
    if (auto loop = dyn_cast<plan::WhileOp>(op))
      return checkWhile(loop);
    if (auto loop = dyn_cast<plan::ForOp>(op))
      return checkFor(loop);
    if (isa<plan::InputOp, plan::OutputOp, plan::ConstantOp, plan::TemporaryOp, plan::StateOp>(op))
      return success();
    return op.emitOpError("is neither a buffer nor a step of a program");
  }

  template <typename Step>
  LogicalResult checkCall(Step step, Space space) {
    if (failed(checkCallee(step, step.getCalleeAttr(), step->getOperands(), space)))
      return failure();
    SmallVector<Value> written(step.getOutputs());
    Operation *callee = SymbolTable::lookupNearestSymbolFrom(step, step.getCalleeAttr());
    for (int64_t number : getUpdates(callee)) {
      if (number >= static_cast<int64_t>(step.getInputs().size()))
        return step.emitOpError("expected ") << step.getCalleeAttr() << " to update one of " << step.getInputs().size()
                                             << " inputs, but it updates argument " << number;
      written.push_back(step.getInputs()[number]);
    }
    return checkStep(step, step.getInputs(), written);
  }

  LogicalResult checkRun(plan::RunOp run) {
    auto engine = SymbolTable::lookupNearestSymbolFrom<plan::ForeignEngineOp>(run, run.getCalleeAttr());
    if (failed(checkCallee(run, run.getCalleeAttr(), run->getOperands(), Space::host)))
      return failure();
    if (engine.getInputs() != run.getInputs().size())
      return run.emitOpError("expected ")
             << engine.getInputs() << " inputs for " << run.getCalleeAttr() << ", but got " << run.getInputs().size();
    return checkStep(run, run.getInputs(), run.getOutputs());
  }

  /// Checks one step that reads `inputs` and writes `outputs`, and records its writes.
  LogicalResult checkStep(Operation *step, ValueRange inputs, ValueRange outputs) {
    for (Value input : inputs)
      if (!isa_and_nonnull<plan::InputOp, plan::ConstantOp, plan::StateOp>(input.getDefiningOp()) && !isWritten(input))
        return step->emitOpError("reads a buffer that no earlier step wrote");
    for (Value output : outputs) {
      if (output.getDefiningOp<plan::InputOp>() || output.getDefiningOp<plan::ConstantOp>())
        return step->emitOpError("writes a buffer that is read only");
      if (written.insert(output).second)
        added.push_back(output);
    }
    return success();
  }

  /// Reverts `written` and `added` to the state with `count` buffers. Returns the removed buffers.
  SmallVector<Value> revertTo(size_t count) {
    SmallVector<Value> taken(added.begin() + count, added.end());
    added.truncate(count);
    for (Value buffer : taken)
      written.erase(buffer);
    return taken;
  }

  LogicalResult checkBranch(plan::BranchOp branch) {
    size_t before = added.size();
    if (failed(checkStep(branch, branch.getCondition(), {})) || failed(checkBody(branch.getThenBody())))
      return failure();
    SmallVector<Value> thenWrites = revertTo(before);
    if (failed(checkBody(branch.getElseBody())))
      return failure();
    SmallVector<Value> elseWrites = revertTo(before);
    llvm::DenseSet<Value> elseSet(elseWrites.begin(), elseWrites.end());
    for (Value buffer : thenWrites)
      if (elseSet.contains(buffer) && written.insert(buffer).second)
        added.push_back(buffer);
    return success();
  }

  LogicalResult checkWhile(plan::WhileOp loop) {
    if (failed(checkBody(loop.getBefore())) || failed(checkStep(loop, loop.getCondition(), {})))
      return failure();
    size_t before = added.size();
    if (failed(checkBody(loop.getBody())))
      return failure();
    revertTo(before); // The body may never run.
    return success();
  }

  LogicalResult checkFor(plan::ForOp loop) {
    size_t before = added.size();
    if (failed(checkStep(loop, {loop.getLower(), loop.getUpper(), loop.getStep()}, loop.getPosition())) ||
        failed(checkBody(loop.getBody())))
      return failure();
    revertTo(before);
    return success();
  }

  llvm::DenseSet<Value> written;
  SmallVector<Value> added; ///< In the order in which they were written.
};
} // namespace

static LogicalResult checkProgram(plan::ProgramOp program) {
  if (failed(checkBorder<plan::InputOp>(program, "input")) || failed(checkBorder<plan::OutputOp>(program, "output")) ||
      failed(checkBorder<plan::StateOp>(program, "state")))
    return failure();
  Walk walk;
  if (failed(walk.checkBody(program.getBody())))
    return failure();
  for (auto output : program.getBody().getOps<plan::OutputOp>())
    if (!walk.isWritten(output))
      return output.emitOpError("expected a step to write output ") << output.getNumber();
  return success();
}

namespace {
struct StitchVerifyPass : inlay::impl::StitchVerifyPassBase<StitchVerifyPass> {
  void runOnOperation() override {
    for (auto engine : getOperation().getOps<plan::EngineOp>())
      if (failed(checkHostVersion(engine)))
        return signalPassFailure();
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      if (failed(checkProgram(program)))
        return signalPassFailure();
  }
};
} // namespace

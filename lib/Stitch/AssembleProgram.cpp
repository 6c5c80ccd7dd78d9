// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles programs over buffers from functions of converted segments.

#include "BufferTable.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Stitch/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_ASSEMBLEPROGRAMPASS
#include "inlay/Stitch/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;
using plan::Space;

/// Limit of the nesting depth to search for the memory of a value. No real program nests deeper.
static constexpr unsigned kMaxNesting = 64;

namespace {
/// Finds the memory in which each value is computed, so that loops and branches keep it there.
class Places {
public:
  /// Returns the memory, or nothing if both memories are equally good or the search is too deep.
  std::optional<Space> find(Value value, unsigned depth = 0) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || depth > kMaxNesting)
      return std::nullopt;
    if (auto known = spaces.find(value); known != spaces.end())
      return known->second;
    std::optional<Space> space = findAnew(result, depth);
    spaces[value] = space;
    return space;
  }

  /// Chooses the memory of `result` after the first of `values` with a known memory. Scalars are in host memory,
  /// because the host branches on them.
  Space choose(Value result, ArrayRef<Value> values) {
    if (isa<RankedTensorType>(result.getType()))
      for (Value value : values)
        if (std::optional<Space> space = find(value))
          return *space;
    return Space::host;
  }

private:
  std::optional<Space> findAnew(OpResult result, unsigned depth);

  llvm::DenseMap<Value, std::optional<Space>> spaces;
};
} // namespace

std::optional<Space> Places::findAnew(OpResult result, unsigned depth) {
  unsigned number = result.getResultNumber();
  if (auto invoke = dyn_cast<plan::InvokeOp>(result.getOwner())) {
    Operation *callee = SymbolTable::lookupNearestSymbolFrom(invoke, invoke.getCalleeAttr());
    return isa_and_nonnull<plan::EngineOp>(callee) ? Space::device : Space::host;
  }
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return find(loop.getYieldedValues()[number], depth + 1);
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
    return find(loop.getConditionOp().getArgs()[number], depth + 1);
  auto branch = dyn_cast<scf::IfOp>(result.getOwner());
  if (!branch)
    return std::nullopt;
  std::optional<Space> thenSpace = find(branch.thenYield().getOperand(number), depth + 1),
                       elseSpace = find(branch.elseYield().getOperand(number), depth + 1);
  return thenSpace && elseSpace && *thenSpace != *elseSpace ? Space::host : thenSpace ? thenSpace : elseSpace;
}

namespace {
/// Builds the program of one function.
class Assembler {
public:
  Assembler(func::FuncOp func, plan::ProgramOp program, int64_t maxIterations)
      : func(func), buffers(func, program), maxIterations(maxIterations) {}

  LogicalResult run() {
    if (!llvm::hasSingleElement(func.getBody()))
      return func.emitOpError("expected one block, but got ") << llvm::range_size(func.getBody());
    Operation *terminator = func.getBody().front().getTerminator();
    if (failed(buffers.checkAll(func, func.getArguments(), "argument")) ||
        failed(buffers.checkAll(func, terminator->getOperands(), "result")))
      return failure();
    auto attr = func->getAttrOfType<IntegerAttr>(InlayDialect::kStatesAttr);
    unsigned count = attr ? attr.getInt() : 0;
    ValueRange results = terminator->getOperands().drop_back(count), next = terminator->getOperands().take_back(count);
    SmallVector<Value> states;
    for (BlockArgument argument : func.getArguments().drop_back(count))
      buffers.declareInput(argument);
    for (auto [number, argument, value] : llvm::enumerate(func.getArguments().take_back(count), next))
      states.push_back(buffers.declareState(argument, number, places.find(value).value_or(Space::host)));
    for (OpOperand &operand : terminator->getOpOperands().drop_back(count))
      outputs.push_back(buffers.declareOutput(operand));
    if (failed(addSteps(func.getBody().front())))
      return failure();
    for (auto [value, output] : llvm::zip_equal(results, outputs))
      deliver(terminator->getLoc(), value, output);
    carry(terminator, next, states);
    return success();
  }

private:
  /// Adds the steps of a block, without its terminator.
  LogicalResult addSteps(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(addStep(op)))
        return failure();
    return success();
  }

  LogicalResult addStep(Operation &op) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      return success();
    buffers.setSegment(op.getAttr(plan::kSegmentNumberAttr));
    if (failed(buffers.checkAll(&op, op.getOperands(), "input")) ||
        failed(buffers.checkAll(&op, op.getResults(), "result")))
      return failure();
    if (auto invoke = dyn_cast<plan::InvokeOp>(op))
      return addInvoke(invoke);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return addBranch(branch);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return addFor(loop);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return addWhile(loop);
    return op.emitOpError("expected only calls of converted segments, control flow, constants and a return");
  }

  //===-- Segments ----------------------------------------------------------------------------------------------===//

  /// Returns the buffers to which a call in `space` writes its results. A result that replaces an input in its memory
  /// has the buffer of the input, which the call passes once.
  SmallVector<Value> defineResults(plan::InvokeOp invoke, ArrayRef<Value> inputs, Space space) {
    SmallVector<Value> results;
    for (auto [number, value] : llvm::enumerate(invoke.getOutputs())) {
      if (int64_t input = invoke.getUpdated(number); input >= 0)
        buffers.set(value, inputs[input]);
      else
        results.push_back(buffers.define(value, space));
    }
    return results;
  }

  template <typename Step>
  LogicalResult addCall(plan::InvokeOp invoke, Space space, ArrayRef<AffineExpr> scratch = {}) {
    SmallVector<Value> inputs = buffers.getAll(invoke.getInputs(), space),
                       results = defineResults(invoke, inputs, space);
    for (AffineExpr bytes : scratch)
      results.push_back(buffers.declareBytes(invoke.getLoc(), bytes, "scratch of " + invoke.getCallee()));
    buffers.mark(Step::create(buffers.steps(), invoke.getLoc(), invoke.getCalleeAttr(), inputs, results),
                 buffers.getSegment());
    return success();
  }

  LogicalResult addLaunch(plan::InvokeOp invoke, plan::EngineOp engine) {
    auto orders = engine->getAttrOfType<ArrayAttr>(plan::kConstantOrdersAttr);
    SmallVector<Value> inputs;
    for (auto [number, input] : llvm::enumerate(invoke.getInputs())) {
      auto order = orders && number < orders.size() ? dyn_cast<DenseI64ArrayAttr>(orders[number]) : DenseI64ArrayAttr();
      inputs.push_back(buffers.getInOrder(input, order));
      if (!inputs.back())
        return invoke.emitOpError("expected input ")
               << number << " to be a constant, because the engine reads its dims in another order";
    }
    SmallVector<Value> results = defineResults(invoke, inputs, Space::device);
    auto step = plan::LaunchOp::create(buffers.steps(), invoke.getLoc(), invoke.getCalleeAttr(), inputs, results);
    buffers.mark(step, buffers.getSegment());
    return success();
  }

  LogicalResult addInvoke(plan::InvokeOp invoke) {
    Operation *callee = SymbolTable::lookupNearestSymbolFrom(invoke, invoke.getCalleeAttr());
    if (auto engine = dyn_cast_or_null<plan::EngineOp>(callee))
      return addLaunch(invoke, engine);
    if (isa_and_nonnull<plan::ForeignEngineOp>(callee))
      return addCall<plan::RunOp>(invoke, Space::host);
    if (auto host = dyn_cast_or_null<plan::HostFunctionOp>(callee)) {
      ArrayRef<AffineExpr> scratch = host.getScratch().getResults();
      if (failed(buffers.checkSymbols(invoke, scratch, "scratch")))
        return failure();
      return addCall<plan::CallOp>(invoke, Space::host, scratch);
    }
    if (auto calls = dyn_cast_or_null<func::FuncOp>(callee))
      return addFrameworkCalls(invoke, calls);
    return invoke.emitOpError("expected ") << invoke.getCalleeAttr() << " to be converted";
  }

  /// Inlines the framework calls of `calls`.
  LogicalResult addFrameworkCalls(plan::InvokeOp invoke, func::FuncOp calls) {
    if (calls.isDeclaration())
      return invoke.emitOpError("expected ") << invoke.getCalleeAttr() << " to be converted, but it has no body";
    if (!llvm::hasSingleElement(calls.getBody()))
      return calls.emitOpError("expected one block, but got ") << llvm::range_size(calls.getBody());
    Block &body = calls.getBody().front();
    ValueRange made = body.getTerminator()->getOperands();
    for (auto [argument, value] : llvm::zip(body.getArguments(), invoke.getInputs()))
      buffers.set(argument, buffers.get(value, Space::host));
    for (auto [result, value] : llvm::zip(invoke.getOutputs(), made))
      if (Value wanted = buffers.findRequest(result))
        buffers.request(value, wanted);
    for (Operation &op : body.without_terminator()) {
      if (isa<ConstantOp>(op))
        continue;
      auto call = dyn_cast<plan::FrameworkCallOp>(op);
      if (!call)
        return op.emitOpError("expected only framework calls");
      if (failed(buffers.checkAll(call, call.getOutputs(), "result")))
        return failure();
      SmallVector<Value> inputs = buffers.getAll(call.getInputs(), Space::host);
      SmallVector<Value> results = buffers.defineAll(call.getOutputs(), Space::host);
      buffers.mark(plan::CallbackOp::create(buffers.steps(), call.getLoc(), call.getCallAttr(), inputs, results,
                                            call.getSizesAttr()),
                   buffers.getSegment());
    }
    for (auto [result, value] : llvm::zip(invoke.getOutputs(), made)) {
      buffers.set(result, buffers.get(value, Space::host));
      buffers.dropRequest(value); // The next invocation of this segment has different results.
    }
    return success();
  }

  //===-- Control flow ------------------------------------------------------------------------------------------===//

  /// Copies `value` to `buffer` unless it is already there.
  void deliver(Location loc, Value value, Value buffer) {
    buffers.copy(loc, buffers.getAnywhere(value, getSpace(buffer)), buffer, buffers.getMaker(value));
  }

  /// Adds the steps of `block` as a body and brings `values` to `targets` at its end.
  LogicalResult addBody(Operation *step, Region &body, Block &block, ValueRange values, ArrayRef<Value> targets) {
    buffers.enter(step, body, /*isLoop=*/false);
    for (auto [value, target] : llvm::zip_equal(values, targets))
      if (value.getParentBlock() == &block)
        buffers.request(value, target);
    if (failed(addSteps(block)))
      return failure();
    for (auto [value, target] : llvm::zip_equal(values, targets)) {
      deliver(block.getTerminator()->getLoc(), value, target);
      buffers.dropRequest(value);
    }
    buffers.leave();
    return success();
  }

  LogicalResult addBranch(scf::IfOp branch) {
    Value condition = buffers.get(branch.getCondition(), Space::host);
    SmallVector<Value> results;
    for (Value result : branch.getResults())
      results.push_back(buffers.define(result, places.choose(result, result)));
    Attribute segment = buffers.getSegment();
    auto step = plan::BranchOp::create(buffers.steps(), branch.getLoc(), condition);
    buffers.mark(step, segment);
    for (Region *body : {&step.getThenBody(), &step.getElseBody()})
      body->emplaceBlock();
    if (failed(addBody(step, step.getThenBody(), *branch.thenBlock(), branch.thenYield().getOperands(), results)))
      return failure();
    if (!branch.elseBlock())
      return success();
    return addBody(step, step.getElseBody(), *branch.elseBlock(), branch.elseYield().getOperands(), results);
  }

  /// Copies the values at the end of a loop's body to the buffers that the next iteration reads, or those at the end of
  /// the program to the states that the next call reads, as a parallel copy.
  void carry(Operation *terminator, ValueRange values, ArrayRef<Value> carried) {
    SmallVector<Value> sources;
    for (auto [value, target] : llvm::zip_equal(values, carried)) {
      Value source = buffers.getAnywhere(value, getSpace(target));
      if (source != target && llvm::is_contained(carried, source)) { // A copy before its turn may overwrite it.
        Value kept = buffers.declareTemporary(value, getSpace(source));
        buffers.copy(terminator->getLoc(), source, kept, buffers.getSegment());
        source = kept;
      }
      sources.push_back(source);
    }
    for (auto [source, target] : llvm::zip_equal(sources, carried))
      buffers.copy(terminator->getLoc(), source, target, buffers.getSegment());
  }

  LogicalResult addFor(scf::ForOp loop) {
    if (Type type = loop.getInductionVar().getType(); !type.isIndex() && !type.isInteger(64))
      return loop.emitOpError("expected bounds of type index or i64, but got ") << type;
    if (loop.getUnsignedCmp())
      return loop.emitOpError("expected bounds that are compared as signed integers");
    Attribute segment = buffers.getSegment();
    Value lower = buffers.get(loop.getLowerBound(), Space::host),
          upper = buffers.get(loop.getUpperBound(), Space::host), stride = buffers.get(loop.getStep(), Space::host);
    SmallVector<Value> carried;
    for (auto [result, init, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getYieldedValues())) {
      carried.push_back(buffers.define(result, places.choose(result, {yielded, init})));
      buffers.copy(loop.getLoc(), buffers.getAnywhere(init, getSpace(carried.back())), carried.back(), segment);
    }
    Value position = buffers.declareTemporary(loop.getInductionVar(), Space::host);
    auto step = plan::ForOp::create(buffers.steps(), loop.getLoc(), position, lower, upper, stride);
    buffers.mark(step, segment);
    step.getBody().emplaceBlock();
    buffers.enter(step, step.getBody(), /*isLoop=*/true);
    buffers.set(loop.getInductionVar(), position);
    for (auto [argument, buffer] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
      buffers.set(argument, buffer);
    if (failed(addSteps(*loop.getBody())))
      return failure();
    buffers.setSegment(segment);
    carry(loop.getBody()->getTerminator(), loop.getYieldedValues(), carried);
    buffers.leave();
    return success();
  }

  /// Returns buffers for loop-carried values. A result that passes the value on unchanged shares its buffer.
  SmallVector<Value> declareCarried(scf::WhileOp loop) {
    SmallVector<Value> carried;
    OperandRange given = loop.getConditionOp().getArgs();
    for (auto [argument, yielded, init] :
         llvm::zip_equal(loop.getBeforeArguments(), loop.getYieldedValues(), loop.getInits())) {
      Space space = places.choose(argument, {yielded, init});
      auto found = llvm::find(given, argument);
      carried.push_back(found == given.end() ? buffers.declareTemporary(argument, space)
                                             : buffers.define(loop.getResult(found - given.begin()), space));
    }
    return carried;
  }

  LogicalResult addWhile(scf::WhileOp loop) {
    Attribute segment = buffers.getSegment();
    scf::ConditionOp last = loop.getConditionOp();
    SmallVector<Value> carried = declareCarried(loop), results;
    for (auto [init, buffer] : llvm::zip_equal(loop.getInits(), carried))
      buffers.copy(loop.getLoc(), buffers.getAnywhere(init, getSpace(buffer)), buffer, segment);
    for (auto [result, value] : llvm::zip_equal(loop.getResults(), last.getArgs())) {
      Value known = buffers.findAnywhere(result);
      results.push_back(known ? known : buffers.define(result, places.choose(result, value)));
    }
    Value condition = buffers.declareTemporary(last.getCondition(), Space::host);
    auto step = plan::WhileOp::create(buffers.steps(), loop.getLoc(), condition, maxIterations);
    buffers.mark(step, segment);
    for (Region *body : {&step.getBefore(), &step.getBody()})
      body->emplaceBlock();
    buffers.enter(step, step.getBefore(), /*isLoop=*/true);
    for (auto [argument, buffer] : llvm::zip_equal(loop.getBeforeArguments(), carried))
      buffers.set(argument, buffer);
    if (failed(addSteps(*loop.getBeforeBody())))
      return failure();
    deliver(last.getLoc(), last.getCondition(), condition);
    for (auto [value, buffer] : llvm::zip_equal(last.getArgs(), results))
      deliver(last.getLoc(), value, buffer);
    buffers.leave();
    buffers.enter(step, step.getBody(), /*isLoop=*/true);
    for (auto [argument, buffer] : llvm::zip_equal(loop.getAfterArguments(), results))
      buffers.set(argument, buffer);
    if (failed(addSteps(*loop.getAfterBody())))
      return failure();
    buffers.setSegment(segment);
    carry(loop.getAfterBody()->getTerminator(), loop.getYieldedValues(), carried);
    buffers.leave();
    return success();
  }

  func::FuncOp func;
  BufferTable buffers;
  Places places;
  int64_t maxIterations;
  SmallVector<Value> outputs;
};

/// Returns the maximum number of iterations of a loop, from the module's attribute.
static int64_t getMaxIterations(ModuleOp module) {
  auto limit = module->getAttrOfType<IntegerAttr>(InlayDialect::kMaxLoopIterationsAttr);
  return limit ? limit.getInt() : InlayDialect::kDefaultMaxLoopIterations;
}

struct AssembleProgramPass : inlay::impl::AssembleProgramPassBase<AssembleProgramPass> {
  void runOnOperation() override {
    int64_t maxIterations = getMaxIterations(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func.isPublic() && !func.isDeclaration() && failed(assemble(func, maxIterations)))
        return signalPassFailure();
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      func.erase(); // Only functions with framework calls are left; the calls are inlined.
  }

  static LogicalResult assemble(func::FuncOp func, int64_t maxIterations) {
    OpBuilder builder(func);
    auto program = plan::ProgramOp::create(builder, func.getLoc(), func.getSymName());
    for (StringRef name : {InlayDialect::kSymbolsAttr, InlayDialect::kConditionsAttr})
      if (Attribute value = func->getAttr(name))
        program->setAttr(name, value);
    builder.createBlock(&program.getBody());
    if (failed(Assembler(func, program, maxIterations).run()))
      return failure();
    func.erase();
    return success();
  }
};
} // namespace

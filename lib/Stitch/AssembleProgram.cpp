// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of converted segments to programs over buffers.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Stitch/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_ASSEMBLEPROGRAMPASS
#include "inlay/Stitch/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;
using plan::Space;

namespace {
/// Builds the program of one function.
class Assembler {
public:
  explicit Assembler(func::FuncOp func) : func(func), builder(func), symbols(getSymbols(func)) {}

  LogicalResult run() {
    auto program = plan::ProgramOp::create(builder, func.getLoc(), func.getSymName());
    if (Attribute symbols = func->getAttr(InlayDialect::kSymbolsAttr))
      program->setAttr(InlayDialect::kSymbolsAttr, symbols);
    Block *block = builder.createBlock(&program.getBody());
    builder.setInsertionPointToEnd(block);
    if (failed(declareBorders()))
      return failure();
    for (Operation &op : func.getBody().front())
      if (failed(addStep(op)))
        return failure();
    func.erase();
    return success();
  }

private:
  /// The buffers that hold one value.
  struct Homes {
    Value host, device;
  };

  plan::BufferType bufferType(RankedTensorType tensor, Space space, ArrayRef<AffineExpr> dims) {
    AffineMapAttr map;
    if (!tensor.hasStaticShape())
      map = makeDimsAttr(builder.getContext(), symbols.size(), dims);
    return plan::BufferType::get(builder.getContext(), tensor, space, map);
  }

  /// For a value whose dims are known, as `checkTensor` says.
  plan::BufferType bufferType(Value value, Space space) {
    return bufferType(cast<RankedTensorType>(value.getType()), space, *getDims(value));
  }

  /// Checks that a buffer can hold the value; `op` and `what` are for the error.
  LogicalResult checkTensor(Operation *op, Value value, const Twine &what) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return op->emitOpError("expected ") << what << " to be a ranked tensor of numbers, but got " << value.getType();
    std::optional<SmallVector<AffineExpr>> dims = getDims(value);
    if (!dims)
      return op->emitOpError("expected '") << InlayDialect::kDimsAttr << "' for " << what << ", " << tensor;
    return checkSymbols(op, *dims, what);
  }

  LogicalResult checkTensors(Operation *op, ValueRange values, StringRef what) {
    for (auto [number, value] : llvm::enumerate(values))
      if (failed(checkTensor(op, value, what + " " + Twine(number))))
        return failure();
    return success();
  }

  LogicalResult checkSymbols(Operation *op, ArrayRef<AffineExpr> sizes, const Twine &what) {
    unsigned used = 0;
    for (AffineExpr size : sizes)
      size.walk([&](AffineExpr expr) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
          used = std::max(used, symbol.getPosition() + 1);
      });
    if (used <= symbols.size())
      return success();
    return op->emitOpError("expected ") << what << " to use the " << symbols.size() << " symbols of '"
                                        << func.getSymName() << "', but got "
                                        << makeDimsAttr(builder.getContext(), used, sizes);
  }

  LogicalResult declareBorders() {
    Operation *terminator = func.getBody().front().getTerminator();
    if (failed(checkTensors(func, func.getArguments(), "argument")) ||
        failed(checkTensors(func, terminator->getOperands(), "result")))
      return failure();
    for (BlockArgument argument : func.getArguments()) {
      StringRef name = getLocationName(argument.getLoc());
      std::string label = name.empty() ? "argument " + std::to_string(argument.getArgNumber()) : name.str();
      homes[argument].host = plan::InputOp::create(builder, argument.getLoc(), bufferType(argument, Space::host),
                                                   argument.getArgNumber(), label);
    }
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value output =
          plan::OutputOp::create(builder, operand.get().getLoc(), bufferType(operand.get(), Space::host),
                                 operand.getOperandNumber(), "result " + std::to_string(operand.getOperandNumber()));
      outputs.push_back(output);
      destinations.try_emplace(operand.get(), output);
    }
    return success();
  }

  /// The buffer of a constant in `space`; equal constants share it.
  Value constant(ConstantOp op, Space space) {
    Value &buffer = constants[{op.getValue(), static_cast<unsigned>(space)}];
    if (buffer)
      return buffer;
    StringRef name = getLocationName(op.getLoc());
    return buffer = plan::ConstantOp::create(builder, op.getLoc(), bufferType(op.getResult(), space), op.getValue(),
                                             name.empty() ? "constant" : name);
  }

  /// The buffer that holds `value` in `space`, copying it there the first time.
  Value get(Value value, Space space) {
    if (auto op = value.getDefiningOp<ConstantOp>())
      return constant(op, space);
    Homes &home = homes[value];
    Value &wanted = space == Space::host ? home.host : home.device;
    Value other = space == Space::host ? home.device : home.host;
    if (wanted || !other)
      return wanted;
    wanted = plan::TemporaryOp::create(builder, value.getLoc(), bufferType(value, space), label(value));
    // The way to a device is of the segment that reads the value there, the way back of the one that made it.
    mark(plan::CopyOp::create(builder, value.getLoc(), other, wanted),
         space == Space::device ? current : makers.lookup(value));
    return wanted;
  }

  static void mark(Operation *step, Attribute segment) {
    if (segment)
      step->setAttr(plan::kSegmentNumberAttr, segment);
  }

  static StringRef label(Value value) {
    StringRef name = getLocationName(value.getLoc());
    return name.empty() ? "value" : name;
  }

  /// A new buffer for `value`, made by a step in `space`: the caller's memory if it is returned from the host.
  Value define(Value value, Space space) {
    Value buffer;
    auto destination = destinations.find(value);
    if (space == Space::host && destination != destinations.end())
      buffer = destination->second;
    else
      buffer = plan::TemporaryOp::create(builder, value.getLoc(), bufferType(value, space), label(value));
    (space == Space::host ? homes[value].host : homes[value].device) = buffer;
    makers[value] = current;
    return buffer;
  }

  SmallVector<Value> getAll(ValueRange values, Space space) {
    return llvm::map_to_vector(values, [&](Value value) { return get(value, space); });
  }
  SmallVector<Value> defineAll(ValueRange values, Space space) {
    return llvm::map_to_vector(values, [&](Value value) { return define(value, space); });
  }

  LogicalResult addStep(Operation &op) {
    if (isa<ConstantOp>(op))
      return success();
    if (auto invoke = dyn_cast<plan::InvokeOp>(op))
      return addInvoke(invoke);
    if (isa<func::ReturnOp>(op))
      return addReturn(op);
    return op.emitOpError("expected calls of converted segments, constants and a return alone");
  }

  /// A buffer of `bytes` bytes that only `host` uses.
  Value makeScratch(plan::HostFunctionOp host, AffineExpr bytes, Location loc) {
    auto constant = dyn_cast<AffineConstantExpr>(bytes);
    auto type = RankedTensorType::get({constant ? constant.getValue() : ShapedType::kDynamic}, builder.getI8Type());
    return plan::TemporaryOp::create(builder, loc, bufferType(type, Space::host, bytes),
                                     "scratch of " + host.getSymName().str());
  }

  LogicalResult addInvoke(plan::InvokeOp invoke) {
    current = invoke->getAttr(plan::kSegmentNumberAttr);
    if (failed(checkTensors(invoke, invoke.getInputs(), "input")) ||
        failed(checkTensors(invoke, invoke.getOutputs(), "result")))
      return failure();
    Operation *callee = SymbolTable::lookupNearestSymbolFrom(invoke, invoke.getCalleeAttr());
    if (isa_and_nonnull<plan::EngineOp>(callee)) {
      SmallVector<Value> inputs = getAll(invoke.getInputs(), Space::device);
      SmallVector<Value> results = defineAll(invoke.getOutputs(), Space::device);
      mark(plan::LaunchOp::create(builder, invoke.getLoc(), invoke.getCalleeAttr(), inputs, results), current);
      return success();
    }
    if (auto host = dyn_cast_or_null<plan::HostFunctionOp>(callee)) {
      SmallVector<Value> inputs = getAll(invoke.getInputs(), Space::host);
      SmallVector<Value> results = defineAll(invoke.getOutputs(), Space::host);
      if (failed(checkSymbols(invoke, host.getScratch().getResults(), "scratch")))
        return failure();
      for (AffineExpr size : host.getScratch().getResults())
        results.push_back(makeScratch(host, size, invoke.getLoc()));
      mark(plan::CallOp::create(builder, invoke.getLoc(), invoke.getCalleeAttr(), inputs, results), current);
      return success();
    }
    if (isa_and_nonnull<plan::ForeignEngineOp>(callee)) {
      SmallVector<Value> inputs = getAll(invoke.getInputs(), Space::host);
      SmallVector<Value> results = defineAll(invoke.getOutputs(), Space::host);
      plan::RunOp::create(builder, invoke.getLoc(), invoke.getCalleeAttr(), inputs, results);
      return success();
    }
    if (auto calls = dyn_cast_or_null<func::FuncOp>(callee))
      return addFrameworkCalls(invoke, calls);
    return invoke.emitOpError("expected ") << invoke.getCalleeAttr() << " to be converted";
  }

  /// Runs the framework calls of `calls` in place.
  LogicalResult addFrameworkCalls(plan::InvokeOp invoke, func::FuncOp calls) {
    if (calls.isDeclaration())
      return invoke.emitOpError("expected ") << invoke.getCalleeAttr() << " to be converted, but it has no body";
    Block &body = calls.getBody().front();
    for (auto [argument, value] : llvm::zip(body.getArguments(), invoke.getInputs()))
      homes[argument].host = get(value, Space::host);
    for (auto [result, value] : llvm::zip(invoke.getOutputs(), body.getTerminator()->getOperands()))
      if (Value output = destinations.lookup(result)) // a copy: the map grows
        destinations.try_emplace(value, output);
    for (Operation &op : body.without_terminator()) {
      if (isa<ConstantOp>(op))
        continue;
      auto call = dyn_cast<plan::FrameworkCallOp>(op);
      if (!call)
        return op.emitOpError("expected framework calls alone");
      if (failed(checkTensors(call, call.getOutputs(), "result")))
        return failure();
      SmallVector<Value> inputs = getAll(call.getInputs(), Space::host);
      SmallVector<Value> results = defineAll(call.getOutputs(), Space::host);
      mark(plan::CallbackOp::create(builder, call.getLoc(), call.getCallAttr(), inputs, results, call.getSizesAttr()),
           current);
    }
    for (auto [result, value] : llvm::zip(invoke.getOutputs(), body.getTerminator()->getOperands())) {
      homes[result].host = get(value, Space::host);
      destinations.erase(value); // the next call of this segment has results of its own
    }
    return success();
  }

  LogicalResult addReturn(Operation &op) {
    for (auto [value, output] : llvm::zip(op.getOperands(), outputs)) {
      const Homes &home = homes[value];
      if (home.host == output)
        continue;
      Value source = value.getDefiningOp<ConstantOp>() || home.host ? get(value, Space::host) : home.device;
      mark(plan::CopyOp::create(builder, op.getLoc(), source, output), makers.lookup(value));
    }
    return success();
  }

  func::FuncOp func;
  OpBuilder builder;
  SmallVector<SymbolAttr> symbols;
  Attribute current; ///< number of the segment whose steps are added
  llvm::DenseMap<Value, Attribute> makers;
  SmallVector<Value> outputs;
  llvm::DenseMap<Value, Homes> homes;
  llvm::DenseMap<Value, Value> destinations; ///< returned values to the first output that takes them
  llvm::DenseMap<std::pair<Attribute, unsigned>, Value> constants;
};

struct AssembleProgramPass : inlay::impl::AssembleProgramPassBase<AssembleProgramPass> {
  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func.isPublic() && !func.isDeclaration() && failed(Assembler(func).run()))
        return signalPassFailure();
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      func.erase(); // framework calls, now inlined
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a `plan.program` with its engines, host functions, constants and steps into the runtime's `Plan`.
// PlanSymbols.cpp converts sizes, and HostKernelsFromIR.cpp converts kernels of host functions.

#include "PlanFromIR.h"
#include "HostKernelsFromIR.h"
#include "PlanSymbols.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace inlay;

//===-- Pieces --------------------------------------------------------------------------------------------------===//

static std::optional<rt::ElementType> convertElement(Type type) {
  if (type.isInteger(1))
    return rt::ElementType::Bool;
  if (type.isInteger(8))
    return rt::ElementType::I8;
  if (type.isInteger(16))
    return rt::ElementType::I16;
  if (type.isInteger(32))
    return rt::ElementType::I32;
  if (type.isInteger(64))
    return rt::ElementType::I64;
  if (type.isF16())
    return rt::ElementType::F16;
  if (type.isBF16())
    return rt::ElementType::BF16;
  if (type.isF32())
    return rt::ElementType::F32;
  if (type.isF64())
    return rt::ElementType::F64;
  return std::nullopt;
}

template <typename T>
static std::vector<T> copyElements(ElementsAttr attr) {
  auto values = cast<DenseElementsAttr>(attr).getValues<T>();
  return std::vector<T>(values.begin(), values.end());
}

/// Returns the data of a dense constant of `count` bytes, with one byte per i1. Returns null if there is not enough
/// memory.
static std::shared_ptr<char[]> copyBytes(DenseElementsAttr dense, size_t count) {
  std::shared_ptr<char[]> bytes(new (std::nothrow) char[count]);
  if (!bytes)
    return nullptr;
  if (dense.getElementType().isInteger(1)) {
    llvm::copy(dense.getValues<bool>(), bytes.get());
    return bytes;
  }
  ArrayRef<char> raw = dense.getRawData();
  // One iteration, unless it is a splat.
  for (size_t at = 0; at + raw.size() <= count && !raw.empty(); at += raw.size())
    llvm::copy(raw, bytes.get() + at);
  return bytes;
}

static FailureOr<rt::Constant> convertConstant(plan::ConstantOp op, const std::shared_ptr<const void> &owner) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return op.emitOpError("expected bytes for weight '") << resource.getRawHandle().getKey() << "'";
    ArrayRef<char> data = blob->getData();
    std::string key = resource.getRawHandle().getKey().str();
    if (!blob->getDeleter())
      return rt::Constant{data.data(), data.size(), owner, key};
    // Data from the module's text belongs to the context, which the plan outlives.
    auto bytes = std::make_shared<std::vector<char>>(data.begin(), data.end());
    return rt::Constant{bytes->data(), bytes->size(), bytes, key};
  }
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError("expected a dense constant, but got ") << op.getValue();
  std::optional<rt::ElementType> element = convertElement(dense.getElementType());
  if (!element)
    return op.emitOpError("expected an element type that the runtime supports, but got ") << dense.getType();
  size_t count = rt::byteWidth(*element);
  for (int64_t dim : dense.getType().getShape())
    if (__builtin_mul_overflow(count, dim, &count))
      return op.emitOpError("expected a constant of less than 2^64 bytes, but got ") << dense.getType();
  std::shared_ptr<char[]> bytes = copyBytes(dense, count);
  if (!bytes)
    return op.emitOpError("no memory for a constant of ") << count << " bytes";
  return rt::Constant{bytes.get(), count, bytes};
}

//===-- Engines -------------------------------------------------------------------------------------------------===//

using Origins = llvm::SmallSetVector<StringRef, 4>;

/// Returns the kernel's symbol and the origins of its dispatches: "k0 of linear_0, linear_1 and 3 more".
static std::string nameKernel(plan::KernelOp kernel, const Origins &origins) {
  constexpr size_t kMax = 3;
  std::string name = kernel.getSymName().str();
  llvm::raw_string_ostream stream(name);
  if (!origins.empty())
    stream << " of " << llvm::join(origins.getArrayRef().take_front(kMax), ", ");
  if (origins.size() > kMax)
    stream << " and " << origins.size() - kMax << " more";
  return name;
}

static rt::Kernel convertKernel(plan::KernelOp op, const Origins &origins) {
  rt::Kernel kernel;
  kernel.name = nameKernel(op, origins);
  for (int32_t word : copyElements<int32_t>(op.getSpirv()))
    kernel.spirv.push_back(static_cast<uint32_t>(word));
  for (Attribute binding : op.getBindings())
    kernel.bindings.push_back(static_cast<rt::Access>(cast<plan::AccessAttr>(binding).getValue()));
  if (std::optional<ArrayAttr> kinds = op.getKinds())
    for (Attribute kind : *kinds)
      kernel.kinds.push_back(static_cast<rt::BindingKind>(cast<plan::BindingKindAttr>(kind).getValue()));
  kernel.pushConstants = op.getPushConstants();
  llvm::copy(op.getBlock(), kernel.block.begin());
  if (ArrayAttr names = op.getRequiresAttr())
    for (StringRef name : names.getAsValueRange<StringAttr>())
      kernel.requirements.push_back(name.str());
  return kernel;
}

static FailureOr<rt::Engine> convertEngine(plan::EngineOp op, ArrayRef<rt::Symbol> symbols) {
  rt::Engine engine;
  engine.name = op.getSymName().str();
  engine.arguments = op.getArguments();
  FailureOr<std::vector<rt::Expr>> scratch = convertSizes(op, op.getScratch(), symbols);
  if (failed(scratch))
    return failure();
  engine.scratch = *scratch;
  llvm::StringMap<Origins> origins;
  for (auto dispatch : op.getBody().getOps<plan::DispatchOp>())
    origins[dispatch.getKernel()].insert_range(getOrigins(dispatch.getLoc()));
  llvm::StringMap<uint32_t> kernels;
  for (auto kernel : op.getBody().getOps<plan::KernelOp>()) {
    kernels[kernel.getSymName()] = engine.kernels.size();
    engine.kernels.push_back(convertKernel(kernel, origins[kernel.getSymName()]));
  }
  for (auto dispatchOp : op.getBody().getOps<plan::DispatchOp>()) {
    rt::Dispatch dispatch;
    dispatch.kernel = kernels.lookup(dispatchOp.getKernel());
    dispatch.buffers.assign(dispatchOp.getBuffers().begin(), dispatchOp.getBuffers().end());
    FailureOr<std::vector<rt::Expr>> grid = convertSizes(dispatchOp, dispatchOp.getGrid(), symbols);
    FailureOr<std::vector<rt::Expr>> pushed = convertSizes(dispatchOp, dispatchOp.getPushConstants(), symbols);
    if (failed(grid) || failed(pushed))
      return failure();
    llvm::copy(*grid, dispatch.grid.begin());
    dispatch.pushConstants = *pushed;
    for (StringRef origin : getOrigins(dispatchOp.getLoc()))
      dispatch.calls.push_back(origin.str());
    engine.dispatches.push_back(std::move(dispatch));
  }
  return engine;
}

/// Converts the numbers, if any, that a callee receives in addition to its buffers.
static LogicalResult convertNumbers(Operation *op, std::optional<AffineMap> map, ArrayRef<rt::Symbol> symbols,
                                    std::vector<rt::Expr> &numbers) {
  if (!map)
    return success();
  FailureOr<std::vector<rt::Expr>> sizes = convertSizes(op, *map, symbols);
  if (succeeded(sizes))
    numbers = std::move(*sizes);
  return sizes;
}

/// Converts a host function. It reads its inputs, updates some of them, and writes its other arguments and its scratch
/// buffers.
static FailureOr<rt::HostFunction> convertHostFunction(plan::HostFunctionOp op, ArrayRef<rt::Symbol> symbols) {
  rt::HostFunction function;
  function.symbol = op.getSymName().str();
  function.arguments = op.getArguments() + op.getScratch().getNumResults();
  function.access.assign(op.getInputs(), rt::Access::Read);
  function.access.resize(function.arguments, rt::Access::Write);
  for (int64_t updated : op.getUpdates().value_or(ArrayRef<int64_t>()))
    function.access[updated] = rt::Access::ReadWrite;
  if (failed(convertNumbers(op, op.getScratch(), symbols, function.scratch)) ||
      failed(convertNumbers(op, op.getSizes(), symbols, function.sizes)) ||
      failed(convertNumbers(op, op.getUnsharedScratch(), symbols, function.unsharedScratch)))
    return failure();
  if (op.getKernels())
    for (auto kernel : op.getKernelsAttr().getAsRange<plan::HostKernelAttr>())
      function.kernels.push_back(convertHostKernel(kernel));
  return function;
}

//===-- The program ---------------------------------------------------------------------------------------------===//

namespace {
class PlanReader {
public:
  PlanReader(ModuleOp module, std::shared_ptr<const void> owner)
      : module(module), owner(std::move(owner)), plan(std::make_shared<rt::Plan>()) {}

  FailureOr<std::shared_ptr<rt::Plan>> run() {
    auto programs = module.getOps<plan::ProgramOp>();
    if (!llvm::hasSingleElement(programs)) {
      InFlightDiagnostic diagnostic = module.emitError("expected one public function, but got ")
                                      << std::distance(programs.begin(), programs.end());
      for (plan::ProgramOp program : programs)
        diagnostic.attachNote(program.getLoc()) << "function '" << program.getSymName() << "'";
      return diagnostic;
    }
    plan::ProgramOp program = *programs.begin();
    FailureOr<std::vector<rt::Symbol>> symbols = findSymbols(program);
    if (failed(symbols))
      return failure();
    plan->symbols = std::move(*symbols);
    plan->conditions = convertConditions(program, plan->symbols);
    if (failed(readEngines()))
      return failure();
    plan->name = program.getSymName().str();
    Uses uses;
    if (failed(readBody(program.getBody().front(), uses)))
      return failure();
    return plan;
  }

private:
  static bool isBuffer(Operation &op) {
    return isa<plan::InputOp, plan::OutputOp, plan::ConstantOp, plan::TemporaryOp, plan::StateOp>(op);
  }

  LogicalResult readEngines() {
    for (auto op : module.getOps<plan::EngineOp>()) {
      FailureOr<rt::Engine> engine = convertEngine(op, plan->symbols);
      if (failed(engine))
        return failure();
      callees[op.getSymName()] = plan->engines.size();
      updates[op.getSymName()] = op.getUpdates().value_or(ArrayRef<int64_t>());
      plan->engines.push_back(std::move(*engine));
    }
    for (auto op : module.getOps<plan::HostFunctionOp>()) {
      FailureOr<rt::HostFunction> function = convertHostFunction(op, plan->symbols);
      if (failed(function))
        return failure();
      callees[op.getSymName()] = plan->hostCode.functions.size();
      updates[op.getSymName()] = op.getUpdates().value_or(ArrayRef<int64_t>());
      plan->hostCode.functions.push_back(std::move(*function));
    }
    for (auto op : module.getOps<plan::EngineOp>())
      if (std::optional<StringRef> name = op.getHostVersion()) // Verified by Stitch.
        plan->engines[callees[op.getSymName()]].hostVersion = static_cast<int32_t>(callees.lookup(*name));
    for (auto op : module.getOps<plan::ForeignEngineOp>()) {
      callees[op.getSymName()] = plan->foreignEngines.size();
      plan->foreignEngines.push_back({op.getSymName().str(), op.getRunner().str(), op.getPayload().str(),
                                      static_cast<uint32_t>(op.getArguments()), static_cast<uint32_t>(op.getInputs())});
    }
    for (auto op : module.getOps<plan::ObjectOp>())
      if (failed(readObject(op)))
        return failure();
    return success();
  }

  LogicalResult readObject(plan::ObjectOp op) {
    rt::HostCode &code = plan->hostCode;
    if (!code.objects.empty() && code.triple != op.getTriple())
      return op.emitOpError("expected code for '") << code.triple << "' as before, but got '" << op.getTriple() << "'";
    code.triple = op.getTriple().str();
    ArrayRef<char> raw = cast<DenseElementsAttr>(op.getCode()).getRawData();
    rt::HostObject &object = code.objects.emplace_back();
    object.cpu = op.getCpu().value_or("").str();
    object.code.assign(raw.begin(), raw.end());
    if (ArrayAttr features = op.getFeaturesAttr())
      for (StringAttr feature : features.getAsRange<StringAttr>())
        object.features.push_back(feature.str());
    return success();
  }

  LogicalResult readBuffer(Operation &op) {
    auto type = cast<plan::BufferType>(op.getResult(0).getType());
    std::optional<rt::ElementType> element = convertElement(type.getTensor().getElementType());
    if (!element)
      return op.emitOpError("expected an element type that the runtime supports, but got ") << type.getTensor();
    rt::Buffer buffer;
    buffer.space = type.getSpace() == plan::Space::device ? rt::MemorySpace::Device : rt::MemorySpace::Host;
    buffer.type.element = *element;
    buffer.type.dims.assign(type.getTensor().getShape().begin(), type.getTensor().getShape().end());
    if (AffineMapAttr dims = type.getDims()) {
      FailureOr<std::vector<rt::Expr>> sizes = convertSizes(&op, dims.getValue(), plan->symbols);
      if (failed(sizes))
        return failure();
      buffer.type.dims = std::move(*sizes);
    }
    buffer.name = op.getAttrOfType<StringAttr>("name").str();
    uint32_t number = plan->buffers.size();
    numbers[op.getResult(0)] = number;
    if (auto input = dyn_cast<plan::InputOp>(op)) {
      buffer.kind = rt::BufferKind::Input;
      buffer.index = input.getNumber();
      plan->inputs.push_back(number);
    } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
      buffer.kind = rt::BufferKind::Output;
      buffer.index = output.getNumber();
      plan->outputs.push_back(number);
    } else if (auto state = dyn_cast<plan::StateOp>(op)) {
      buffer.kind = rt::BufferKind::State;
      buffer.index = state.getNumber();
      plan->states.push_back(number);
    } else if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
      buffer.kind = rt::BufferKind::Constant;
      FailureOr<uint32_t> index = readConstant(constant);
      if (failed(index))
        return failure();
      buffer.index = *index;
    }
    plan->buffers.push_back(std::move(buffer));
    return success();
  }

  /// Returns the index of a constant in the plan. Buffers in both memories share a constant if its dims have the same
  /// order.
  FailureOr<uint32_t> readConstant(plan::ConstantOp op) {
    auto order = op->getAttrOfType<DenseI64ArrayAttr>(plan::kConstantOrderAttr);
    auto [it, inserted] = constants.try_emplace({op.getValue(), order}, plan->constants.size());
    if (!inserted)
      return it->second;
    FailureOr<rt::Constant> constant = convertConstant(op, owner);
    if (failed(constant))
      return failure();
    if (order) {
      if (!isPermutationVector(order.asArrayRef()))
        return op.emitOpError("expected '") << plan::kConstantOrderAttr << "' to have each dim once, but got " << order;
      llvm::append_range(constant->dims, op.getValue().getShapedType().getShape());
      llvm::append_range(constant->order, order.asArrayRef());
    }
    plan->constants.push_back(std::move(*constant));
    return it->second;
  }

  /// The buffers that a list of steps reads and writes, to derive the dependencies among its steps.
  struct Uses {
    llvm::DenseMap<uint32_t, uint32_t> writers;              ///< Last step that wrote each buffer.
    llvm::DenseMap<uint32_t, SmallVector<uint32_t>> readers; ///< Steps that have read each buffer since it was written.
    std::optional<uint32_t> lastCallback;
    llvm::SetVector<uint32_t> read, written; ///< By any step.
  };

  /// Reads the ops of the block of a program or step.
  LogicalResult readBody(Block &block, Uses &uses) {
    for (Operation &op : block)
      if (failed(isBuffer(op) ? readBuffer(op) : readStep(op, uses)))
        return failure();
    return success();
  }

  LogicalResult readStep(Operation &op, Uses &uses) {
    uint32_t number = plan->steps.size();
    rt::Step step;
    unsigned reads = 0;
    if (failed(describeStep(op, step, reads)))
      return failure();
    auto segment = op.getAttrOfType<IntegerAttr>(plan::kSegmentNumberAttr);
    if (segment && segment.getType().isInteger(64) && segment.getInt() >= 0 && segment.getInt() <= INT32_MAX)
      step.segment = static_cast<int32_t>(segment.getInt());
    for (StringRef call : getCalls(op.getLoc()))
      step.calls.push_back(call.str());
    for (Value buffer : op.getOperands())
      step.buffers.push_back(numbers.lookup(buffer));
    llvm::SetVector<uint32_t> read, written;
    bool writesFirst = step.kind == rt::StepKind::For; // The position.
    for (auto [i, buffer] : llvm::enumerate(step.buffers))
      (writesFirst ? i == 0 : i >= reads) ? written.insert(buffer) : read.insert(buffer);
    if (auto callee = op.getAttrOfType<FlatSymbolRefAttr>("callee"))
      for (int64_t updated : updates.lookup(callee.getValue()))
        written.insert(step.buffers[updated]);
    bool callsBack = step.kind == rt::StepKind::Callback;
    plan->steps.push_back(std::move(step));
    for (Region &region : op.getRegions()) {
      Uses inside;
      size_t first = plan->steps.size();
      if (failed(readBody(region.front(), inside)))
        return failure();
      plan->steps[number].bodies.push_back(plan->steps.size() - first);
      read.insert_range(inside.read);
      written.insert_range(inside.written);
      callsBack |= inside.lastCallback.has_value();
    }
    if (op.getNumRegions()) // Writes in a body may not happen, or may happen after a read.
      read.insert_range(written);
    addDependencies(number, read.getArrayRef(), written.getArrayRef(), uses);
    if (callsBack)
      keepInOrder(number, uses);
    return success();
  }

  /// Sets the kind and the name of the step `op`. Sets `reads` to the number of leading buffers that it reads.
  LogicalResult describeStep(Operation &op, rt::Step &step, unsigned &reads) {
    auto describeCall = [&](rt::StepKind kind, StringRef callee, unsigned inputs) {
      step.kind = kind;
      step.name = callee.str();
      step.callee = callees.lookup(callee);
      reads = inputs;
      return success();
    };
    auto describeBodies = [&](rt::StepKind kind, StringRef otherwise) {
      StringRef name = getLocationName(op.getLoc());
      step.kind = kind;
      step.name = name.empty() ? otherwise.str() : name.str();
      reads = op.getNumOperands();
      return success();
    };
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      return describeCall(rt::StepKind::LaunchEngine, launch.getCallee(), launch.getInputs().size());
    if (auto call = dyn_cast<plan::CallOp>(op))
      return describeCall(rt::StepKind::CallHost, call.getCallee(), call.getInputs().size());
    if (auto run = dyn_cast<plan::RunOp>(op))
      return describeCall(rt::StepKind::RunForeign, run.getCallee(), run.getInputs().size());
    if (isa<plan::BranchOp>(op))
      return describeBodies(rt::StepKind::Branch, "branch");
    if (isa<plan::ForOp>(op))
      return describeBodies(rt::StepKind::For, "for");
    if (auto loop = dyn_cast<plan::WhileOp>(op)) {
      step.limit = loop.getLimit();
      return describeBodies(rt::StepKind::While, "while");
    }
    if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      step.kind = rt::StepKind::Copy;
      step.name = "copy of " + plan->buffers[numbers.lookup(copy.getSource())].name;
      reads = 1;
      return success();
    }
    if (auto callback = dyn_cast<plan::CallbackOp>(op)) {
      step.kind = rt::StepKind::Callback;
      step.callee = plan->callbacks.size();
      step.name = "callback " + std::to_string(step.callee);
      reads = callback.getInputs().size();
      plan->callbacks.push_back({callback.getCallee().str(), reads});
      return convertNumbers(callback, callback.getSizes(), plan->symbols, plan->callbacks.back().sizes);
    }
    return op.emitOpError("is not a step of a program");
  }

  /// A step depends on the last writer of each buffer that it reads, and on the readers and the last writer of each
  /// buffer that it writes.
  void addDependencies(uint32_t number, ArrayRef<uint32_t> read, ArrayRef<uint32_t> written, Uses &uses) {
    llvm::SmallSetVector<uint32_t, 8> after;
    auto followWriter = [&](uint32_t buffer) {
      if (auto writer = uses.writers.find(buffer); writer != uses.writers.end())
        after.insert(writer->second);
    };
    llvm::for_each(read, followWriter);
    for (uint32_t buffer : written) {
      followWriter(buffer);
      after.insert_range(uses.readers[buffer]);
    }
    for (uint32_t buffer : read)
      uses.readers[buffer].push_back(number);
    for (uint32_t buffer : written) {
      uses.writers[buffer] = number;
      uses.readers[buffer].clear();
    }
    uses.read.insert_range(read);
    uses.written.insert_range(written);
    std::vector<uint32_t> &list = plan->steps[number].after;
    list.assign(after.begin(), after.end());
    llvm::sort(list);
  }

  /// Callbacks stay in order, because they may draw from the same random number generator.
  void keepInOrder(uint32_t number, Uses &uses) {
    std::vector<uint32_t> &after = plan->steps[number].after;
    if (uses.lastCallback && !llvm::binary_search(after, *uses.lastCallback))
      after.insert(llvm::upper_bound(after, *uses.lastCallback), *uses.lastCallback);
    uses.lastCallback = number;
  }

  ModuleOp module;
  std::shared_ptr<const void> owner;
  std::shared_ptr<rt::Plan> plan;
  llvm::StringMap<uint32_t> callees;
  llvm::StringMap<ArrayRef<int64_t>> updates; ///< Numbers of the inputs that a callee also writes.
  llvm::DenseMap<Value, uint32_t> numbers;
  llvm::DenseMap<std::pair<Attribute, Attribute>, uint32_t> constants; ///< By value and order.
};
} // namespace

FailureOr<std::shared_ptr<rt::Plan>> inlay::readPlan(ModuleOp module, std::shared_ptr<const void> owner) {
  return PlanReader(module, std::move(owner)).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the plan dialect, and verifies, parses and prints its ops. Library calls are in LibraryCall.cpp.
// Runtime/Core/Plan/PlanChecker.cpp checks a plan at load time, whoever made it.

#include "inlay/Dialect/Inlay/IR/Border.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace inlay;
using namespace inlay::plan;

/// Parses the optional fields of a kernel, in this order: `, loops = 3, constants = [1], post_ops = [<relu>]`.
static ParseResult parseHostKernelFields(AsmParser &parser, int64_t &loops, SmallVector<int64_t> &constants,
                                         SmallVector<PostOpAttr> &postOps, DictionaryAttr &config) {
  bool isNext = succeeded(parser.parseOptionalComma());
  // Parses a keyword, if it comes next, its value, and an optional comma.
  auto parseField = [&](StringRef keyword, auto parseValue) -> ParseResult {
    if (!isNext || failed(parser.parseOptionalKeyword(keyword)))
      return success();
    if (failed(parser.parseEqual()) || failed(parseValue()))
      return failure();
    isNext = succeeded(parser.parseOptionalComma());
    return success();
  };
  auto parseList = [&](auto &list) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
      auto element = FieldParser<typename std::decay_t<decltype(list)>::value_type>::parse(parser);
      if (failed(element))
        return failure();
      list.push_back(*element);
      return success();
    });
  };
  if (failed(parseField("loops", [&] { return parser.parseInteger(loops); })) ||
      failed(parseField("constants", [&] { return parseList(constants); })) ||
      failed(parseField("post_ops", [&] { return parseList(postOps); })) ||
      failed(parseField("config", [&] { return parser.parseAttribute(config); })))
    return failure();
  if (isNext)
    return parser.emitError(parser.getCurrentLocation(),
                            "expected loops, constants, post_ops or config, in this order");
  return success();
}

static void printHostKernelFields(AsmPrinter &printer, int64_t loops, ArrayRef<int64_t> constants,
                                  ArrayRef<PostOpAttr> postOps, DictionaryAttr config) {
  if (loops)
    printer << ", loops = " << loops;
  if (!constants.empty())
    printer << ", constants = [" << constants << "]";
  if (!postOps.empty()) {
    printer << ", post_ops = [";
    llvm::interleaveComma(postOps, printer, [&](PostOpAttr postOp) { printer.printStrippedAttrOrType(postOp); });
    printer << "]";
  }
  if (config)
    printer << ", config = " << config;
}

#include "inlay/Dialect/Plan/IR/PlanDialect.cpp.inc"
#include "inlay/Dialect/Plan/IR/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanTypes.cpp.inc"

#define GET_OP_CLASSES
#include "inlay/Dialect/Plan/IR/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "inlay/Dialect/Plan/IR/PlanOps.cpp.inc"
      >();
}

void PlanDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "inlay/Dialect/Plan/IR/PlanTypes.cpp.inc"
      >();
}

void PlanDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "inlay/Dialect/Plan/IR/PlanAttrs.cpp.inc"
      >();
}

/// Limit for counts that are read from text. No segment has that many buffers.
static constexpr uint64_t kMaxBuffers = 1 << 16;

LogicalResult BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, RankedTensorType tensor, Space,
                                 AffineMapAttr dims) {
  if (!tensor.getElementType().isIntOrFloat() || tensor.getEncoding())
    return emitError() << "expected a plain tensor of numbers, but got " << tensor;
  if (!dims)
    return tensor.hasStaticShape() ? success()
                                   : emitError() << "expected the dims of " << tensor << " as a map of symbols";
  AffineMap map = dims.getValue();
  if (map.getNumDims() || map.getNumResults() != tensor.getRank())
    return emitError() << "expected a map without dims and with a result for each dim of " << tensor << ", but got "
                       << dims;
  for (auto [size, expr] : llvm::zip_equal(tensor.getShape(), map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!ShapedType::isDynamic(size) && (!constant || constant.getValue() != size))
      return emitError() << "expected dims that fit " << tensor << ", but got " << dims;
  }
  return success();
}

//===-- Engines -------------------------------------------------------------------------------------------------===//

/// Checks a count that is read from text.
static LogicalResult verifyCount(Operation *op, StringRef what, uint64_t count) {
  if (count <= kMaxBuffers)
    return success();
  return op->emitOpError("expected 0 to ") << kMaxBuffers << " " << what << ", but got " << static_cast<int64_t>(count);
}

/// Checks that `map` is a list of sizes: it has no dims, and its constant results are at least `min`.
static LogicalResult verifySizes(Operation *op, StringRef name, AffineMap map, int64_t min) {
  if (map.getNumDims())
    return op->emitOpError("expected '") << name << "' to be a map without dims, but got " << AffineMapAttr::get(map);
  for (AffineExpr size : map.getResults())
    if (auto constant = dyn_cast<AffineConstantExpr>(size); constant && constant.getValue() < min)
      return op->emitOpError("expected '") << name << "' to be at least " << min << ", but got " << constant.getValue();
  return success();
}

/// Checks the numbers of the inputs that a callee also writes: ascending, and below `count`.
static LogicalResult verifyUpdates(Operation *op, std::optional<ArrayRef<int64_t>> updates, uint64_t count) {
  int64_t next = 0;
  for (int64_t number : updates.value_or(ArrayRef<int64_t>())) {
    if (number < next || number >= static_cast<int64_t>(count))
      return op->emitOpError("expected 'updates' to be ascending numbers below ") << count << ", but got " << number;
    next = number + 1;
  }
  return success();
}

LogicalResult EngineOp::verify() {
  if (failed(verifyCount(*this, "arguments", getArguments())) ||
      failed(verifyUpdates(*this, getUpdates(), getArguments())))
    return failure();
  for (Operation &op : getBody().front())
    if (!isa<KernelOp, DispatchOp>(op))
      return emitOpError("expected only kernels and dispatches, but got ") << op.getName();
  return verifySizes(*this, "scratch", getScratch(), 1);
}

/// Checks the number of arguments and the number of inputs, which are the first arguments.
static LogicalResult verifyArguments(Operation *op, uint64_t arguments, uint64_t inputs) {
  if (failed(verifyCount(op, "arguments", arguments)))
    return failure();
  if (inputs > arguments)
    return op->emitOpError("expected at most as many inputs as arguments (")
           << arguments << "), but got " << static_cast<int64_t>(inputs);
  return success();
}

/// Checks the numbers, if any, that a callee receives in addition to its buffers.
static LogicalResult verifyNumbers(Operation *op, std::optional<AffineMap> sizes) {
  return sizes ? verifySizes(op, "sizes", *sizes, std::numeric_limits<int64_t>::min()) : success();
}

LogicalResult HostFunctionOp::verify() {
  if (failed(verifyArguments(*this, getArguments(), getInputs())) || failed(verifyNumbers(*this, getSizes())) ||
      failed(verifyUpdates(*this, getUpdates(), getInputs())))
    return failure();
  if (std::optional<AffineMap> unshared = getUnsharedScratch()) {
    if (unshared->getNumResults() != 1)
      return emitOpError("expected 'unshared_scratch' to be one number, but got ") << unshared->getNumResults();
    if (failed(verifySizes(*this, "unshared_scratch", *unshared, 1)))
      return failure();
  }
  return verifySizes(*this, "scratch", getScratch(), 1);
}

LogicalResult ForeignEngineOp::verify() {
  if (getRunner().empty())
    return emitOpError("expected the name of a runner, but got an empty string");
  return verifyArguments(*this, getArguments(), getInputs());
}

LogicalResult ObjectOp::verify() {
  if (!isa<DenseElementsAttr>(getCode()) || !getCode().getElementType().isInteger(8))
    return emitOpError("expected code as a dense list of bytes, but got ") << getCode().getType();
  return success();
}

LogicalResult KernelOp::verify() {
  if (!llvm::all_of(getBindings(), llvm::IsaPred<AccessAttr>))
    return emitOpError("expected bindings to be accesses, but got ") << getBindings();
  if (std::optional<ArrayAttr> kinds = getKinds()) {
    if (kinds->size() != getBindings().size() || !llvm::all_of(*kinds, llvm::IsaPred<BindingKindAttr>))
      return emitOpError("expected a kind for each of ") << getBindings().size() << " bindings, but got " << *kinds;
    for (auto [kind, access] : llvm::zip_equal(*kinds, getBindings()))
      if (cast<BindingKindAttr>(kind).getValue() != BindingKind::storage &&
          cast<AccessAttr>(access).getValue() != Access::read)
        return emitOpError("expected texel buffers to be read only, but got ") << access;
  }
  if (getBlock().size() != 3 || llvm::any_of(getBlock(), [](int64_t size) { return size < 1; }))
    return emitOpError("expected three positive block sizes, but got [") << getBlock() << "]";
  if (!isa<DenseElementsAttr>(getSpirv()) || !getSpirv().getElementType().isInteger(32))
    return emitOpError("expected SPIR-V as a dense list of 32-bit words, but got ") << getSpirv().getType();
  return verifyCount(*this, "push constants", getPushConstants());
}

LogicalResult DispatchOp::verify() {
  auto engine = cast<EngineOp>((*this)->getParentOp());
  auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(engine, getKernelAttr()));
  if (!kernel)
    return emitOpError("expected a kernel of this engine, but got ") << getKernelAttr();
  if (getBuffers().size() != kernel.getBindings().size())
    return emitOpError("expected ") << kernel.getBindings().size() << " buffers, but got " << getBuffers().size();
  int64_t count = engine.getArguments() + engine.getScratch().getNumResults();
  for (int64_t buffer : getBuffers())
    if (buffer < 0 || buffer >= count)
      return emitOpError("expected numbers of the engine's ") << count << " buffers, but got " << buffer;
  if (getGrid().getNumResults() != 3)
    return emitOpError("expected a grid of three sizes, but got ") << getGrid().getNumResults();
  if (getPushConstants().getNumResults() != static_cast<unsigned>(kernel.getPushConstants()))
    return emitOpError("expected ") << kernel.getPushConstants() << " push constants, but got "
                                    << getPushConstants().getNumResults();
  return success(succeeded(verifySizes(*this, "grid", getGrid(), 1)) &&
                 succeeded(verifySizes(*this, "push_constants", getPushConstants(), 0)));
}

//===-- Calls and buffers ---------------------------------------------------------------------------------------===//

LogicalResult InvokeOp::verify() {
  if (!getUpdates())
    return success();
  if (getUpdates()->size() != getNumResults())
    return emitOpError("expected 'updates' to have a number for each of ")
           << getNumResults() << " results, but got " << getUpdates()->size();
  for (auto [number, input] : llvm::enumerate(*getUpdates())) {
    if (input < -1 || input >= static_cast<int64_t>(getInputs().size()))
      return emitOpError("expected 'updates' to have numbers of inputs or -1, but got ") << input;
    if (input >= 0 && getInputs()[input].getType() != getResult(number).getType())
      return emitOpError("expected result ")
             << number << " to have the type of the input that it replaces, " << getInputs()[input].getType()
             << ", but got " << getResult(number).getType();
  }
  return success();
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  SmallVector<int64_t> updated; // Inputs that results replace in their memory.
  for (unsigned result = 0; result < getNumResults(); ++result)
    if (int64_t input = getUpdated(result); input >= 0)
      updated.push_back(input);
  llvm::sort(updated);
  uint64_t inputs = getInputs().size(), outputs = getOutputs().size() - updated.size();
  auto verifyUpdated = [&](std::optional<ArrayRef<int64_t>> expected) -> LogicalResult {
    if (expected.value_or(ArrayRef<int64_t>()) == ArrayRef(updated))
      return success();
    return emitOpError("expected 'updates' to name the inputs that ")
           << getCalleeAttr() << " updates, [" << expected.value_or(ArrayRef<int64_t>()) << "], but got [" << updated
           << "]";
  };
  if (auto engine = dyn_cast_or_null<EngineOp>(callee)) {
    if (engine.getArguments() != inputs + outputs)
      return emitOpError("expected ") << engine.getArguments() << " inputs and results for the engine "
                                      << getCalleeAttr() << ", but got " << inputs + outputs;
    return verifyUpdated(engine.getUpdates());
  }
  auto verifyCounts = [&](uint64_t expected, uint64_t arguments, StringRef what) -> LogicalResult {
    if (expected == inputs && arguments == inputs + outputs)
      return success();
    return emitOpError("expected ") << expected << " inputs and " << arguments - expected << " results for the " << what
                                    << " " << getCalleeAttr() << ", but got " << inputs << " and " << outputs;
  };
  if (auto host = dyn_cast_or_null<HostFunctionOp>(callee))
    return failed(verifyUpdated(host.getUpdates()))
               ? failure()
               : verifyCounts(host.getInputs(), host.getArguments(), "host function");
  if (auto foreign = dyn_cast_or_null<ForeignEngineOp>(callee))
    return verifyCounts(foreign.getInputs(), foreign.getArguments(), "foreign engine");
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!function)
    return emitOpError("expected ") << getCalleeAttr() << " to be a segment's function, engine or host function";
  auto areRepresentedBy = [](TypeRange values, ArrayRef<Type> types) {
    return llvm::equal(values, types,
                       [](Type value, Type type) { return value == type || getBorderType(value) == type; });
  };
  if (!areRepresentedBy(getInputs().getTypes(), function.getArgumentTypes()) ||
      !areRepresentedBy(getOutputs().getTypes(), function.getResultTypes()))
    return emitOpError("expected the types of ") << getCalleeAttr() << ", " << function.getFunctionType();
  return success();
}

LogicalResult FrameworkCallOp::verify() { return verifyNumbers(*this, getSizes()); }

//===-- The program ---------------------------------------------------------------------------------------------===//

/// Checks that `map` uses only symbols of the program, of which there are `count`.
static LogicalResult verifySymbols(Operation *op, AffineMapAttr map, unsigned count) {
  if (!map || map.getValue().getNumSymbols() <= count)
    return success();
  return op->emitOpError("expected at most the program's ") << count << " symbols, but got " << map;
}

LogicalResult ProgramOp::verify() {
  auto symbols = (*this)->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr);
  unsigned count = symbols ? symbols.size() : 0;
  WalkResult walked = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto buffer = dyn_cast<BufferType>(type); buffer && failed(verifySymbols(op, buffer.getDims(), count)))
        return WalkResult::interrupt();
    if (auto callback = dyn_cast<CallbackOp>(op))
      if (failed(verifyNumbers(callback, callback.getSizes())) ||
          failed(verifySymbols(callback, callback.getSizesAttr(), count)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Checks that `buffer` is a single integer of `bits` bits in host memory.
static LogicalResult verifyNumber(Operation *op, StringRef what, BufferType buffer, unsigned bits) {
  RankedTensorType tensor = buffer.getTensor();
  if (tensor.getRank() == 0 && tensor.getElementType().isInteger(bits) && buffer.getSpace() == Space::host)
    return success();
  return op->emitOpError("expected ") << what << " to be a tensor<i" << bits << "> in host memory, but got " << buffer;
}

LogicalResult BranchOp::verify() { return verifyNumber(*this, "the condition", getCondition().getType(), 1); }

LogicalResult WhileOp::verify() {
  if (static_cast<int64_t>(getLimit()) < 0)
    return emitOpError("expected a limit of at least 0, but got ") << static_cast<int64_t>(getLimit());
  return verifyNumber(*this, "the condition", getCondition().getType(), 1);
}

LogicalResult ForOp::verify() { return verifyNumber(*this, "the position", getPosition().getType(), 64); }

LogicalResult plan::ConstantOp::verify() {
  if (getValue().getType() != getBuffer().getType().getTensor())
    return emitOpError("expected a buffer of the value's type, ")
           << getValue().getType() << ", but got " << getBuffer().getType();
  return success();
}

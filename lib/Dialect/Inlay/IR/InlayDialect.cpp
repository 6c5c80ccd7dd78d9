// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect and verifies its discardable attributes on functions, arguments and ops (`inlay.targets`,
// `inlay.symbols`, dims, ...). InlayAttrs.cpp verifies attributes of the dialect's own kinds.

#include "inlay/Dialect/Inlay/IR/CallReason.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

#include "inlay/Dialect/Inlay/IR/InlayDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayTypes.cpp.inc"

/// The generated reader of properties ignores unknown ones. On an opaque op this would lose effects, so they are
/// errors.
template <>
LogicalResult RegisteredOperationName::Model<OpaqueOp>::setPropertiesFromAttr(
    OperationName, OpaqueProperties properties, Attribute value, function_ref<InFlightDiagnostic()> emitError) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    for (NamedAttribute property : dictionary)
      if (!llvm::is_contained(OpaqueOp::getAttributeNames(), property.getName()))
        return emitError() << "unknown property '" << property.getName().getValue() << "' of 'inlay.opaque'";
  return OpaqueOp::setPropertiesFromAttr(*properties.as<OpaqueOp::Properties *>(), value, emitError);
}

SmallVector<Attribute> InlayDialect::getDefaultTargets() const {
  return llvm::to_vector(llvm::make_second_range(defaultTargets));
}

void InlayDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "inlay/Dialect/Inlay/IR/InlayOps.cpp.inc"
      >();
}

void InlayDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "inlay/Dialect/Inlay/IR/InlayTypes.cpp.inc"
      >();
}

Operation *InlayDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

LogicalResult ObjectType::verify(function_ref<InFlightDiagnostic()> emitError, StringRef kind) {
  if (kind.empty())
    return emitError() << "expected the kind of a framework value, but got an empty string";
  return success();
}

//===-- Discardable attributes --------------------------------------------------------------------------------===//

static LogicalResult verifyTargets(Operation *op, Attribute value) {
  if (!isa<ModuleOp>(op))
    return op->emitError("expected 'inlay.targets' on a module, but got it on '") << op->getName() << "'";
  auto targets = dyn_cast<ArrayAttr>(value);
  if (!targets || targets.empty())
    return op->emitError("expected 'inlay.targets' to be a non-empty array of targets, but got ") << value;
  llvm::StringSet<> names;
  for (Attribute target : targets) {
    auto interface = dyn_cast<TargetAttrInterface>(target);
    if (!interface)
      return op->emitError("expected each of 'inlay.targets' to be a target, but got ") << target;
    if (!names.insert(interface.getTargetName()).second)
      return op->emitError("expected targets of different names, but got '") << interface.getTargetName() << "' twice";
  }
  return success();
}

static LogicalResult verifyRefused(Operation *op, Attribute value) {
  auto refused = dyn_cast<DictionaryAttr>(value);
  if (!refused)
    return op->emitError("expected 'inlay.refused' to be a dictionary, but got ") << value;
  for (NamedAttribute entry : refused)
    if (!isa<StringAttr>(entry.getValue()))
      return op->emitError("expected a string as the reason of '")
             << entry.getName().getValue() << "' in 'inlay.refused', but got " << entry.getValue();
  return success();
}

/// Verifies that an op declared constant has results, but no operands or regions.
static LogicalResult verifyConstant(Operation *op, Attribute value) {
  if (!isa<UnitAttr>(value))
    return op->emitError("expected 'inlay.constant' to be a unit attribute, but got ") << value;
  if (op->getNumOperands() || op->getNumRegions() || !op->getNumResults())
    return op->emitError("expected 'inlay.constant' on an op with results and without operands or regions");
  return success();
}

static LogicalResult verifyOperandNumbers(Operation *op, StringRef name, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  if (!numbers)
    return op->emitError("expected '") << name << "' to be an array<i64>, but got " << value;
  if (!op->hasAttr(kWritesAttr))
    return op->emitError("expected '") << name << "' only together with 'inlay.writes'";
  for (int64_t number : numbers.asArrayRef())
    if (number < 0 || number >= op->getNumOperands())
      return op->emitError("expected '") << name << "' to contain numbers of the op's " << op->getNumOperands()
                                         << " operands, but got " << number;
  return success();
}

static LogicalResult verifySymbols(Operation *op, Attribute value) {
  auto symbols = dyn_cast<ArrayAttr>(value);
  if (!symbols || !llvm::all_of(symbols, llvm::IsaPred<SymbolAttr>))
    return op->emitError("expected 'inlay.symbols' to be an array of #inlay.symbol, but got ") << value;
  llvm::StringSet<> names;
  for (auto symbol : symbols.getAsRange<SymbolAttr>())
    if (!names.insert(symbol.getName()).second)
      return op->emitError("expected symbols of different names, but got '") << symbol.getName() << "' twice";
  return success();
}

/// Verifies that conditions are arrays of sets of the symbols of the function or program.
static LogicalResult verifyConditions(Operation *op, Attribute value) {
  auto symbols = op->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr);
  size_t count = symbols ? symbols.size() : 0;
  auto isAlternative = [&](Attribute attribute) {
    auto set = dyn_cast<IntegerSetAttr>(attribute);
    return set && set.getValue().getNumDims() == 0 && set.getValue().getNumSymbols() <= count &&
           set.getValue().getNumConstraints() > 0;
  };
  auto conditions = dyn_cast<ArrayAttr>(value);
  if (conditions && llvm::all_of(conditions, [&](Attribute condition) {
        auto alternatives = dyn_cast<ArrayAttr>(condition);
        return alternatives && !alternatives.empty() && llvm::all_of(alternatives, isAlternative);
      }))
    return success();
  return op->emitError("expected 'inlay.conditions' to be an array of arrays of sets of the ")
         << count << " symbols in 'inlay.symbols', but got " << value;
}

/// Verifies that there is a map of symbols for each result. On a segment, the maps of the inputs come first.
static LogicalResult verifyDims(Operation *op, Attribute value) {
  auto dims = dyn_cast<ArrayAttr>(value);
  if (!dims || !llvm::all_of(dims, [](Attribute map) {
        return isa<AffineMapAttr>(map) && cast<AffineMapAttr>(map).getValue().getNumDims() == 0;
      }))
    return op->emitError("expected 'inlay.dims' to be an array of maps without dims, but got ") << value;
  size_t wanted = op->getNumResults() + (isa<SegmentOp>(op) ? op->getNumOperands() : 0);
  if (dims.size() != wanted)
    return op->emitError("expected 'inlay.dims' to have ") << wanted << " maps, but got " << dims.size();
  return success();
}

static LogicalResult verifyMaxLoopIterations(Operation *op, Attribute value) {
  auto limit = dyn_cast<IntegerAttr>(value);
  if (limit && limit.getType().isSignlessInteger(64) && limit.getInt() >= 0)
    return success();
  return op->emitError("expected '") << InlayDialect::kMaxLoopIterationsAttr << "' to be an i64 of at least 0, but got "
                                     << value;
}

/// Verifies that the last arguments and the last results of a function are states of the same types.
static LogicalResult verifyStates(Operation *op, Attribute value) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto states = dyn_cast<IntegerAttr>(value);
  if (!function || !states || !states.getType().isSignlessInteger(64) || states.getInt() < 0)
    return op->emitError("expected 'inlay.states' to be an i64 of at least 0 on a function, but got ") << value;
  ArrayRef<Type> arguments = function.getArgumentTypes(), results = function.getResultTypes();
  uint64_t count = states.getInt();
  if (count > arguments.size() || count > results.size())
    return op->emitError("expected at least ") << count << " arguments and results, which are states, but got "
                                               << arguments.size() << " and " << results.size();
  for (auto [number, argument, result] : llvm::enumerate(arguments.take_back(count), results.take_back(count)))
    if (!isa<RankedTensorType>(argument) || argument != result)
      return op->emitError("expected state ")
             << number << " to be a tensor and to keep its type, but got " << argument << " and " << result;
  return success();
}

LogicalResult InlayDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kTargetsAttr)
    return verifyTargets(op, value);
  if (name == kTargetAttr || name == kWeightsAttr || name == kCallReasonAttr)
    return isa<StringAttr>(value) ? success()
                                  : op->emitError("expected '") << name << "' to be a string, but got " << value;
  if (name == kRefusedAttr)
    return verifyRefused(op, value);
  if (name == kNeutralAttr || name == kCloneAttr || name == kDoNotMergeAttr || name == kUnpackedAttr)
    return isa<UnitAttr>(value) ? success()
                                : op->emitError("expected '") << name << "' to be a unit attribute, but got " << value;
  if (name == kConstantAttr)
    return verifyConstant(op, value);
  if (name == kWritesAttr || name == kAliasesAttr)
    return verifyOperandNumbers(op, name, value);
  if (name == kOrderAttr || name == kSizeAttr)
    return isa<IntegerAttr>(value) ? success()
                                   : op->emitError("expected '") << name << "' to be an integer, but got " << value;
  if (name == kWitnessAttr || name == kSignatureAttr)
    return isa<ArrayAttr>(value) ? success()
                                 : op->emitError("expected '") << name << "' to be an array, but got " << value;
  if (name == kSignaturesAttr) {
    auto parts = dyn_cast<ArrayAttr>(value);
    return parts && llvm::all_of(parts, llvm::IsaPred<DictionaryAttr>)
               ? success()
               : op->emitError("expected '") << name << "' to be an array of dictionaries, but got " << value;
  }
  if (name == kPartitionAttr || name == kCostModelAttr)
    return isa<DictionaryAttr>(value)
               ? success()
               : op->emitError("expected '") << name << "' to be a dictionary, but got " << value;
  if (name == kSymbolsAttr)
    return verifySymbols(op, value);
  if (name == kConditionsAttr)
    return verifyConditions(op, value);
  if (name == kStatesAttr)
    return verifyStates(op, value);
  if (name == kDimsAttr)
    return verifyDims(op, value);
  if (name == kMaxLoopIterationsAttr)
    return verifyMaxLoopIterations(op, value);
  if (name == kVerdictAttr)
    return isa<VerdictAttr>(value) ? success()
                                   : op->emitError("expected '") << name << "' to be a verdict, but got " << value;
  return op->emitError("unknown attribute '") << name << "' of the inlay dialect";
}

static LogicalResult verifyLength(Operation *op, unsigned argument, Attribute value) {
  // Partitioning creates a value for each element.
  constexpr int64_t kMax = 1 << 20;
  auto length = dyn_cast<IntegerAttr>(value);
  if (!length || !length.getType().isSignlessInteger(64) || length.getInt() < 1 || length.getInt() > kMax)
    return op->emitError("expected '") << kLengthAttr << "' of argument " << argument << " to be an i64 from 1 to "
                                       << kMax << ", but got " << value;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !isa<ListType>(function.getArgumentTypes()[argument]))
    return op->emitError("expected '") << kLengthAttr << "' on an argument that is a list, but argument " << argument
                                       << " is not";
  return success();
}

/// Verifies the dims of an argument or result: a map of the function's symbols with a result for each dim, which agrees
/// with the static dims.
static LogicalResult verifyBorderDims(Operation *op, StringRef what, unsigned argument, Type valueType,
                                      Attribute value) {
  auto dims = dyn_cast<AffineMapAttr>(value);
  if (!dims || dims.getValue().getNumDims())
    return op->emitError("expected '") << InlayDialect::kDimsAttr << "\' of " << what << " " << argument
                                       << " to be a map without dims, but got " << value;
  AffineMap map = dims.getValue();
  auto type = dyn_cast<ShapedType>(valueType);
  if (!type || !type.hasRank() || type.getRank() != map.getNumResults())
    return op->emitError("expected '") << InlayDialect::kDimsAttr << "\' of " << what << " " << argument
                                       << " to have a result for each of its dims, but got " << value;
  for (auto [size, expr] : llvm::zip_equal(type.getShape(), map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!ShapedType::isDynamic(size) && (!constant || constant.getValue() != size))
      return op->emitError("expected '") << InlayDialect::kDimsAttr << "\' of " << what << " " << argument << " to fit "
                                         << type << ", but got " << value;
  }
  auto symbols = op->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr);
  if (map.getNumSymbols() > (symbols ? symbols.size() : 0))
    return op->emitError("expected '") << InlayDialect::kDimsAttr << "\' of " << what << " " << argument
                                       << " to use the function's symbols, but got " << value;
  return success();
}

LogicalResult InlayDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kLengthAttr)
    return verifyLength(op, argument, attribute.getValue());
  if (auto function = dyn_cast<FunctionOpInterface>(op); function && attribute.getName() == kDimsAttr)
    return verifyBorderDims(op, "argument", argument, function.getArgumentTypes()[argument], attribute.getValue());
  return op->emitError("unknown attribute '")
         << attribute.getName().getValue() << "' on argument " << argument << " of '" << op->getName() << "'";
}

LogicalResult InlayDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                        NamedAttribute attribute) {
  if (auto function = dyn_cast<FunctionOpInterface>(op); function && attribute.getName() == kDimsAttr)
    return verifyBorderDims(op, "result", result, function.getResultTypes()[result], attribute.getValue());
  return op->emitError("unknown attribute '")
         << attribute.getName().getValue() << "' on result " << result << " of '" << op->getName() << "'";
}

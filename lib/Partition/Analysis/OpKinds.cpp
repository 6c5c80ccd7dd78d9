// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers questions about a single op: constant, control flow, cheap to clone, effects, and whether its values may
// cross a border. Decide/CloneRules.cpp decides on clones in a graph.

#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"
#include "inlay/Partition/OpInterface.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

#include "inlay/Partition/OpInterface.cpp.inc"

namespace {
enum class Kind { Other, Layout, Make, Read, Change, View };
} // namespace

static llvm::StringMap<Kind> makeKinds() {
  llvm::StringMap<Kind> kinds;
  auto add = [&](Kind kind, std::initializer_list<StringRef> names) {
    for (StringRef name : names)
      kinds[name] = kind;
  };
  add(Kind::Layout, {"view", "_unsafe_view", "view_as", "reshape", "reshape_as", "permute", "transpose", "t"});
  add(Kind::Layout, {"dequantize"}); // of weights: a border would carry floats instead of codes
  add(Kind::Layout, {"expand", "expand_as", "squeeze", "unsqueeze", "flatten", "unflatten", "alias", "detach"});
  add(Kind::Make, {"ListConstruct", "TupleConstruct"});
  add(Kind::Read, {"ListUnpack", "TupleUnpack", "TupleIndex", "getitem", "__getitem__"});
  add(Kind::Change, {"append", "extend", "insert", "_set_item", "__setitem__", "setitem"});
  add(Kind::Change, {"clear", "reverse", "pop", "Delete", "remove"});
  add(Kind::View, {"size", "sizes", "sym_size", "shape", "stride", "sym_stride"});
  add(Kind::View, {"split", "split_with_sizes", "tensor_split", "unsafe_split", "unsafe_split_with_sizes"});
  add(Kind::View, {"chunk", "unsafe_chunk", "unbind", "hsplit", "vsplit", "dsplit"});
  return kinds;
}

/// Classifies a framework call by its name without namespace and overload.
static Kind classify(StringRef name) {
  static const llvm::StringMap<Kind> kinds = makeKinds();
  name = name.substr(name.rfind(':') + 1);
  for (StringRef space : {"aten.", "prim.", "_operator.", "operator."})
    if (name.consume_front(space))
      break;
  auto it = kinds.find(name.take_until([](char c) { return c == '.'; }));
  return it == kinds.end() ? Kind::Other : it->second;
}

static Kind classify(Operation *op) {
  if (isa<ListOp>(op))
    return Kind::Make;
  auto opaque = dyn_cast<OpaqueOp>(op);
  if (!opaque) // Ops of other dialects too, such as tosa.transpose.
    return op->getNumRegions() == 0 && classify(op->getName().stripDialect()) == Kind::Layout && isMemoryEffectFree(op)
               ? Kind::Layout
               : Kind::Other;
  if (opaque.getInOrder())
    return Kind::Other;
  Kind kind = classify(opaque.getName());
  ArrayRef<int64_t> writes = opaque.getWrites().value_or(ArrayRef<int64_t>());
  auto isOnCollection = [&] {
    return op->getNumOperands() > 0 && isa<ListType, TupleType, ObjectType>(op->getOperand(0).getType());
  };
  switch (kind) {
  case Kind::Make:
    return writes.empty() && op->getNumResults() == 1 ? kind : Kind::Other;
  case Kind::Read:
    return writes.empty() ? (isOnCollection() ? kind : Kind::Layout) : Kind::Other;
  case Kind::Change:
    return writes == ArrayRef<int64_t>{0} && isOnCollection() ? kind : Kind::Other;
  default:
    return writes.empty() ? kind : Kind::Other;
  }
}

CollectionUse inlay::getCollectionUse(Operation *op) {
  switch (classify(op)) {
  case Kind::Make:
    return CollectionUse::Makes;
  case Kind::Read:
    return CollectionUse::Reads;
  case Kind::Change:
    return CollectionUse::Changes;
  default:
    return CollectionUse::None;
  }
}

bool inlay::isConstantLike(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (op->getNumOperands() || op->getNumRegions())
    return false;
  auto interface = dyn_cast<PartitionOpInterface>(op);
  return op->hasAttr(kConstantAttr) || (interface && interface.isConstant());
}

bool inlay::isControlFlow(Operation *op) {
  return op->getNumRegions() > 0 && isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
         llvm::all_of(op->getRegions(), [](Region &region) { return region.empty() || region.hasOneBlock(); });
}

bool inlay::isCheapToClone(Operation *op) {
  if (auto interface = dyn_cast<PartitionOpInterface>(op); interface && interface.isCheapToClone())
    return true;
  return classify(op) != Kind::Other;
}

PartitionOpInfo inlay::findFacts(Operation *op) {
  Kind kind = classify(op);
  auto interface = dyn_cast<PartitionOpInterface>(op);
  PartitionOpInfo facts{};
  for (NamedAttribute mark : op->getDiscardableAttrs()) { // There are few attributes, so one loop is cheapest.
    facts.isNeutral |= mark.getName() == InlayDialect::kNeutralAttr;
    facts.isPinned |= mark.getName() == InlayDialect::kTargetAttr;
    facts.isIsolated |= mark.getName() == InlayDialect::kDoNotMergeAttr;
  }
  facts.isControlFlow = isControlFlow(op);
  facts.isLayout = kind == Kind::Layout;
  facts.isNeutral |= (kind != Kind::Other && kind != Kind::View) || (interface && interface.isNeutral());
  facts.isCheapToClone = kind != Kind::Other || (interface && interface.isCheapToClone());
  facts.makesNonTensor =
      kind == Kind::Change || llvm::any_of(op->getResultTypes(), [](Type type) { return !mayCrossBorder(type); });
  return facts;
}

std::optional<StatedEffects> inlay::getStatedEffects(Operation *op) {
  constexpr ArrayRef<int64_t> none;
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return StatedEffects{opaque.getWrites().value_or(none), opaque.getAliases().value_or(none), opaque.getInOrder()};
  StatedEffects effects;
  auto interface = dyn_cast<PartitionOpInterface>(op);
  if (auto writes = op->getAttrOfType<DenseI64ArrayAttr>(kWritesAttr)) {
    auto aliases = op->getAttrOfType<DenseI64ArrayAttr>(kAliasesAttr);
    effects = {writes, aliases ? aliases.asArrayRef() : none};
  } else if (interface && interface.statesEffects()) {
    effects = {interface.getWrittenOperands(), interface.getAliasedOperands()};
  } else {
    return std::nullopt;
  }
  for (int64_t number : llvm::concat<const int64_t>(effects.writes, effects.aliases))
    if (number < 0 || number >= op->getNumOperands())
      return std::nullopt; // The statement does not fit the op.
  return effects;
}

bool inlay::mayAccessAnything(Operation *op) {
  return !getStatedEffects(op) && !isa<MemoryEffectOpInterface>(op) &&
         !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !op->hasTrait<OpTrait::IsTerminator>() &&
         !isConstantLike(op);
}

bool inlay::mayCrossBorder(Type type) { return isa<TensorType, BaseMemRefType>(type) || type.isIntOrIndexOrFloat(); }

std::optional<int64_t> inlay::countBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  auto tensor = dyn_cast<ShapedType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  Type element = tensor.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  std::optional<int64_t> bytes = countBytes(element);
  if (!bytes)
    return std::nullopt;
  int64_t total = isa<ComplexType>(tensor.getElementType()) ? 2 * *bytes : *bytes;
  for (int64_t size : tensor.getShape())
    if (llvm::MulOverflow(total, size, total))
      return std::nullopt;
  return total;
}

StringRef inlay::getLabel(Operation *op) { return getLocationName(op->getLoc()); }
StringAttr inlay::getLabelAttr(Operation *op) { return getLocationNameAttr(op->getLoc()); }

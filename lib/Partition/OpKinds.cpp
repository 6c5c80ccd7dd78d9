// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"
#include "inlay/Partition/OpInterface.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

#include "inlay/Partition/OpInterface.cpp.inc"

namespace {
enum class Kind { Other, Layout, Collection };
} // namespace

/// Framework calls by name, without namespace and overload.
static Kind classify(StringRef name) {
  name = name.substr(name.rfind(':') + 1);
  name.consume_front("aten.");
  name.consume_front("prim.");
  name.consume_front("operator.");
  return llvm::StringSwitch<Kind>(name.split('.').first)
      .Cases({"view", "_unsafe_view", "view_as", "reshape", "reshape_as", "permute", "transpose", "t"}, Kind::Layout)
      .Cases({"expand", "expand_as", "squeeze", "unsqueeze", "flatten", "unflatten", "alias", "detach"}, Kind::Layout)
      .Cases({"ListConstruct", "ListUnpack", "TupleConstruct", "TupleUnpack", "TupleIndex", "getitem", "__getitem__"},
             Kind::Collection)
      .Default(Kind::Other);
}

static Kind classify(Operation *op) {
  if (isa<ReshapeOp, PermuteOp, ExpandOp>(op))
    return Kind::Layout;
  if (isa<ListOp>(op))
    return Kind::Collection;
  if (auto opaque = dyn_cast<OpaqueOp>(op); opaque && opaque.getWrites().value_or(ArrayRef<int64_t>()).empty())
    return classify(opaque.getName());
  return Kind::Other;
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

bool inlay::isNeutral(Operation *op) {
  if (auto interface = dyn_cast<PartitionOpInterface>(op); interface && interface.isNeutral())
    return true;
  return op->hasAttr(InlayDialect::kNeutralAttr) || classify(op) != Kind::Other;
}

bool inlay::isCheapToClone(Operation *op) {
  if (auto interface = dyn_cast<PartitionOpInterface>(op); interface && interface.isCheapToClone())
    return true;
  return classify(op) == Kind::Collection;
}

std::optional<StatedEffects> inlay::getStatedEffects(Operation *op) {
  constexpr ArrayRef<int64_t> none;
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return StatedEffects{opaque.getWrites().value_or(none), opaque.getAliases().value_or(none)};
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
      return std::nullopt; // whoever says so doesn't know the op
  return effects;
}

bool inlay::mayTouchAnything(Operation *op) {
  return !getStatedEffects(op) && !isa<MemoryEffectOpInterface>(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         !op->hasTrait<OpTrait::IsTerminator>() && !isConstantLike(op);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

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

bool inlay::isConstantLike(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

bool inlay::isControlFlow(Operation *op) {
  return op->getNumRegions() > 0 && isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
         llvm::all_of(op->getRegions(), [](Region &region) { return region.empty() || region.hasOneBlock(); });
}

bool inlay::isNeutral(Operation *op) { return op->hasAttr(InlayDialect::kNeutralAttr) || classify(op) != Kind::Other; }

bool inlay::isCheapToClone(Operation *op) { return classify(op) == Kind::Collection; }

bool inlay::mayTouchAnything(Operation *op) {
  return !isa<MemoryEffectOpInterface>(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         !op->hasTrait<OpTrait::IsTerminator>() && !isConstantLike(op);
}

bool inlay::mayCrossBorder(Type type) { return isa<TensorType>(type) || type.isIntOrIndexOrFloat(); }

std::optional<int64_t> inlay::countBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  auto tensor = dyn_cast<RankedTensorType>(type);
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

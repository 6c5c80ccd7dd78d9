// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

StringRef inlay::getReportedName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<OpaqueOp, PluginOp>([](auto named) { return named.getName(); })
      .Default([](Operation *other) { return other->getName().getStringRef(); });
}

/// `aten::add.Tensor` and `aten.add.Tensor` become "aten", "add.Tensor"; a name without namespace stays whole.
static std::pair<StringRef, StringRef> splitNamespace(StringRef name) {
  if (auto [space, rest] = name.split("::"); !rest.empty())
    return {space, rest};
  if (auto [space, rest] = name.split('.'); !rest.empty())
    return {space, rest};
  return {"", name};
}

/// True if the user's `wanted` covers `actual`: the same op, and the same overload unless `wanted` leaves it out, where
/// no overload is the overload `default`.
static bool coversOverload(StringRef wanted, StringRef actual) {
  auto [wantedOp, wantedOverload] = wanted.split('.');
  auto [actualOp, actualOverload] = actual.split('.');
  auto overload = [](StringRef name) { return name.empty() ? "default" : name; };
  return wantedOp == actualOp && (!wanted.contains('.') || overload(wantedOverload) == overload(actualOverload));
}

bool inlay::matchesName(Operation *op, StringRef name) {
  StringRef reported = getReportedName(op);
  if (name == reported || name == op->getName().getStringRef())
    return true;
  auto [space, wanted] = splitNamespace(name);
  if (isa<OpaqueOp, PluginOp>(op)) {
    auto [actualSpace, actual] = splitNamespace(reported);
    return space == actualSpace && coversOverload(wanted, actual);
  }
  auto named = dyn_cast<AtenNamedOpInterface>(op);
  if (!named)
    return false;
  return llvm::any_of(named.getAtenNames(), [&, space = space, wanted = wanted](StringRef aten) {
    auto [actualSpace, actual] =
        aten.contains("::") ? splitNamespace(aten) : std::pair(StringRef("aten"), StringRef(aten));
    return space == actualSpace && coversOverload(wanted, actual);
  });
}

StringAttr inlay::getLocationNameAttr(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringAttr name = getLocationNameAttr(part); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getLocationNameAttr(call.getCallee());
  return StringAttr::get(loc.getContext());
}

StringRef inlay::getLocationName(Location loc) { return getLocationNameAttr(loc).getValue(); }

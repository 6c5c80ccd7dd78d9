// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches an op with a name that a user wrote, and reads names from locations. Origin.cpp finds the calls that an op
// came from. Partition/Analysis/NameRules.cpp applies the names in options to a module.

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

/// Splits `aten::add.Tensor` and `aten.add.Tensor` into "aten" and "add.Tensor". A name without a namespace stays
/// whole.
static std::pair<StringRef, StringRef> splitNamespace(StringRef name) {
  if (auto [space, rest] = name.split("::"); !rest.empty())
    return {space, rest};
  if (auto [space, rest] = name.split('.'); !rest.empty())
    return {space, rest};
  return {"", name};
}

/// Returns true if the user's `wanted` covers `actual`: the same op and, unless `wanted` leaves it out, the same
/// overload. A missing overload in `actual` is the overload `default`.
static bool coversOverload(StringRef wanted, StringRef actual) {
  auto [wantedOp, wantedOverload] = wanted.split('.');
  auto [actualOp, actualOverload] = actual.split('.');
  auto overload = [](StringRef name) { return name.empty() ? "default" : name; };
  return wantedOp == actualOp && (!wanted.contains('.') || overload(wantedOverload) == overload(actualOverload));
}

/// Returns true if `wanted`, a name with a namespace, covers `actual`, which may have an overload.
static bool coversName(StringRef wanted, StringRef actual) {
  auto [wantedSpace, wantedName] = splitNamespace(wanted);
  auto [actualSpace, actualName] = splitNamespace(actual);
  return wantedSpace == actualSpace && coversOverload(wantedName, actualName);
}

bool inlay::matchesName(Operation *op, StringRef name) {
  StringRef reported = getReportedName(op);
  if (name == reported || name == op->getName().getStringRef())
    return true;
  if (isa<OpaqueOp, PluginOp>(op))
    return coversName(name, reported);
  if (StringRef call = getCallName(op->getLoc()); !call.empty() && coversName(name, call))
    return true;
  auto named = dyn_cast<AtenNamedOpInterface>(op);
  return named && llvm::any_of(named.getAtenNames(), [&](StringRef aten) {
           return coversName(name, aten.contains("::") ? aten.str() : "aten::" + aten.str());
         });
}

StringRef inlay::getCallName(Location loc) {
  auto name = dyn_cast_or_null<StringAttr>(findLocationMetadata(loc, "inlay.call"));
  return name ? name.getValue() : "";
}

Attribute inlay::findLocationMetadata(Location loc, StringRef key) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
      if (Attribute found = dictionary.get(key))
        return found;
    for (Location part : fused.getLocations())
      if (Attribute found = findLocationMetadata(part, key))
        return found;
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return findLocationMetadata(name.getChildLoc(), key);
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return findLocationMetadata(call.getCallee(), key);
  return nullptr;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads from locations which calls of the user an op or kernel came from. OpNames.cpp gives the name of an op
// itself.

#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

Location inlay::addSignatureKey(Location loc, StringAttr key) {
  MLIRContext *context = key.getContext();
  return FusedLoc::get(
      context, {loc},
      DictionaryAttr::get(context, NamedAttribute(StringAttr::get(context, InlayDialect::kSignatureAttr), key)));
}

/// Returns the call that the metadata of `fused` itself names, or an empty string if it names none.
static StringRef getDirectKey(FusedLoc fused) {
  auto metadata = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  auto key = metadata ? metadata.getAs<StringAttr>(InlayDialect::kSignatureAttr) : nullptr;
  return key ? key.getValue() : "";
}

using Names = llvm::SmallSetVector<StringRef, 4>;

static void addKeys(Location loc, Names &keys) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return addKeys(call.getCallee(), keys);
  if (auto name = dyn_cast<NameLoc>(loc))
    return addKeys(name.getChildLoc(), keys);
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return;
  for (Location part : fused.getLocations())
    addKeys(part, keys);
  if (StringRef key = getDirectKey(fused); !key.empty())
    keys.insert(key);
}

SmallVector<StringRef> inlay::getSignatureKeys(Location loc) {
  Names keys;
  addKeys(loc, keys);
  return SmallVector<StringRef>(keys.getArrayRef());
}

/// Adds the innermost calls of `loc` to `calls` and the names of ops without a call to `names`.
static void addOrigins(Location loc, Names &calls, Names &names) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return addOrigins(call.getCallee(), calls, names);
  if (auto name = dyn_cast<NameLoc>(loc)) {
    size_t before = calls.size();
    addOrigins(name.getChildLoc(), calls, names);
    if (calls.size() == before)
      names.insert(name.getName());
    return;
  }
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return;
  StringRef key = getDirectKey(fused);
  Names inner, innerNames;
  for (Location part : fused.getLocations())
    addOrigins(part, inner, key.empty() ? names : innerNames);
  if (inner.empty() && !key.empty())
    inner.insert(key);
  calls.insert_range(inner);
}

SmallVector<StringRef> inlay::getCalls(Location loc) {
  Names calls, names;
  addOrigins(loc, calls, names);
  return SmallVector<StringRef>(calls.getArrayRef());
}

SmallVector<StringRef> inlay::getOrigins(Location loc) {
  Names calls, names;
  addOrigins(loc, calls, names);
  calls.insert_range(names);
  return SmallVector<StringRef>(calls.getArrayRef());
}

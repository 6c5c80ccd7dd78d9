// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Fallback.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/OpKinds.h"

#include <set>

using namespace mlir;
using namespace inlay;

static ArrayAttr findModuleMetadata(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
      if (auto stack = dictionary.getAs<ArrayAttr>(InlayDialect::kModuleKey))
        return stack;
    for (Location part : fused.getLocations())
      if (ArrayAttr stack = findModuleMetadata(part))
        return stack;
  }
  if (auto name = dyn_cast<NameLoc>(location))
    return findModuleMetadata(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return findModuleMetadata(call.getCallee());
  return nullptr;
}

SmallVector<std::pair<StringRef, StringRef>, 4> inlay::getModuleStack(Location location) {
  SmallVector<std::pair<StringRef, StringRef>, 4> result;
  if (ArrayAttr stack = findModuleMetadata(location))
    for (Attribute entry : stack)
      if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
        if (auto path = dyn_cast<StringAttr>(pair[0]), name = dyn_cast<StringAttr>(pair[1]); path && name)
          result.emplace_back(path.getValue(), name.getValue());
  return result;
}

/// Ops that partitioning places.
static bool isPlaced(Operation *op) {
  return !isa<ModuleOp, FunctionOpInterface>(op) && !isConstantLike(op) && !op->hasTrait<OpTrait::IsTerminator>();
}

FailureOr<FallbackFilter> FallbackFilter::get(ModuleOp module, ArrayRef<std::string> ops,
                                              ArrayRef<std::string> modules) {
  FallbackFilter filter;
  filter.names.assign(ops.begin(), ops.end());
  for (const std::string &glob : modules) {
    auto owned = std::make_shared<Glob>();
    owned->text = glob;
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(owned->text);
    if (!pattern)
      return module.emitError("malformed glob '") << glob << "' in fallback-modules: " << toString(pattern.takeError());
    owned->pattern = std::move(*pattern);
    filter.globs.push_back(std::move(owned));
  }
  if (ops.empty() && modules.empty())
    return filter;
  std::set<StringRef> missingOps(ops.begin(), ops.end()), missingModules(modules.begin(), modules.end());
  module.walk([&](Operation *op) {
    if (!isPlaced(op) || (missingOps.empty() && missingModules.empty()))
      return;
    for (auto it = missingOps.begin(); it != missingOps.end();)
      it = matchesName(op, *it) ? missingOps.erase(it) : std::next(it);
    for (auto [path, name] : getModuleStack(op->getLoc()))
      for (const auto &glob : filter.globs)
        if (glob->pattern.match(path) || glob->pattern.match(name))
          missingModules.erase(glob->text);
  });
  for (StringRef name : missingOps)
    module.emitError("'") << name << "' in fallback-ops matches no op";
  for (StringRef name : missingModules)
    module.emitError("'") << name << "' in fallback-modules matches no module";
  if (!missingOps.empty() || !missingModules.empty())
    return failure();
  return filter;
}

Verdict FallbackFilter::check(Operation *op) const {
  for (const std::string &name : names)
    if (matchesName(op, name))
      return {ReasonCode::FallbackOp, "'" + name + "' is in fallback-ops"};
  return globs.empty() ? Verdict::supported() : checkModules(op->getLoc());
}

Verdict FallbackFilter::checkModules(Location location) const {
  for (auto [path, name] : getModuleStack(location))
    for (const auto &glob : globs)
      if (glob->pattern.match(path) || glob->pattern.match(name))
        return {ReasonCode::FallbackModule,
                ("module '" + path + "' (" + name + ") matches '" + glob->text + "' in fallback-modules").str()};
  return Verdict::supported();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks an op against the options `fallback-ops`, `fallback-modules` and `fallback-locations`, and reports entries
// that match nothing. Allow.cpp checks the permitted ops.

#include "Fallback.h"
#include "Decisions.h"
#include "Partition/Analysis/NameRules.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/PartitionOptions.h"
#include "inlay/Support/Suggest.h"

#include <set>

using namespace mlir;
using namespace inlay;

SmallVector<std::pair<StringRef, StringRef>, 4> inlay::getModuleStack(Location location) {
  SmallVector<std::pair<StringRef, StringRef>, 4> result;
  if (auto stack = dyn_cast_or_null<ArrayAttr>(findLocationMetadata(location, InlayDialect::kModuleKey)))
    for (Attribute entry : stack)
      if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
        if (auto path = dyn_cast<StringAttr>(pair[0]), name = dyn_cast<StringAttr>(pair[1]); path && name)
          result.emplace_back(path.getValue(), name.getValue());
  return result;
}

//===-- Rules ---------------------------------------------------------------------------------------------------===//

FailureOr<FallbackFilter::Globs> FallbackFilter::makeGlobs(ModuleOp module,
                                                           const std::vector<std::string> &texts) const {
  StringRef option = getOptionName(info, &texts);
  Globs globs;
  for (const std::string &text : texts) {
    if (text.empty())
      return module.emitError("expected names in ") << option << ", but got an empty one";
    auto owned = std::make_shared<Glob>();
    owned->text = text;
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(owned->text);
    if (!pattern)
      return module.emitError("malformed glob '") << text << "' in " << option << ": " << toString(pattern.takeError());
    owned->pattern = std::move(*pattern);
    globs.push_back(std::move(owned));
  }
  return globs;
}

FailureOr<FallbackFilter> FallbackFilter::get(ModuleOp module, const PartitionInfo &info) {
  FallbackFilter filter;
  filter.info = info;
  FailureOr<Globs> modules = filter.makeGlobs(module, filter.info.fallbackModules);
  FailureOr<Globs> locations = filter.makeGlobs(module, filter.info.fallbackLocations);
  if (failed(modules) || failed(locations))
    return failure();
  filter.modules = std::move(*modules);
  filter.locations = std::move(*locations);
  bool ok = succeeded(checkOpNames(module, info.fallbackOps, getOptionName(info, &info.fallbackOps)));
  ok &= succeeded(filter.checkModuleNames(module));
  ok &= succeeded(filter.checkLocationNames(module));
  if (!ok)
    return failure();
  return filter;
}

FallbackFilter FallbackFilter::fromVerdicts() {
  FallbackFilter filter;
  filter.byVerdict = true;
  return filter;
}

static Verdict checkVerdict(Operation *op) {
  auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
  std::optional<ReasonCode> code = verdict && !isPinned(op) ? symbolizeReasonCode(verdict.getCode()) : std::nullopt;
  bool isForced =
      code == ReasonCode::FallbackOp || code == ReasonCode::FallbackModule || code == ReasonCode::FallbackLocation;
  return isForced ? Verdict{*code, verdict.getText().str()} : Verdict::supported();
}

Verdict FallbackFilter::check(Operation *op) const {
  if (byVerdict)
    return checkVerdict(op);
  for (const std::string &name : info.fallbackOps)
    if (matchesName(op, name))
      return {ReasonCode::FallbackOp, ("'" + name + "' is in " + getOptionName(info, &info.fallbackOps)).str()};
  Verdict verdict = modules.empty() ? Verdict::supported() : checkModules(op->getLoc());
  return verdict.isSupported() && !locations.empty() ? checkLocations(op) : verdict;
}

//===-- Modules -------------------------------------------------------------------------------------------------===//

/// Returns the class of a qualified name: `Encoder` for `models.Encoder`.
static StringRef getClass(StringRef name) { return name.substr(name.rfind('.') + 1); }

bool FallbackFilter::matchesModule(const Glob &glob, StringRef path, StringRef name) {
  return glob.matches(path) || glob.matches(name) || glob.matches(getClass(name));
}

Verdict FallbackFilter::checkModules(Location location) const {
  for (auto [path, name] : getModuleStack(location))
    for (const auto &glob : modules)
      if (matchesModule(*glob, path, name))
        return {ReasonCode::FallbackModule, ("module '" + path + "' (" + getClass(name) + ") matches '" + glob->text +
                                             "' in " + getOptionName(info, &info.fallbackModules))
                                                .str()};
  return Verdict::supported();
}

LogicalResult FallbackFilter::checkModuleNames(ModuleOp module) const {
  if (modules.empty())
    return success();
  std::set<std::string> missing, known;
  for (const auto &glob : modules)
    missing.insert(glob->text);
  forEachPlacedOp(module, [&](Operation *op) {
    for (auto [path, name] : getModuleStack(op->getLoc())) {
      for (StringRef spelling : {path, name, getClass(name)})
        if (!spelling.empty()) // The path of the model itself is empty.
          known.insert(spelling.str());
      for (const auto &glob : modules)
        if (matchesModule(*glob, path, name))
          missing.erase(glob->text);
    }
  });
  for (const std::string &name : missing)
    module.emitError("'") << name << "' in " << getOptionName(info, &info.fallbackModules) << " matches no module"
                          << suggest(name, std::vector<std::string>(known.begin(), known.end()));
  return success(missing.empty());
}

//===-- Locations -----------------------------------------------------------------------------------------------===//

/// Collects the positions in files that an op came from.
static void collectLines(Location location, SmallVectorImpl<FileLineColLoc> &lines) {
  location->walk([&](Location part) {
    if (auto line = dyn_cast<FileLineColLoc>(part))
      lines.push_back(line);
    return WalkResult::advance();
  });
}

/// Returns true if `text` is `file:line` of `place`. The file may be given by its last path components.
static bool matchesLine(StringRef text, FileLineColLoc place) {
  auto [file, line] = text.rsplit(':');
  unsigned number;
  if (line.getAsInteger(10, number) || number != place.getLine())
    return false;
  StringRef path = place.getFilename().getValue();
  return path == file || (path.consume_back(file) && !file.empty() && path.ends_with("/"));
}

static std::string describe(FileLineColLoc place) {
  StringRef file = place.getFilename().getValue();
  return (file.substr(file.rfind('/') + 1) + ":" + Twine(place.getLine())).str();
}

Verdict FallbackFilter::checkLocations(Operation *op) const {
  SmallVector<FileLineColLoc> lines;
  collectLines(op->getLoc(), lines);
  for (const auto &glob : locations) {
    std::string text = ("' matches '" + glob->text + "' in " + getOptionName(info, &info.fallbackLocations)).str();
    if (glob->matches(getLabel(op)))
      return {ReasonCode::FallbackLocation, "'" + getLabel(op).str() + text};
    for (FileLineColLoc place : lines)
      if (matchesLine(glob->text, place))
        return {ReasonCode::FallbackLocation, "'" + describe(place) + text};
  }
  return Verdict::supported();
}

LogicalResult FallbackFilter::checkLocationNames(ModuleOp module) const {
  if (locations.empty())
    return success();
  std::set<std::string> missing, known;
  for (const auto &glob : locations)
    missing.insert(glob->text);
  SmallVector<FileLineColLoc> lines;
  forEachPlacedOp(module, [&](Operation *op) {
    lines.clear();
    collectLines(op->getLoc(), lines);
    known.insert(getLabel(op).str());
    for (FileLineColLoc place : lines)
      known.insert(describe(place));
    for (const auto &glob : locations)
      if (glob->matches(getLabel(op)) ||
          llvm::any_of(lines, [&](FileLineColLoc place) { return matchesLine(glob->text, place); }))
        missing.erase(glob->text);
  });
  for (const std::string &name : missing)
    module.emitError("'") << name << "' in " << getOptionName(info, &info.fallbackLocations)
                          << " matches no op's label and no line"
                          << suggest(name, std::vector<std::string>(known.begin(), known.end()));
  return success(missing.empty());
}

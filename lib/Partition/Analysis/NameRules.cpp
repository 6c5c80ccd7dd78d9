// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the ops of a module that names in options match, and suggests a known name for one that matches none.
// Dialect/Inlay/IR/OpNames.cpp compares one name with one op.

#include "NameRules.h"
#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Support/Suggest.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <set>

using namespace mlir;
using namespace inlay;

void inlay::forEachPlacedOp(ModuleOp module, function_ref<void(Operation *)> visit) {
  for (auto function : module.getOps<FunctionOpInterface>())
    function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isConstantLike(op) && !op->hasTrait<OpTrait::IsTerminator>())
        visit(op);
    });
}

bool inlay::matchesAnyName(Operation *op, ArrayRef<std::string> names) {
  return llvm::any_of(names, [&](StringRef name) { return matchesName(op, name); });
}

/// Returns every name that a user may write for an op of the module, sorted.
static std::vector<std::string> collectNames(ModuleOp module) {
  std::set<std::string> names;
  forEachPlacedOp(module, [&](Operation *op) {
    names.insert(getReportedName(op).str());
    names.insert(op->getName().getStringRef().str());
    if (StringRef call = getCallName(op->getLoc()); !call.empty())
      names.insert(call.str());
    if (auto named = dyn_cast<AtenNamedOpInterface>(op))
      for (StringRef aten : named.getAtenNames())
        names.insert((aten.contains("::") ? aten : "aten::" + aten).str());
  });
  return {names.begin(), names.end()};
}

/// Returns a suggestion with the known name that needs the fewest edits, or with the known name that equals `name`
/// after the dialect.
static std::string suggestName(StringRef name, ArrayRef<std::string> known) {
  std::string nearest = suggest(name, known);
  if (nearest.empty() && !name.empty())
    for (StringRef whole : known)
      if (StringRef dialect = whole.drop_back(std::min(name.size(), whole.size()));
          whole.ends_with_insensitive(name) && (dialect.ends_with("::") || dialect.ends_with(".")))
        return ("; did you mean '" + whole + "'?").str();
  return nearest;
}

LogicalResult inlay::checkOpNames(ModuleOp module, ArrayRef<std::string> names, StringRef option) {
  if (names.empty())
    return success();
  std::set<StringRef> missing(names.begin(), names.end());
  forEachPlacedOp(module, [&](Operation *op) {
    for (auto it = missing.begin(); it != missing.end();)
      it = matchesName(op, *it) ? missing.erase(it) : std::next(it);
  });
  if (missing.empty())
    return success();
  std::vector<std::string> known = collectNames(module);
  for (StringRef name : missing)
    if (name.empty())
      module.emitError("expected the names of ops in ") << option << ", but got an empty one";
    else
      module.emitError("'") << name << "' in " << option << " matches no op" << suggestName(name, known);
  return failure();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies `inlay.refused` from outlined segments to the ops of the graph by label. Convert/Pipeline/FailingOps.cpp
// finds the ops to refuse.

#include "RefusedOps.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace inlay;

namespace {
/// Values of `inlay.refused` of the ops of one function, by label.
using Refusals = llvm::StringMap<DictionaryAttr>;
} // namespace

/// Returns the refusals of each function, collected from the segments that it invokes.
static llvm::StringMap<Refusals> collect(ModuleOp module) {
  llvm::StringMap<std::string> callers;
  for (auto function : module.getOps<FunctionOpInterface>())
    function->walk([&](plan::InvokeOp invoke) { callers[invoke.getCallee()] = function.getName().str(); });
  llvm::StringMap<Refusals> refusals;
  for (auto function : module.getOps<FunctionOpInterface>())
    function->walk([&](Operation *op) {
      if (auto refused = op->getAttrOfType<DictionaryAttr>(InlayDialect::kRefusedAttr))
        refusals[callers.lookup(function.getName())][getLocationName(op->getLoc())] = refused;
    });
  return refusals;
}

/// Adds the entries of `refused` to those of the op. Returns false if the op has all of them already.
static bool add(Operation *op, DictionaryAttr refused) {
  NamedAttrList all(op->getAttrOfType<DictionaryAttr>(InlayDialect::kRefusedAttr));
  bool changed = false;
  for (NamedAttribute entry : refused)
    if (!all.get(entry.getName())) {
      all.push_back(entry);
      changed = true;
    }
  if (changed)
    op->setAttr(InlayDialect::kRefusedAttr, all.getDictionary(op->getContext()));
  return changed;
}

bool inlay::copyRefusedMarks(ModuleOp converted, ModuleOp graph) {
  llvm::StringMap<Refusals> refusals = collect(converted);
  bool changed = false;
  for (auto function : graph.getOps<FunctionOpInterface>()) {
    auto found = refusals.find(function.getName());
    if (found == refusals.end())
      continue;
    function->walk([&](Operation *op) {
      StringRef label = getLocationName(op->getLoc());
      if (DictionaryAttr refused = label.empty() ? nullptr : found->second.lookup(label))
        changed |= add(op, refused);
    });
  }
  return changed;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the answers of targets for the passes of a pipeline. Targets.cpp recognizes ops that are alike.

#include "Verdicts.h"

using namespace mlir;
using namespace inlay;

bool inlay::isAskedAbout(NamedAttribute attribute) { return !attribute.getName().getValue().starts_with("inlay."); }

Verdict Verdicts::ask(TargetAttrInterface target, Operation *op) {
  auto asked = llvm::make_filter_range(op->getAttrDictionary(), isAskedAbout);
  Key key{Attribute(target).getAsOpaquePointer(), op->getName().getAsOpaquePointer(),
          DictionaryAttr::getWithSorted(op->getContext(), llvm::to_vector(asked)).getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  key.push_back(nullptr);
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  auto found = known.find(key);
  if (found == known.end())
    found = known.try_emplace(std::move(key), target.canRun(op)).first;
  return found->second;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompareFunctions.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace inlay;

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Returns a name for the owner of a block: its label, or "function".
static std::string nameOwner(Operation *op) {
  StringRef label = getLocationName(op->getLoc());
  return isa<FunctionOpInterface>(op) ? "function" : label.str();
}

static std::string name(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Region *region = argument.getOwner()->getParent();
    return nameOwner(region->getParentOp()) + "." + std::to_string(region->getRegionNumber()) + ".arg" +
           std::to_string(argument.getArgNumber());
  }
  Operation *op = value.getDefiningOp();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return print(op->getAttrDictionary());
  return nameOwner(op) + ":" + std::to_string(cast<OpResult>(value).getResultNumber());
}

std::vector<std::string> inlay::testing::describeGraph(FunctionOpInterface function) {
  std::vector<std::string> lines;
  function->walk([&](Operation *op) {
    if (op == function || op->hasTrait<OpTrait::ConstantLike>())
      return;
    Region *region = op->getParentRegion();
    std::string line = nameOwner(region->getParentOp()) + "." + std::to_string(region->getRegionNumber()) + ": ";
    line += op->hasTrait<OpTrait::IsTerminator>() ? "" : nameOwner(op) + " = ";
    line += op->getName().getStringRef().str() + " " + print(op->getAttrDictionary()) + "(";
    for (Value operand : op->getOperands())
      line += name(operand) + ", ";
    llvm::raw_string_ostream(line) << ") -> " << op->getResultTypes();
    lines.push_back(line);
  });
  llvm::sort(lines);
  return lines;
}

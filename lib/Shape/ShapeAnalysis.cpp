// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Shape/ShapeAnalysis.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace inlay;

ShapeAnalysis::ShapeAnalysis(FunctionOpInterface function) : symbols(inlay::getSymbols(function)) {
  if (function.isExternal())
    return;
  for (BlockArgument argument : function.getFunctionBody().getArguments())
    addArgument(function, argument);
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) { addOp(op); });
}

const SmallVector<AffineExpr> *ShapeAnalysis::getDims(Value value) const {
  auto it = dims.find(value);
  return it == dims.end() ? nullptr : &it->second;
}

void ShapeAnalysis::addArgument(FunctionOpInterface function, BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type)
    return;
  if (std::optional<SmallVector<AffineExpr>> said = inlay::getDims(argument)) {
    dims[argument] = *said;
    return;
  }
  llvm::StringSet<> names;
  for (SymbolAttr symbol : symbols)
    names.insert(symbol.getName());
  StringRef label = getLocationName(argument.getLoc());
  std::string base = label.empty() ? "arg" + std::to_string(argument.getArgNumber()) : label.str();
  SmallVector<AffineExpr> exprs;
  for (auto [number, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      exprs.push_back(getAffineConstantExpr(size, type.getContext()));
      continue;
    }
    std::string name = (base + "[" + Twine(number) + "]").str();
    while (!names.insert(name).second)
      name += "'";
    exprs.push_back(getAffineSymbolExpr(symbols.size(), type.getContext()));
    symbols.push_back(SymbolAttr::get(type.getContext(), name, 0, std::numeric_limits<int64_t>::max(), 0));
  }
  dims[argument] = exprs;
}

void ShapeAnalysis::addOp(Operation *op) {
  auto copy = [&](Value from, Value to) {
    if (const SmallVector<AffineExpr> *known = getDims(from)) {
      SmallVector<AffineExpr> exprs = *known; // the map grows
      dims[to] = std::move(exprs);
    }
  };
  if (auto segment = dyn_cast<SegmentOp>(op)) // its results follow once its body is known
    for (auto [input, argument] : llvm::zip_equal(segment.getInputs(), segment.getBody().getArguments()))
      copy(input, argument);
  if (isa<YieldOp>(op))
    for (auto [value, result] : llvm::zip_equal(op->getOperands(), op->getParentOp()->getResults()))
      copy(value, result);
  if (isa<SegmentOp, YieldOp>(op))
    return;
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) -> SymbolicDims {
    if (const SmallVector<AffineExpr> *known = getDims(operand))
      return *known;
    return std::nullopt;
  });
  for (auto [result, inferred] : llvm::zip_equal(op->getResults(), inferDims(op, operands, symbols)))
    if (inferred)
      dims[result] = std::move(*inferred);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Propagates dims through a function, including loops and branches. InferDims.cpp has the rule of each op.

#include "ShapeAnalysis.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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
  if (std::optional<SmallVector<AffineExpr>> declared = inlay::getDims(argument)) {
    dims[argument] = *declared;
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

void ShapeAnalysis::copy(ValueRange from, ValueRange to) {
  for (auto [source, target] : llvm::zip(from, to))
    if (const SmallVector<AffineExpr> *known = getDims(source)) {
      SmallVector<AffineExpr> exprs = *known; // Copied first, because inserting may move the entry.
      dims[target] = std::move(exprs);
    }
}

bool ShapeAnalysis::haveEqualDims(ValueRange first, ValueRange second) const {
  return llvm::equal(first, second, [&](Value left, Value right) {
    const SmallVector<AffineExpr> *known = getDims(left), *like = getDims(right);
    return (!known && !like) || (known && like && llvm::equal(*known, *like, [&](AffineExpr lhs, AffineExpr rhs) {
                                   return simplifyExpr(lhs - rhs, symbols.size()) == 0;
                                 }));
  });
}

/// Discards the dims of a loop that were inferred under the assumption that its iterations preserve the initial dims.
void ShapeAnalysis::forget(Operation *loop) {
  llvm::erase_if(constraints, [&](const auto &constraint) { return loop->isAncestor(constraint.first); });
  loop->walk([&](Operation *op) {
    for (Value result : op->getResults())
      dims.erase(result);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        dims.erase(argument);
  });
}

/// Propagates dims out of a region, whose ops are all analyzed at this point.
void ShapeAnalysis::addTerminator(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    copy(condition.getArgs(), cast<scf::WhileOp>(parent).getAfterArguments());
    copy(condition.getArgs(), parent->getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (!haveEqualDims(loop.getInits(), op->getOperands()))
      forget(loop);
  } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (haveEqualDims(loop.getInitArgs(), op->getOperands()))
      copy(op->getOperands(), parent->getResults());
    else
      forget(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    if (op->getBlock() == branch.elseBlock() && haveEqualDims(branch.thenYield().getOperands(), op->getOperands()))
      copy(op->getOperands(), parent->getResults());
  } else if (isa<YieldOp>(op)) {
    copy(op->getOperands(), parent->getResults());
  }
}

/// Returns false if an expression has more than `left` operators and operands. Subtracts their number from `left`.
static bool isShort(AffineExpr expr, size_t &left) {
  if (left-- == 0)
    return false;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (isShort(binary.getLHS(), left) && isShort(binary.getRHS(), left));
}

/// Returns true if the dims can be used further. Products of sums can double their length with each op.
static bool areShort(ArrayRef<AffineExpr> dims) {
  constexpr size_t kMaxLength = 512; // much longer than the sizes of models
  return llvm::all_of(dims, [](AffineExpr dim) {
    size_t left = kMaxLength;
    return isShort(dim, left);
  });
}

void ShapeAnalysis::addOp(Operation *op) {
  if (isa<YieldOp, scf::YieldOp, scf::ConditionOp>(op))
    return addTerminator(op);
  // The dims of their results follow once their bodies are analyzed.
  if (auto segment = dyn_cast<SegmentOp>(op))
    return copy(segment.getInputs(), segment.getBody().getArguments());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return copy(loop.getInitArgs(), loop.getRegionIterArgs());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return copy(loop.getInits(), loop.getBeforeArguments());
  if (isa<scf::IfOp>(op))
    return;
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) -> SymbolicDims {
    if (const SmallVector<AffineExpr> *known = getDims(operand))
      return *known;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    return llvm::map_to_vector(type.getShape(),
                               [&](int64_t size) { return getAffineConstantExpr(size, op->getContext()); });
  });
  SmallVector<SizeConstraint> found;
  for (auto [result, inferred] : llvm::zip_equal(op->getResults(), inferDims(op, operands, symbols, found)))
    if (inferred && areShort(*inferred))
      dims[result] = std::move(*inferred);
    else if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape())
      unfit.insert(op);
  for (const SizeConstraint &constraint : found)
    constraints.emplace_back(op, constraint);
}

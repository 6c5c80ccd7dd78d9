// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Convert/TrialConversion.h"
#include "inlay/Convert/GraphToLinalg.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace inlay;

/// A module with the op alone, in a function of what it uses.
static OwningOpRef<ModuleOp> cloneAlone(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  auto inputTypes = llvm::map_to_vector(used, [](Value value) { return value.getType(); });
  auto function =
      func::FuncOp::create(builder, op->getLoc(), "trial", builder.getFunctionType(inputTypes, op->getResultTypes()));
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  mapping.map(used.getArrayRef(), body->getArguments());
  SmallVector<SymbolAttr> symbols = getSymbols(op);
  auto describe = [&](Value value) -> Attribute {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<SmallVector<AffineExpr>> dims = getDims(value);
    return type && !type.hasStaticShape() && dims ? makeDimsAttr(op->getContext(), symbols.size(), *dims)
                                                  : AffineMapAttr();
  };
  if (!symbols.empty()) {
    SmallVector<Attribute> attributes(symbols.begin(), symbols.end());
    function->setAttr(InlayDialect::kSymbolsAttr, builder.getArrayAttr(attributes));
    for (auto [number, value] : llvm::enumerate(used))
      if (Attribute dims = describe(value))
        function.setArgAttr(number, InlayDialect::kDimsAttr, dims);
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      if (Attribute dims = describe(result))
        function.setResultAttr(number, InlayDialect::kDimsAttr, dims);
  }
  builder.setInsertionPointToStart(body);
  Operation *clone = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), clone->getResults());
  return module;
}

Operation *inlay::findForeignOp(Operation *root) {
  Operation *foreign = nullptr;
  root->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    if (!isa<OpaqueOp, PluginOp, ListOp, CallOpInterface>(nested))
      return WalkResult::advance();
    foreign = nested;
    return WalkResult::interrupt();
  });
  return foreign;
}

Verdict inlay::tryConvertToLinalg(Operation *op, OwningOpRef<ModuleOp> *result) {
  if (Operation *foreign = findForeignOp(op))
    return {ReasonCode::NoConverter, ("no pattern converts " + getReportedName(foreign)).str()};
  // Other threads' diagnostics are none of ours.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [thread](Diagnostic &) { return success(llvm::get_threadid() == thread); });
  OwningOpRef<ModuleOp> module = cloneAlone(op);
  if (SmallVector<Refusal> refusals = convertGraphOps(*module); !refusals.empty())
    return refusals.front().verdict;
  if (result)
    *result = std::move(module);
  return Verdict::supported();
}

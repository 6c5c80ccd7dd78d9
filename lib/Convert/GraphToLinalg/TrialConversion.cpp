// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a copy of one op to linalg in a function of its own and keeps its diagnostics as the reason of a failure.
// Convert/Pipeline/SegmentConversion.cpp adds the stages of a target to the trial.

#include "TrialConversion.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Dialect/Inlay/IR/Border.h"
#include "inlay/Dialect/Inlay/IR/CallReason.h"
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

/// Returns the type of a value as an argument or result of the trial function.
static Type getTrialType(Value value) {
  RankedTensorType type = getBorderType(value.getType());
  return type ? Type(type) : value.getType();
}

/// Returns a module with a copy of the op in a function whose arguments are the values that the op uses.
static OwningOpRef<ModuleOp> cloneAlone(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  auto type = builder.getFunctionType(llvm::map_to_vector(used, getTrialType),
                                      llvm::map_to_vector(op->getResults(), getTrialType));
  auto function = func::FuncOp::create(builder, op->getLoc(), "trial", type);
  Block *body = function.addEntryBlock();
  SmallVector<SymbolAttr> symbols = getSymbols(op);
  auto needsDims = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape() && getDims(value);
  };
  if (!symbols.empty()) {
    SmallVector<Attribute> attributes(symbols.begin(), symbols.end());
    function->setAttr(InlayDialect::kSymbolsAttr, builder.getArrayAttr(attributes));
    for (auto [number, value] : llvm::enumerate(used))
      if (needsDims(value))
        function.setArgAttr(number, InlayDialect::kDimsAttr, describeDims(value, symbols.size()));
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      if (needsDims(result))
        function.setResultAttr(number, InlayDialect::kDimsAttr, describeDims(result, symbols.size()));
  }
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [value, argument] : llvm::zip_equal(used, body->getArguments()))
    mapping.map(value, fromBorder(builder, op->getLoc(), argument, value.getType()));
  Operation *clone = builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value result : clone->getResults())
    results.push_back(getBorderType(result.getType()) ? toBorder(builder, op->getLoc(), result) : result);
  func::ReturnOp::create(builder, op->getLoc(), results);
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

std::string inlay::explainForeignOp(Operation *foreign) {
  if (auto reason = foreign->getAttrOfType<StringAttr>(kCallReasonAttr))
    return reason.str();
  return ("no pattern converts " + getReportedName(foreign)).str();
}

Verdict inlay::tryConvertToLinalg(Operation *op, OwningOpRef<ModuleOp> *result) {
  if (Operation *foreign = findForeignOp(op))
    return {ReasonCode::NoConverter, explainForeignOp(foreign)};
  // Other threads report their own diagnostics.
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the target interface for the framework: its segments become calls described as JSON.
// python/inlay/_program/fallback.py runs them.

#include "inlay/Target/Torch/TorchTarget.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace inlay;

/// Returns an attribute of a graph op as JSON. Numbers, lists of numbers and strings keep their kind, types become
/// strings, and a unit attribute becomes true.
static llvm::json::Value toJson(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getInt();
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    if (real.getValue().isFinite())
      return real.getValueAsDouble();
    StringRef text = real.getValue().isNaN() ? "nan" : real.getValue().isNegative() ? "-inf" : "inf";
    return llvm::json::Object{{"float", text}};
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    return llvm::json::Array(list.asArrayRef());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto type = dyn_cast<TypeAttr>(attribute))
    return llvm::formatv("{0}", type.getValue()).str();
  return true;
}

/// Returns true if the framework can make a call of `op`.
static bool isCall(Operation *op) {
  auto opaque = dyn_cast<OpaqueOp>(op);
  return opaque ? opaque.getCall().has_value() : isa<AtenNamedOpInterface>(op);
}

/// Returns the description of the call that the framework makes. python/inlay/_dialect/calls.py documents the form. A
/// graph op is called by its reference implementation.
static std::string describeCall(Operation *op) {
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return opaque.getCall()->str();
  NamedAttrList inherent;
  op->getName().populateInherentAttrs(op, inherent);
  llvm::json::Object attributes;
  for (NamedAttribute attribute : inherent)
    attributes[attribute.getName().getValue()] = toJson(attribute.getValue());
  llvm::json::Object call{{"graph_op", op->getName().stripDialect()}};
  if (!attributes.empty())
    call["attributes"] = std::move(attributes);
  return llvm::formatv("{0}", llvm::json::Value(std::move(call)));
}

namespace {
/// The framework runs the calls with which the graph was exported, and graph ops by their reference implementations,
/// one call per op, in order.
struct TorchTarget : TargetAttrInterface::ExternalModel<TorchTarget, TorchAttr> {
  StringRef getTargetName(Attribute) const { return "torch"; }
  bool isAccelerator(Attribute) const { return false; }
  TargetCosts getCosts(Attribute) const { return getDefaultCosts(DeviceKind::Framework); }

  Verdict canRun(Attribute, Operation *op) const {
    StringRef name = getReportedName(op);
    if (!isCall(op) && !isa<OpaqueOp>(op))
      return {ReasonCode::NoConverter, (name + " is not a framework call").str()};
    if (!isCall(op))
      return {ReasonCode::UnsupportedAttribute, (name + " doesn't say how to make the call").str()};
    if (auto opaque = dyn_cast<OpaqueOp>(op); opaque && opaque.getWrites())
      return {ReasonCode::UnsupportedAttribute, (name + " writes its operands").str()};
    auto hasDims = [](Value value) { return getDims(value).has_value(); };
    if (!llvm::all_of(op->getOperands(), hasDims) || !llvm::all_of(op->getResults(), hasDims))
      return {
          ReasonCode::UnsupportedType,
          (name + " has an operand or result that is not a tensor whose dims follow from the dims of inputs").str()};
    return Verdict::supported();
  }

  LogicalResult convertSegment(Attribute, func::FuncOp segment) const {
    for (Operation &op : llvm::make_early_inc_range(segment.getBody().front().without_terminator())) {
      if (isa<ConstantOp>(op))
        continue;
      if (!isCall(&op))
        return op.emitOpError("is not a framework call");
      OpBuilder builder(&op);
      auto call = plan::FrameworkCallOp::create(builder, op.getLoc(), op.getResultTypes(), describeCall(&op),
                                                op.getOperands(), op.getAttrOfType<AffineMapAttr>("sizes"));
      copyDims(&op, call);
      op.replaceAllUsesWith(call);
      op.erase();
    }
    return success();
  }
};
} // namespace

void inlay::registerTorchTarget(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, InlayDialect *) {
    TorchAttr::attachInterface<TorchTarget>(*context);
    context->loadDialect<plan::PlanDialect>();
  });
}

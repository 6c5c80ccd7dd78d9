// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Target/Torch/TorchTarget.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace inlay;

/// An attribute of a graph op as JSON: numbers, lists of them, text, types as text; a unit is true.
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

/// How the framework is to make a call. A graph op is computed by its meaning; python/inlay/calls.py has the form.
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
/// The framework runs exactly the calls that the graph was exported with, and graph ops by their meaning; each is one
/// call, in order.
struct TorchTarget : TargetAttrInterface::ExternalModel<TorchTarget, TorchAttr> {
  StringRef getTargetName(Attribute) const { return "torch"; }
  TargetCosts getCosts(Attribute) const { return getDefaultCosts(DeviceKind::Framework); }

  Verdict canRun(Attribute, Operation *op) const {
    auto opaque = dyn_cast<OpaqueOp>(op);
    if (!opaque && !isa<AtenNamedOpInterface>(op))
      return {ReasonCode::NoConverter, (op->getName().getStringRef() + " is not a framework call").str()};
    if (opaque && !opaque.getCall())
      return {ReasonCode::UnsupportedAttribute, (opaque.getName() + " doesn't say how to make the call").str()};
    if (opaque && opaque.getWrites())
      return {ReasonCode::UnsupportedAttribute, (opaque.getName() + " writes its operands").str()};
    auto isTensor = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), isTensor) || !llvm::all_of(op->getResultTypes(), isTensor))
      return {ReasonCode::UnsupportedType,
              ((opaque ? opaque.getName() : op->getName().getStringRef()) + " passes values that aren't static tensors")
                  .str()};
    return Verdict::supported();
  }

  LogicalResult convertSegment(Attribute, func::FuncOp segment) const {
    for (Operation &op : llvm::make_early_inc_range(segment.getBody().front().without_terminator())) {
      if (isa<ConstantOp>(op))
        continue;
      auto opaque = dyn_cast<OpaqueOp>(op);
      if (!isa<AtenNamedOpInterface>(op) && (!opaque || !opaque.getCall()))
        return op.emitOpError("is not a framework call");
      OpBuilder builder(&op);
      auto call =
          plan::FrameworkCallOp::create(builder, op.getLoc(), op.getResultTypes(), describeCall(&op), op.getOperands());
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

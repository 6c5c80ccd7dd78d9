// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Target/Torch/TorchTarget.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The framework runs exactly the calls that the graph was exported with; each stays a call, in order.
struct TorchTarget : TargetAttrInterface::ExternalModel<TorchTarget, TorchAttr> {
  StringRef getTargetName(Attribute) const { return "torch"; }
  TargetCosts getCosts(Attribute) const { return getDefaultCosts(DeviceKind::Framework); }

  Verdict canRun(Attribute, Operation *op) const {
    auto opaque = dyn_cast<OpaqueOp>(op);
    if (!opaque)
      return {ReasonCode::NoConverter, (op->getName().getStringRef() + " is not a framework call").str()};
    if (!opaque.getCall())
      return {ReasonCode::UnsupportedAttribute, (opaque.getName() + " doesn't say how to make the call").str()};
    if (opaque.getWrites())
      return {ReasonCode::UnsupportedAttribute, (opaque.getName() + " writes its operands").str()};
    auto isTensor = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), isTensor) || !llvm::all_of(op->getResultTypes(), isTensor))
      return {ReasonCode::UnsupportedType, (opaque.getName() + " passes values that aren't static tensors").str()};
    return Verdict::supported();
  }

  LogicalResult convertSegment(Attribute, func::FuncOp segment) const {
    for (Operation &op : llvm::make_early_inc_range(segment.getBody().front().without_terminator())) {
      if (isa<ConstantOp>(op))
        continue;
      auto opaque = dyn_cast<OpaqueOp>(op);
      if (!opaque || !opaque.getCall())
        return op.emitOpError("is not a framework call");
      OpBuilder builder(opaque);
      auto call = plan::FrameworkCallOp::create(builder, opaque.getLoc(), opaque.getOutputs().getTypes(),
                                                *opaque.getCall(), opaque.getInputs());
      opaque.replaceAllUsesWith(call);
      opaque.erase();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bufferizes library calls.

#include "FormLibraryCalls.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The library writes its result while it reads its inputs, so no input may share memory with the result. The analysis
/// ensures this because the op reads all inputs and is not declared elementwise.
struct LibraryCallModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<LibraryCallModel, plan::LibraryCallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    auto call = cast<plan::LibraryCallOp>(op);
    return !call.isDpsInit(&operand) || (call.getConfigAttr() && call.getConfigAttr().contains("accumulate"));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto call = cast<plan::LibraryCallOp>(op);
    SmallVector<Value> buffers;
    for (Value operand : call->getOperands()) {
      FailureOr<Value> buffer = isa<TensorType>(operand.getType())
                                    ? bufferization::getBuffer(rewriter, operand, options, state)
                                    : FailureOr<Value>(operand);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    OperationState made(call.getLoc(), plan::LibraryCallOp::getOperationName(), buffers, {}, call->getAttrs());
    rewriter.create(made);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, buffers.back());
    return success();
  }
};
} // namespace

void inlay::registerLibraryCallBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    plan::LibraryCallOp::attachInterface<LibraryCallModel>(*context);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns results into buffers that the caller passes.

#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace inlay {
#define GEN_PASS_DEF_PASSDESTINATIONSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Replaces splat constants by fills, so that bufferization makes no globals for them.
static void replaceSplats(func::FuncOp func) {
  func.walk([](arith::ConstantOp constant) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!type || !splat)
      return;
    OpBuilder builder(constant);
    Value scalar = arith::ConstantOp::create(builder, constant.getLoc(), splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(builder, constant.getLoc(), type.getShape(), type.getElementType());
    constant.replaceAllUsesWith(linalg::FillOp::create(builder, constant.getLoc(), scalar, empty).getResult(0));
    constant.erase();
  });
}

static LogicalResult passDestinations(func::FuncOp func) {
  auto returnOp = dyn_cast<func::ReturnOp>(func.getBody().back().getTerminator());
  if (!llvm::hasSingleElement(func.getBody()) || !returnOp)
    return func.emitError("expected a function with one block that ends in func.return");
  OpBuilder builder(returnOp);
  for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
    if (isa<TensorType>(func.getArgument(i).getType()))
      func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
  SmallVector<Attribute> dims; // Dims of the results.
  for (unsigned i = 0, e = func.getNumResults(); i < e; ++i)
    dims.push_back(func.getResultAttr(i, InlayDialect::kDimsAttr));
  func.removeResAttrsAttr();
  for (OpOperand &operand : returnOp->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return func.emitError("unsupported-type: expected results to be tensors, but got ") << operand.get().getType();
    auto memref = MemRefType::get(type.getShape(), type.getElementType());
    if (failed(func.insertArgument(func.getNumArguments(), memref, {}, operand.get().getLoc())))
      return failure();
    if (Attribute resultDims = dims[operand.getOperandNumber()])
      func.setArgAttr(func.getNumArguments() - 1, InlayDialect::kDimsAttr, resultDims);
    auto materialize = bufferization::MaterializeInDestinationOp::create(builder, returnOp.getLoc(), Type(),
                                                                         operand.get(), func.getArguments().back());
    materialize.setRestrict(true);
    materialize.setWritable(true);
  }
  returnOp->setOperands({});
  func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(), {}));
  return success();
}

namespace {
struct PassDestinationsPass : inlay::impl::PassDestinationsPassBase<PassDestinationsPass> {
  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    replaceSplats(getOperation());
    if (failed(passDestinations(getOperation())))
      signalPassFailure();
  }
};
} // namespace

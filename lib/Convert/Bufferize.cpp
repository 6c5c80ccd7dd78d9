// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From tensors to buffers: results and scratch memory become buffers that the caller passes.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace inlay {
#define GEN_PASS_DEF_HOISTALLOCATIONSPASS
#define GEN_PASS_DEF_PASSDESTINATIONSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Splat constants as fills, so that no global is made for them.
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
    return func.emitError("expected one block that returns");
  OpBuilder builder(returnOp);
  for (unsigned i = 0, e = func.getNumArguments(); i < e; ++i)
    if (isa<TensorType>(func.getArgument(i).getType()))
      func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
  for (OpOperand &operand : returnOp->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return func.emitError("unsupported-type: expected results to be tensors, but got ") << operand.get().getType();
    auto memref = MemRefType::get(type.getShape(), type.getElementType());
    if (failed(func.insertArgument(func.getNumArguments(), memref, {}, operand.get().getLoc())))
      return failure();
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        builder, returnOp.getLoc(), Type(), operand.get(), func.getArguments().back());
    materialize.setRestrict(true);
    materialize.setWritable(true);
  }
  returnOp->setOperands({});
  func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(), {}));
  return success();
}

static LogicalResult hoistAllocations(func::FuncOp func) {
  func->setAttr(kArgumentsAttr, OpBuilder(func).getI64IntegerAttr(func.getNumArguments()));
  for (auto alloc : llvm::make_early_inc_range(func.getOps<memref::AllocOp>())) {
    if (!alloc.getType().hasStaticShape() || !alloc.getType().getLayout().isIdentity())
      return alloc.emitError("unsupported-shape: expected scratch memory of static size, but got ") << alloc.getType();
    if (failed(func.insertArgument(func.getNumArguments(), alloc.getType(), {}, alloc.getLoc())))
      return failure();
    alloc.replaceAllUsesWith(func.getArguments().back());
    alloc.erase();
  }
  return success();
}

void inlay::replaceCopies(func::FuncOp func) {
  for (auto copy : llvm::make_early_inc_range(func.getOps<memref::CopyOp>())) {
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

void inlay::buildBufferizePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createPassDestinationsPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createHoistAllocationsPass());
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

struct HoistAllocationsPass : inlay::impl::HoistAllocationsPassBase<HoistAllocationsPass> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration() && failed(hoistAllocations(getOperation())))
      signalPassFailure();
  }
};
} // namespace

//===-- Dialects ------------------------------------------------------------------------------------------------===//

void inlay::registerBufferizeDialects(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  linalg::registerTilingInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
}

void inlay::loadBufferizeDialects(MLIRContext &context) {
  context.loadDialect<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                      cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                      memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect>();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts tensors to buffers. Results and scratch memory become buffers that the caller passes.

#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
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

using namespace mlir;
using namespace inlay;

void inlay::replaceCopies(func::FuncOp func) {
  for (auto copy : llvm::make_early_inc_range(func.getOps<memref::CopyOp>())) {
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

void inlay::buildBufferizePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
  pm.addNestedPass<func::FuncOp>(createNarrowIntegersPass());
  pm.addPass(createCanonicalizerPass());
  // CSE must not run before bufferization: reductions that share one fill would each need a copy of it.
  pm.addNestedPass<func::FuncOp>(createPassDestinationsPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createComputeInPlacePass());
}

bool inlay::isRuntimeElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64},
                      [&](unsigned width) { return type.isSignlessInteger(width); });
}

FailureOr<int64_t> inlay::getByteSize(Location loc, ShapedType type) {
  Type element = type.getElementType();
  if (!isRuntimeElement(element))
    return emitError(loc) << "unsupported-type: expected buffers of bool, i8-i64, f16, bf16, f32 or f64, but got "
                          << type;
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t dim : type.getShape())
    if (ShapedType::isDynamic(dim) || llvm::MulOverflow(bytes, dim, bytes))
      return emitError(loc) << "unsupported-shape: expected a buffer of less than 2^63 bytes, but got " << type;
  return bytes;
}

FailureOr<AffineExpr> inlay::getByteSize(Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  std::optional<SmallVector<AffineExpr>> dims = getBufferDims(memref);
  if (!dims)
    return emitError(loc)
           << "unsupported-shape: expected a buffer whose size follows from the sizes of inputs, but got " << type;
  SmallVector<int64_t> known;
  AffineExpr open = getAffineConstantExpr(1, memref.getContext());
  for (AffineExpr dim : *dims) {
    if (auto constant = dyn_cast<AffineConstantExpr>(dim))
      known.push_back(constant.getValue());
    else
      open = open * dim;
  }
  FailureOr<int64_t> bytes = getByteSize(loc, MemRefType::get(known, type.getElementType()));
  if (failed(bytes))
    return failure();
  return open * std::max<int64_t>(*bytes, 1);
}

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

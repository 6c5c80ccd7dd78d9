// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns results into buffers that the caller passes, or writes them into the buffers of arguments that they replace.

#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

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

/// Returns the memory of an argument that a result replaces. Bufferization sees a read at the start of the function.
/// The result is written at the end, after all other results: a copy, or nothing if the result was computed in that
/// memory, which bufferization decides because the argument is writable.
static Value viewUpdated(BlockArgument argument, MemRefType type) {
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  return bufferization::ToBufferOp::create(builder, argument.getLoc(), type, argument, /*read_only=*/true);
}

/// Returns the argument of which `value` may be a view after bufferization, or null.
static BlockArgument findViewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
                 tensor::ReshapeOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return dyn_cast<BlockArgument>(value);
}

/// Returns a copy of a tensor in memory of its own.
static Value copyTensor(OpBuilder &builder, Value value) {
  return bufferization::AllocTensorOp::create(builder, value.getLoc(), cast<RankedTensorType>(value.getType()),
                                              /*dynamicSizes=*/ValueRange(), /*copy=*/value);
}

static LogicalResult passDestinations(func::FuncOp func) {
  auto returnOp = dyn_cast<func::ReturnOp>(func.getBody().back().getTerminator());
  if (!llvm::hasSingleElement(func.getBody()) || !returnOp)
    return func.emitError("expected a function with one block that ends in func.return");
  OpBuilder builder(returnOp);
  unsigned inputs = func.getNumArguments(), results = func.getNumResults();
  SmallVector<Attribute> dims;                       // Of each result.
  SmallVector<std::optional<unsigned>> destinations; // Argument in whose memory each result goes, if there is one.
  llvm::SmallSetVector<int64_t, 4> updated;          // Arguments.
  for (unsigned i = 0; i < results; ++i) {
    dims.push_back(func.getResultAttr(i, InlayDialect::kDimsAttr));
    destinations.emplace_back();
    if (auto argument = func.getResultAttrOfType<IntegerAttr>(i, plan::kUpdatesAttr)) {
      destinations.back() = argument.getInt();
      updated.insert(argument.getInt());
    }
  }
  for (unsigned i = 0; i < inputs; ++i)
    if (isa<TensorType>(func.getArgument(i).getType()))
      func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                      builder.getBoolAttr(updated.contains(i)));
  func.removeResAttrsAttr();
  if (!updated.empty()) {
    SmallVector<int64_t> sorted = llvm::to_vector(updated);
    llvm::sort(sorted);
    func->setAttr(plan::kUpdatesAttr, builder.getDenseI64ArrayAttr(sorted));
  }
  SmallVector<std::pair<Value, Value>> outputs, replacements; // Results and their memory.
  for (OpOperand &operand : returnOp->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return func.emitError("unsupported-type: expected results to be tensors, but got ") << operand.get().getType();
    auto memref = MemRefType::get(type.getShape(), type.getElementType());
    if (destinations[number]) {
      BlockArgument argument = func.getArgument(*destinations[number]);
      // Bufferization may compute a result in the memory of another argument, which is replaced too.
      Value result = operand.get();
      if (updated.size() > 1 && findViewed(result) != argument)
        result = copyTensor(builder, result);
      replacements.emplace_back(result, viewUpdated(argument, memref));
      continue;
    }
    if (failed(func.insertArgument(func.getNumArguments(), memref, {}, operand.get().getLoc())))
      return failure();
    if (dims[number])
      func.setArgAttr(func.getNumArguments() - 1, InlayDialect::kDimsAttr, dims[number]);
    outputs.emplace_back(operand.get(), func.getArguments().back());
  }
  // Outputs may read the old values of arguments, so these are replaced last.
  outputs.append(replacements);
  for (auto [result, memory] : outputs) {
    auto materialize =
        bufferization::MaterializeInDestinationOp::create(builder, returnOp.getLoc(), Type(), result, memory);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts products, convolutions and attention to calls of the host library, together with the ops before and after
// them.

#include "FormLibraryCalls.h"
#include "LibraryCalls.h"
#include "inlay/Target/Host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace inlay {
#define GEN_PASS_DEF_FORMLIBRARYCALLSPASS
#include "inlay/Target/Host/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns the number of elements of a static tensor with elements, or 0.
static int64_t countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

/// Returns the number of multiplications for each element of the result of a product or convolution.
static int64_t getDepth(Operation *op) {
  if (isa<ConvOp>(op))
    return countElements(op->getOperand(1)) / cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(0);
  return cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back();
}

/// Returns true if all tensors of a product have 16-bit floats, and the weight is packed or each element is read often
/// enough to pay for its conversion to f32. Generated code is faster than a call with fewer multiplications, and for
/// attention.
static bool shouldWiden(Operation *op) {
  constexpr int64_t kMinReads = 16;
  auto values = llvm::concat<Value>(op->getOperands(), op->getResults());
  if (isa<ScaledDotProductAttentionOp>(op) || !llvm::all_of(values, [](Value value) {
        Type element = getElementTypeOrSelf(value.getType());
        return element.isF16() || element.isBF16();
      }))
    return false;
  if (hasQuantizedWeight(op))
    return true;
  int64_t elements = 0;
  for (Value value : values) {
    if (!countElements(value))
      return false;
    elements += countElements(value);
  }
  int64_t work = 0;
  return llvm::MulOverflow(countElements(op->getResult(0)), getDepth(op), work) || work / kMinReads >= elements;
}

/// Computes a product of 16-bit floats in f32, which is the only type that library kernels have. Returns the new
/// product.
static Operation *widenProduct(RewriterBase &rewriter, Operation *op) {
  Type f32 = rewriter.getF32Type();
  rewriter.setInsertionPoint(op);
  Operation *wide = rewriter.clone(*op);
  rewriter.setInsertionPoint(wide);
  for (OpOperand &operand : wide->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType()).clone(f32);
    operand.set(CastOp::create(rewriter, op->getLoc(), type, operand.get(), f32));
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  wide->getResult(0).setType(type.clone(f32));
  rewriter.setInsertionPointAfter(wide);
  rewriter.replaceOpWithNewOp<CastOp>(op, type, wide->getResult(0), type.getElementType());
  return wide;
}

void inlay::formLibraryCalls(func::FuncOp func) {
  // Each op is visited once: no op absorbs another one of these, and patterns create none.
  SmallVector<Operation *> products;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, LinearOp, ConvOp, ScaledDotProductAttentionOp>(op))
      products.push_back(op);
  });
  RewritePatternSet patterns(func.getContext());
  populateLibraryAttentionPatterns(patterns);
  populateLibraryConvolutionPatterns(patterns);
  populateLibraryProductPatterns(patterns);
  populateLibraryQuantizedProductPatterns(patterns);
  populateLibraryIntegerProductPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(func.getContext());
  for (Operation *op : products) {
    if (shouldWiden(op))
      op = widenProduct(rewriter, op);
    rewriter.setInsertionPoint(op);
    (void)applicator.matchAndRewrite(op, rewriter);
  }
  // Erase permutations, reshapes, conversions and dequantizations that have become part of calls.
  SmallVector<Operation *> sources;
  func.walk([&](Operation *op) {
    if (isa<PermuteOp, ReshapeOp, CastOp, DequantizeOp>(op))
      sources.push_back(op);
  });
  for (Operation *op : llvm::reverse(sources)) // The source of another one is erased after it.
    if (op->use_empty())
      rewriter.eraseOp(op);
}

namespace {
struct FormLibraryCallsPass : inlay::impl::FormLibraryCallsPassBase<FormLibraryCallsPass> {
  void runOnOperation() override { formLibraryCalls(getOperation()); }
};
} // namespace

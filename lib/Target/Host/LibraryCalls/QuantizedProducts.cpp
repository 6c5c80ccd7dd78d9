// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts products with dequantized weights to calls that read the codes.

#include "LibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The matrix of weights of a product.
struct QuantizedWeight {
  DequantizeOp op;
  bool isTransposed; ///< True if the weight has a row for each element of a row of the input.
};
} // namespace

/// Returns the weight if `value` is a matrix from codes that a call can read, or a permutation of one.
/// isTransposed: true if `value` has a row for each element of a row of the input.
static std::optional<QuantizedWeight> findWeight(Value value, bool isTransposed) {
  while (auto permute = value.getDefiningOp<PermuteOp>()) {
    if (tensorType(value).getRank() != 2)
      return std::nullopt;
    isTransposed ^= permute.getDims()[0] == 1 || permute.getDims()[0] == -1;
    value = permute.getInput();
  }
  auto op = value.getDefiningOp<DequantizeOp>();
  if (!op || !op.getDtype().isF32() || tensorType(value).getRank() != 2)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!tensorType(operand).hasStaticShape() || tensorType(operand).getEncoding())
      return std::nullopt;
  return QuantizedWeight{op, isTransposed};
}

/// Replaces a product of `input` and `weight`, and the ops that the call absorbs.
static LogicalResult formCall(PatternRewriter &rewriter, Operation *op, Value input,
                              std::optional<QuantizedWeight> weight, Value bias) {
  if (!weight)
    return rewriter.notifyMatchFailure(op, "expected a static matrix of dequantized weights of f32");
  if (failed(checkOperands(rewriter, op)))
    return failure();
  DequantizeOp dequantize = weight->op;
  LibraryCall call(plan::HostKernelKind::quantized_product);
  call.inputs = {input};
  llvm::append_range(call.inputs, dequantize->getOperands());
  SmallVector<int64_t> block;
  for (auto [length, size] : llvm::zip_equal(dequantize.getBlock(), tensorType(dequantize.getResult()).getShape()))
    block.push_back(length == -1 ? size : length);
  call.config.set("code", dequantize.getCodeAttr());
  call.config.set("block", rewriter.getDenseI64ArrayAttr(block));
  auto setFlag = [&](StringRef name, bool isSet) {
    if (isSet)
      call.config.set(name, rewriter.getUnitAttr());
  };
  setFlag("offsets", static_cast<bool>(dequantize.getOffsets()));
  setFlag("minima", dequantize.getMinima());
  setFlag("transposed", weight->isTransposed);
  setFlag("bias", static_cast<bool>(bias));
  if (bias)
    call.inputs.push_back(bias);
  call.absorbed.push_back(op);
  absorbUsers(call);
  replaceAbsorbed(rewriter, call);
  return success();
}

namespace {
struct FormQuantizedLinearCall : OpRewritePattern<LinearOp> {
  explicit FormQuantizedLinearCall(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(LinearOp op, PatternRewriter &rewriter) const override {
    return formCall(rewriter, op, op.getInput(), findWeight(op.getWeight(), /*isTransposed=*/false), op.getBias());
  }
};

struct FormQuantizedMatmulCall : OpRewritePattern<MatmulOp> {
  explicit FormQuantizedMatmulCall(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    return formCall(rewriter, op, op.getLhs(), findWeight(op.getRhs(), /*isTransposed=*/true), Value());
  }
};
} // namespace

void inlay::populateLibraryQuantizedProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FormQuantizedLinearCall, FormQuantizedMatmulCall>(patterns.getContext());
}

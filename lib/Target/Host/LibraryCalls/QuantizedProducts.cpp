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
  Type type;         ///< The floating-point type to which the weights are rounded.
  bool isTransposed; ///< True if the weight has a row for each element of a row of the input.
};
} // namespace

/// Returns true if the kernel can read a matrix of codes with its scales and offsets.
static bool isStaticMatrix(DequantizeOp op) {
  return tensorType(op.getResult()).getRank() == 2 && llvm::all_of(op->getOperands(), [](Value operand) {
           return tensorType(operand).hasStaticShape() && !tensorType(operand).getEncoding();
         });
}

/// Returns the weight if `value` is a matrix from codes that a call can read, or a permutation or conversion of one.
/// isTransposed: true if `value` has a row for each element of a row of the input.
static std::optional<QuantizedWeight> findWeight(Value value, bool isTransposed) {
  Type f32 = Float32Type::get(value.getContext()), rounded = f32;
  // Notes that the weights are rounded to `type`, and returns false if they are also rounded to another type.
  auto roundTo = [&](Type type) {
    bool isFirst = rounded == f32;
    if (isFirst && (type.isF16() || type.isBF16()))
      rounded = type;
    return type == f32 || type == rounded;
  };
  while (Operation *op = value.getDefiningOp()) {
    if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
      if (!isStaticMatrix(dequantize) || !roundTo(dequantize.getDtype()))
        return std::nullopt;
      return QuantizedWeight{dequantize, rounded, isTransposed};
    }
    if (tensorType(value).getRank() != 2 || !isa<PermuteOp, CastOp>(op) || !roundTo(tensorType(value).getElementType()))
      return std::nullopt;
    if (auto permute = dyn_cast<PermuteOp>(op))
      isTransposed ^= permute.getDims()[0] == 1 || permute.getDims()[0] == -1;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

bool inlay::hasQuantizedWeight(Operation *op) {
  return isa<LinearOp, MatmulOp>(op) && findWeight(op->getOperand(1), isa<MatmulOp>(op)).has_value();
}

/// Returns the sizes of a block, with those of whole dims as numbers.
static DenseI64ArrayAttr getBlock(OpBuilder &builder, DequantizeOp op) {
  SmallVector<int64_t> block;
  for (auto [length, size] : llvm::zip_equal(op.getBlock(), tensorType(op.getResult()).getShape()))
    block.push_back(length == -1 ? std::max<int64_t>(size, 1) : length);
  return builder.getDenseI64ArrayAttr(block);
}

/// Adds scales or offsets to a call: the codes and scales of another dequantization, or else their elements.
/// name: "scale" or "offset".
static void addBlockValues(OpBuilder &builder, LibraryCall &call, Value values, StringRef name) {
  auto nested = values.getDefiningOp<DequantizeOp>();
  if (!nested || nested.getOffsets() || !nested.getDtype().isF32() || !isStaticMatrix(nested)) {
    call.inputs.push_back(values);
    return;
  }
  llvm::append_range(call.inputs, nested->getOperands());
  call.config.set((name + "_code").str(), nested.getCodeAttr());
  call.config.set((name + "_block").str(), getBlock(builder, nested));
}

/// Replaces a product of `input` and `weight`, and the ops that the call absorbs.
static LogicalResult formCall(PatternRewriter &rewriter, Operation *op, Value input,
                              std::optional<QuantizedWeight> weight, Value bias) {
  if (!weight)
    return rewriter.notifyMatchFailure(op, "expected a static matrix of dequantized weights");
  if (failed(checkOperands(rewriter, op)))
    return failure();
  DequantizeOp dequantize = weight->op;
  LibraryCall call(plan::HostKernelKind::quantized_product);
  call.inputs = {input, dequantize.getCodes()};
  addBlockValues(rewriter, call, dequantize.getScales(), "scale");
  if (dequantize.getOffsets())
    addBlockValues(rewriter, call, dequantize.getOffsets(), "offset");
  call.config.set("code", dequantize.getCodeAttr());
  call.config.set("block", getBlock(rewriter, dequantize));
  if (!weight->type.isF32())
    call.config.set("type", TypeAttr::get(weight->type));
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

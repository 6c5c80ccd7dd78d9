// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts products and convolutions of two dequantized tensors to calls that multiply their codes. A quantization of
// the result becomes part of the call. QuantizedProducts.cpp has products of floats with dequantized weights.

#include "LibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

using namespace mlir;
using namespace inlay;

//===-- Operands ------------------------------------------------------------------------------------------------===//

namespace {
/// A dequantized operand of a product.
struct CodeOperand {
  DequantizeOp op;
  ReshapeOp reshape;         ///< Null, or a reshape of the floats.
  bool hasSeveralScales;     ///< False if there is one scale.
  bool isTransposed = false; ///< True for a weight that has a row for each element of a row of the input.
};
} // namespace

/// Returns true if the block of each element is determined by its index in `dim`.
static bool isAlong(DequantizeOp op, int64_t dim) {
  ArrayRef<int64_t> shape = tensorType(op.getResult()).getShape();
  for (auto [i, length] : llvm::enumerate(op.getBlock()))
    if (static_cast<int64_t>(i) == dim ? length != 1 && shape[i] != 1 : length != -1 && length < shape[i])
      return false;
  return true;
}

static bool isOneElement(Value value) {
  RankedTensorType type = tensorType(value);
  return type.hasStaticShape() && type.getNumElements() == 1;
}

/// Returns true if all elements have one scale, and one offset if there are offsets.
template <typename Op>
static bool hasOneScale(Op op) {
  return isOneElement(op.getScales()) && (!op.getOffsets() || isOneElement(op.getOffsets()));
}

/// Returns true if each row of a matrix has a scale, and an offset if there are offsets.
static bool hasScaleOfEachRow(DequantizeOp op) {
  int64_t rows = tensorType(op.getResult()).getDimSize(0);
  return isAlong(op, 0) && llvm::all_of(op->getOperands().drop_front(),
                                        [&](Value value) { return tensorType(value).getDimSize(0) == rows; });
}

/// Returns true if a call can read scales of f32, and offsets of f32 or i8.
template <typename Op>
static bool hasReadableScales(Op op) {
  Type offset = op.getOffsets() ? tensorType(op.getOffsets()).getElementType() : Type();
  return tensorType(op.getScales()).getElementType().isF32() && (!offset || offset.isF32() || offset.isInteger(8));
}

/// Refuses codes that are not bytes, and scales and offsets that a call can't read.
static LogicalResult checkCodes(PatternRewriter &rewriter, Operation *op, DequantizeOp dequantize) {
  if (!dequantize)
    return rewriter.notifyMatchFailure(op, "expected an operand from a dequantization");
  if (dequantize.getBits() != 8 || dequantize.getMinima())
    return rewriter.notifyMatchFailure(op, "expected codes of 8 bits with zero points");
  for (Value value : dequantize->getOperands())
    if (tensorType(value).getEncoding() || !getDims(value))
      return rewriter.notifyMatchFailure(op, "expected dims that follow from the dims of inputs");
  if (!hasReadableScales(dequantize))
    return rewriter.notifyMatchFailure(op, "expected scales of f32, and offsets of f32 or i8");
  return success();
}

/// Returns the input of a product or convolution. hasRows: true for a product, whose rows may have scales.
static FailureOr<CodeOperand> findInput(PatternRewriter &rewriter, Operation *op, Value value, bool hasRows) {
  CodeOperand found{};
  found.reshape = value.getDefiningOp<ReshapeOp>();
  found.op = (found.reshape ? found.reshape.getInput() : value).getDefiningOp<DequantizeOp>();
  if (failed(checkCodes(rewriter, op, found.op)))
    return failure();
  found.hasSeveralScales = !hasOneScale(found.op);
  if (!found.hasSeveralScales)
    return found;
  // Rows of a tensor of more dims would need a scale for each of their indices.
  if (hasRows && !found.reshape && tensorType(value).getRank() == 2 && hasScaleOfEachRow(found.op))
    return found;
  return rewriter.notifyMatchFailure(op, "expected one scale of the activations, or one for each row of a matrix");
}

/// Returns the weight of a product or convolution. A product may use a permuted one.
static FailureOr<CodeOperand> findWeight(PatternRewriter &rewriter, Operation *op, Value value, bool isTransposed) {
  CodeOperand found{};
  found.isTransposed = isTransposed;
  auto permute = value.getDefiningOp<PermuteOp>();
  for (; permute && tensorType(value).getRank() == 2; permute = value.getDefiningOp<PermuteOp>()) {
    found.isTransposed ^= permute.getDims()[0] == 1 || permute.getDims()[0] == -1;
    value = permute.getInput();
  }
  found.op = value.getDefiningOp<DequantizeOp>();
  if (failed(checkCodes(rewriter, op, found.op)))
    return failure();
  if (!tensorType(found.op.getCodes()).hasStaticShape() || !tensorType(found.op.getScales()).hasStaticShape())
    return rewriter.notifyMatchFailure(op, "expected weights with static dims");
  found.hasSeveralScales = !hasOneScale(found.op);
  if (found.hasSeveralScales && !isAlong(found.op, found.isTransposed))
    return rewriter.notifyMatchFailure(op, "expected one scale of the weights, or one for each output channel");
  return found;
}

/// Adds codes, scales and offsets to the inputs of a call. `name` is that of the operand in `config`.
static void addOperand(PatternRewriter &rewriter, LibraryCall &call, StringRef name, CodeOperand operand) {
  Value codes = operand.op.getCodes();
  if (ReshapeOp reshape = operand.reshape) {
    auto type = tensorType(reshape.getResult()).clone(rewriter.getI8Type());
    auto moved =
        ReshapeOp::create(rewriter, reshape.getLoc(), type, codes, reshape.getShapeAttr(), reshape.getSizesAttr());
    copyDims(reshape, moved);
    codes = moved;
  }
  call.inputs.append({codes, operand.op.getScales()});
  call.config.set((name + "_code").str(), operand.op.getCodeAttr());
  if (operand.op.getOffsets()) {
    call.inputs.push_back(operand.op.getOffsets());
    call.config.set((name + "_offsets").str(), rewriter.getUnitAttr());
  }
  if (operand.hasSeveralScales)
    call.config.set((name + "_scales").str(), rewriter.getUnitAttr());
}

/// Absorbs the addition of a vector with an element for each output of a product, and returns the vector. Returns null
/// if another op follows.
static Value absorbBias(LibraryCall &call) {
  Value result = call.getResult();
  auto sum = result.hasOneUse() ? dyn_cast<AddOp>(*result.user_begin()) : AddOp();
  if (!sum || sum->getBlock() != result.getParentBlock() || sum->getResult(0).getType() != result.getType())
    return Value();
  Value other = sum->getOperand(sum->getOperand(0) == result ? 1 : 0);
  auto type = dyn_cast<RankedTensorType>(other.getType());
  if (!type || type.getRank() != 1 || type.getDimSize(0) != tensorType(result).getShape().back() ||
      !type.getElementType().isF32() || !getDims(other))
    return Value();
  call.absorbed.push_back(sum);
  return other;
}

//===-- Results -------------------------------------------------------------------------------------------------===//

/// Absorbs a quantization of the result with one scale if the floats have no other use.
static void absorbQuantize(PatternRewriter &rewriter, LibraryCall &call) {
  Value result = call.getResult();
  auto quantize = result.hasOneUse() ? dyn_cast<QuantizeOp>(*result.user_begin()) : QuantizeOp();
  if (!quantize || quantize.getInput() != result || quantize->getBlock() != result.getParentBlock())
    return;
  if (!hasOneScale(quantize) || !hasReadableScales(quantize))
    return;
  call.inputs.push_back(quantize.getScales());
  call.config.set("result_code", quantize.getCodeAttr());
  call.config.set("limits", rewriter.getDenseI64ArrayAttr({int64_t(quantize.getLow()), int64_t(quantize.getHigh())}));
  if (Value offsets = quantize.getOffsets()) {
    call.inputs.push_back(offsets);
    call.config.set("result_offsets", rewriter.getUnitAttr());
  }
  if (quantize.getInverse())
    call.config.set("inverse", rewriter.getUnitAttr());
  call.absorbed.push_back(quantize);
}

/// Refuses results that are neither f32 nor f64 without a bias, or that have no elements.
static LogicalResult checkResult(PatternRewriter &rewriter, Operation *op, Value bias) {
  RankedTensorType type = tensorType(op->getResult(0));
  if (type.getEncoding() || !(type.getElementType().isF32() || (type.getElementType().isF64() && !bias)))
    return rewriter.notifyMatchFailure(op, "expected f32, or f64 without a bias, but got " + spell(type));
  auto isEmpty = [](Value value) { return llvm::is_contained(tensorType(value).getShape(), 0); };
  if (llvm::any_of(op->getOperands(), isEmpty) || isEmpty(op->getResult(0)))
    return rewriter.notifyMatchFailure(op, "expected tensors with elements");
  if (!getDims(op->getResult(0)) || (bias && !getDims(bias)))
    return rewriter.notifyMatchFailure(op, "expected dims that follow from the dims of inputs, but got " + spell(type));
  return success();
}

/// Replaces `op`, the ops that follow it, and the dequantizations of its operands by a call.
static void formCall(PatternRewriter &rewriter, Operation *op, const CodeOperand &input, const CodeOperand &weight,
                     Value bias, ArrayRef<int64_t> window) {
  LibraryCall call(plan::HostKernelKind::integer_product);
  addOperand(rewriter, call, "input", input);
  addOperand(rewriter, call, "weight", weight);
  if (weight.isTransposed)
    call.config.set("transposed", rewriter.getUnitAttr());
  call.window.assign(window.begin(), window.end());
  call.absorbed.push_back(op);
  bool isFloat = tensorType(op->getResult(0)).getElementType().isF32();
  if (isFloat && !bias && window.empty())
    bias = absorbBias(call);
  if (bias) {
    call.config.set("bias", rewriter.getUnitAttr());
    call.inputs.push_back(bias);
  }
  if (isFloat) {
    absorbUsers(call);
    absorbQuantize(rewriter, call);
  }
  replaceAbsorbed(rewriter, call);
}

//===-- Patterns ------------------------------------------------------------------------------------------------===//

/// Converts a product of `input`, whose last dim is summed, with a matrix.
static LogicalResult formProduct(PatternRewriter &rewriter, Operation *op, Value input, Value weight, bool isTransposed,
                                 Value bias) {
  if (tensorType(weight).getRank() != 2 || tensorType(input).getRank() < 2)
    return rewriter.notifyMatchFailure(op, "expected a product with a matrix");
  FailureOr<CodeOperand> x = findInput(rewriter, op, input, /*hasRows=*/true);
  FailureOr<CodeOperand> w = findWeight(rewriter, op, weight, isTransposed);
  if (failed(x) || failed(w) || failed(checkResult(rewriter, op, bias)))
    return failure();
  SmallVector<int64_t> loops(tensorType(input).getShape());
  loops.push_back(tensorType(op->getResult(0)).getShape().back());
  if (ShapedType::isDynamic(loops[loops.size() - 2]) || failed(checkWork(rewriter, op, loops)))
    return failure();
  formCall(rewriter, op, *x, *w, bias, {});
  return success();
}

namespace {
struct FormIntegerLinearCall : OpRewritePattern<LinearOp> {
  explicit FormIntegerLinearCall(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(LinearOp op, PatternRewriter &rewriter) const override {
    return formProduct(rewriter, op, op.getInput(), op.getWeight(), /*isTransposed=*/false, op.getBias());
  }
};

struct FormIntegerMatmulCall : OpRewritePattern<MatmulOp> {
  explicit FormIntegerMatmulCall(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    return formProduct(rewriter, op, op.getLhs(), op.getRhs(), /*isTransposed=*/true, Value());
  }
};

struct FormIntegerConvCall : OpRewritePattern<ConvOp> {
  explicit FormIntegerConvCall(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType weightType = tensorType(op.getWeight());
    constexpr int64_t kMaxSpatial = 2, kLeastOutputs = 8;
    if (weightType.getRank() - 2 > kMaxSpatial || !weightType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "expected a static window of one or two dims");
    // A panel of weights has 16 output channels of one group.
    if (op.getGroups() > 1 && weightType.getDimSize(0) / static_cast<int64_t>(op.getGroups()) < kLeastOutputs)
      return rewriter.notifyMatchFailure(op, "expected at least " + Twine(kLeastOutputs) +
                                                 " output channels in each group");
    FailureOr<CodeOperand> x = findInput(rewriter, op, op.getInput(), /*hasRows=*/false);
    FailureOr<CodeOperand> w = findWeight(rewriter, op, op.getWeight(), /*isTransposed=*/false);
    if (failed(x) || failed(w) || failed(checkResult(rewriter, op, op.getBias())))
      return failure();
    SmallVector<int64_t> loops(tensorType(op.getResult()).getShape()), window{int64_t(op.getGroups())};
    llvm::append_range(loops, weightType.getShape().drop_front());
    if (failed(checkWork(rewriter, op, loops)))
      return failure();
    for (auto [i, size] : llvm::enumerate(weightType.getShape().drop_front(2)))
      window.append({size, op.getStride()[i], op.getDilation()[i], op.getPadding()[i]});
    formCall(rewriter, op, *x, *w, op.getBias(), window);
    return success();
  }
};
} // namespace

void inlay::populateLibraryIntegerProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FormIntegerLinearCall, FormIntegerMatmulCall, FormIntegerConvCall>(patterns.getContext());
}

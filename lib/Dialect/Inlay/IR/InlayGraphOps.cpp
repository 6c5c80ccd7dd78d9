// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of graph ops. It also verifies them, because it reports all invalid operands and attributes.

#include "InferGraphOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

//===-- Windows: convolution and pooling ------------------------------------------------------------------------===//

namespace {
/// A window that slides over the trailing dims. Only a kernel that is the shape of a tensor may have dynamic sizes.
struct Window {
  ArrayRef<int64_t> kernel, stride, padding, dilation;
  bool ceilMode = false;
  bool dynamicKernel = false;
};
} // namespace

/// Maximum of the numbers of a window. The size of a dim may be its square. Sums of such numbers fit in 63 bits.
static constexpr int64_t kMaxWindow = int64_t(1) << 30;

template <typename Op>
static LogicalResult checkWindow(OptLoc loc, const Window &window, size_t spatial) {
  std::pair<StringRef, ArrayRef<int64_t>> lists[] = {
      {"kernel", window.kernel}, {"stride", window.stride}, {"padding", window.padding}, {"dilation", window.dilation}};
  for (auto [name, list] : lists) {
    if (list.size() != spatial)
      return reject<Op>(loc, "expected one number of ", name, " per spatial dim (", spatial, "), but got ",
                        list.size());
    bool isPadding = name == "padding", mayBeDynamic = name == "kernel" && window.dynamicKernel;
    for (int64_t number : list)
      if (!(mayBeDynamic && ShapedType::isDynamic(number)) && (number < (isPadding ? 0 : 1) || number > kMaxWindow))
        return reject<Op>(loc, "expected ", name, " to be ", isPadding ? "at least 0" : "positive",
                          " and at most 2^30, but got ", number);
  }
  return success();
}

/// Returns the output size of one spatial dim by PyTorch's formula. It is dynamic if that of the input or the kernel
/// is.
static int64_t outputSize(int64_t input, const Window &window, size_t i) {
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(window.kernel[i]))
    return ShapedType::kDynamic;
  int64_t stride = window.stride[i], padding = window.padding[i];
  int64_t span = input + 2 * padding - window.dilation[i] * (window.kernel[i] - 1) - 1;
  int64_t size = llvm::divideFloorSigned(span, stride) + 1;
  // In ceil mode, one more window counts if it starts inside the input or its left padding.
  if (window.ceilMode && llvm::mod(span, stride) && size * stride < input + padding)
    ++size;
  return std::max<int64_t>(size, 0);
}

/// Appends the spatial sizes of the output to `shape`. The spatial dims of the input start at 2.
template <typename Op>
static LogicalResult appendSpatial(OptLoc loc, RankedTensorType input, const Window &window,
                                   SmallVectorImpl<int64_t> &shape) {
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    if (input.getDimSize(i + 2) > kMaxWindow * kMaxWindow)
      return reject<Op>(loc, "expected spatial dims of at most 2^60, but got ", input);
    int64_t size = outputSize(input.getDimSize(i + 2), window, i);
    if (size == 0)
      return reject<Op>(loc, "expected a window no larger than the padded input, but dim ", i + 2, " of ", input,
                        " is too small for a kernel of ", window.kernel[i]);
    shape.push_back(size);
  }
  return success();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight());
  if (input.getRank() < 3 || weight.getRank() != input.getRank())
    return reject<ConvOp>(loc, "expected input and weight of one rank of at least 3, but got ", input, " and ", weight);
  if (input.getElementType() != weight.getElementType())
    return reject<ConvOp>(loc, "expected input and weight of one element type, but got ", input, " and ", weight);
  int64_t groups = op.getGroups(), channels = input.getDimSize(1), outputs = weight.getDimSize(0);
  if (groups < 1)
    return reject<ConvOp>(loc, "expected at least one group, but got ", groups);
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(weight.getDimSize(1)) &&
      (channels % groups || channels / groups != weight.getDimSize(1)))
    return reject<ConvOp>(loc, "expected weight to have ", channels, " / ", groups, " input channels, but got ",
                          weight.getDimSize(1));
  if (!ShapedType::isDynamic(outputs) && outputs % groups)
    return reject<ConvOp>(loc, "expected output channels (", outputs, ") to be a multiple of groups (", groups, ")");
  if (op.getBias() && failed(checkVector<ConvOp>(loc, "bias", op.getBias(), outputs, input.getElementType())))
    return failure();
  Window window{weight.getShape().drop_front(2), op.getStride(), op.getPadding(), op.getDilation()};
  window.dynamicKernel = true;
  SmallVector<int64_t> shape{input.getDimSize(0), outputs};
  if (failed(checkWindow<ConvOp>(loc, window, input.getRank() - 2)) ||
      failed(appendSpatial<ConvOp>(loc, input, window, shape)))
    return failure();
  return yieldType<ConvOp>(loc, shape, input.getElementType(), types);
}

/// Appends the spatial sizes of the result of a transposed convolution. Fails if one of them is empty.
static LogicalResult appendTransposed(OptLoc loc, ConvTransposeOp::Adaptor op, const Window &window,
                                      SmallVectorImpl<int64_t> &shape) {
  RankedTensorType input = tensorType(op.getInput());
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    int64_t size = input.getDimSize(i + 2), added = op.getOutputPadding()[i];
    if (added < 0 || added >= std::max(window.stride[i], window.dilation[i]))
      return reject<ConvTransposeOp>(
          loc, "expected output_padding of at least 0 and less than stride or dilation, but ", "got ", added);
    if (!ShapedType::isDynamic(size) && (size < 1 || size > kMaxWindow))
      return reject<ConvTransposeOp>(loc, "expected spatial dims of at least 1 and at most 2^30, but got ", input);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.kernel[i])) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    shape.push_back((size - 1) * window.stride[i] - 2 * window.padding[i] +
                    window.dilation[i] * (window.kernel[i] - 1) + added + 1);
    if (shape.back() < 1)
      return reject<ConvTransposeOp>(loc, "expected padding that leaves an element of each dim, but dim ", i + 2,
                                     " would have ", shape.back());
  }
  return success();
}

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight());
  if (input.getRank() < 3 || weight.getRank() != input.getRank() || input.getElementType() != weight.getElementType())
    return reject<ConvTransposeOp>(loc,
                                   "expected input and weight of one element type and one rank of at least 3, but ",
                                   "got ", input, " and ", weight);
  int64_t groups = op.getGroups(), channels = input.getDimSize(1), perGroup = weight.getDimSize(1);
  if (groups < 1)
    return reject<ConvTransposeOp>(loc, "expected at least one group, but got ", groups);
  if (!mayEqual(channels, weight.getDimSize(0)))
    return reject<ConvTransposeOp>(loc, "expected weight to have ", channels, " input channels, but got ",
                                   weight.getDimSize(0));
  if (!ShapedType::isDynamic(channels) && channels % groups)
    return reject<ConvTransposeOp>(loc, "expected input channels (", channels, ") to be a multiple of groups (", groups,
                                   ")");
  int64_t outputs = perGroup;
  if (!ShapedType::isDynamic(perGroup) && llvm::MulOverflow(perGroup, groups, outputs))
    return reject<ConvTransposeOp>(loc, "expected less than 2^63 output channels, but got ", perGroup, " x ", groups);
  if (op.getBias() && failed(checkVector<ConvTransposeOp>(loc, "bias", op.getBias(), outputs, input.getElementType())))
    return failure();
  Window window{weight.getShape().drop_front(2), op.getStride(), op.getPadding(), op.getDilation()};
  window.dynamicKernel = true;
  if (failed(checkWindow<ConvTransposeOp>(loc, window, input.getRank() - 2)))
    return failure();
  if (op.getOutputPadding().size() != window.kernel.size())
    return reject<ConvTransposeOp>(loc, "expected one number of output_padding per spatial dim (", window.kernel.size(),
                                   "), but got ", op.getOutputPadding().size());
  SmallVector<int64_t> shape{input.getDimSize(0), outputs};
  if (failed(appendTransposed(loc, op, window, shape)))
    return failure();
  return yieldType<ConvTransposeOp>(loc, shape, input.getElementType(), types);
}

template <typename Op>
static LogicalResult inferPool(OptLoc loc, RankedTensorType input, const Window &window, Types &types) {
  if (input.getRank() < 3)
    return reject<Op>(loc, "expected an input of rank 3 or more (N x C x spatial), but got ", input);
  SmallVector<int64_t> shape{input.getDimSize(0), input.getDimSize(1)};
  if (failed(checkWindow<Op>(loc, window, input.getRank() - 2)))
    return failure();
  for (auto [padding, kernel] : llvm::zip(window.padding, window.kernel))
    if (padding > kernel / 2)
      return reject<Op>(loc, "expected padding of at most half the kernel (", kernel, "), but got ", padding);
  if (failed(appendSpatial<Op>(loc, input, window, shape)))
    return failure();
  return yieldType<Op>(loc, shape, input.getElementType(), types);
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  Window window{op.getKernel(), op.getStride(), op.getPadding(), op.getDilation(), op.getCeilMode()};
  return inferPool<MaxPoolOp>(loc, tensorType(op.getInput()), window, types);
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  SmallVector<int64_t> dilation(op.getKernel().size(), 1);
  Window window{op.getKernel(), op.getStride(), op.getPadding(), dilation, op.getCeilMode()};
  return inferPool<AvgPoolOp>(loc, tensorType(op.getInput()), window, types);
}

//===-- Normalization -------------------------------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (input.getRank() < 2 || !isa<FloatType>(input.getElementType()))
    return reject<BatchNormOp>(loc, "expected an input of floats of rank 2 or more, but got ", input);
  std::pair<StringRef, Value> vectors[] = {
      {"weight", op.getWeight()}, {"bias", op.getBias()}, {"mean", op.getMean()}, {"variance", op.getVariance()}};
  for (auto [name, vector] : vectors)
    if (failed(checkVector<BatchNormOp>(loc, name, vector, input.getDimSize(1), input.getElementType())))
      return failure();
  types.push_back(input);
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (!isa<FloatType>(input.getElementType()))
    return reject<LayerNormOp>(loc, "expected an input of floats, but got ", input);
  for (Value value : {op.getWeight(), op.getBias()}) {
    RankedTensorType type = tensorType(value);
    bool trailing = type.getRank() >= 1 && type.getRank() <= input.getRank() &&
                    type.getElementType() == input.getElementType() &&
                    llvm::all_of(llvm::zip(type.getShape(), input.getShape().take_back(type.getRank())),
                                 [](auto pair) { return mayEqual(std::get<0>(pair), std::get<1>(pair)); });
    if (!trailing || type.getRank() != tensorType(op.getWeight()).getRank())
      return reject<LayerNormOp>(loc, "expected weight and bias to have the trailing dims of ", input, ", but got ",
                                 type);
  }
  types.push_back(input);
  return success();
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (!isa<FloatType>(input.getElementType()))
    return reject<SoftmaxOp>(loc, "expected an input of floats, but got ", input);
  if (!normalizeDim(op.getDim(), input.getRank()))
    return reject<SoftmaxOp>(loc, "expected dim in [", -input.getRank(), ", ", input.getRank(), "), but got ",
                             op.getDim());
  types.push_back(input);
  return success();
}

//===-- Products ------------------------------------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
  if (lhs.getRank() < 2 || rhs.getRank() < 2 || lhs.getElementType() != rhs.getElementType())
    return reject<MatmulOp>(loc, "expected operands of one element type and rank 2 or more, but got ", lhs, " and ",
                            rhs);
  ArrayRef<int64_t> left = lhs.getShape(), right = rhs.getShape();
  if (!mayEqual(left.back(), right[right.size() - 2]))
    return reject<MatmulOp>(loc, "expected the last dim of ", lhs, " to equal the last but one of ", rhs);
  SmallVector<int64_t> shape(std::max(left.size(), right.size()) - 2);
  for (size_t i = 0; i < shape.size(); ++i) { // Counts dims from the back.
    int64_t a = i + 2 < left.size() ? left[left.size() - 3 - i] : 1;
    int64_t b = i + 2 < right.size() ? right[right.size() - 3 - i] : 1;
    std::optional<int64_t> dim = broadcastDim(a, b);
    if (!dim)
      return reject<MatmulOp>(loc, "expected leading dims that broadcast, but got ", lhs, " and ", rhs);
    shape[shape.size() - 1 - i] = *dim;
  }
  shape.append({left[left.size() - 2], right.back()});
  return yieldType<MatmulOp>(loc, shape, lhs.getElementType(), types);
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight());
  if (input.getRank() < 1 || weight.getRank() != 2 || input.getElementType() != weight.getElementType() ||
      !mayEqual(input.getShape().back(), weight.getDimSize(1)))
    return reject<LinearOp>(loc, "expected weight to be a matrix of input's element type with as many columns as ",
                            "input's last dim, but got ", input, " and ", weight);
  if (op.getBias() &&
      failed(checkVector<LinearOp>(loc, "bias", op.getBias(), weight.getDimSize(0), input.getElementType())))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = weight.getDimSize(0);
  return yieldType<LinearOp>(loc, shape, input.getElementType(), types);
}

LogicalResult GroupedMatmulOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight()),
                   offsets = tensorType(op.getOffsets());
  if (input.getRank() != 2 || weight.getRank() != 3 || input.getElementType() != weight.getElementType() ||
      !mayEqual(input.getDimSize(1), weight.getDimSize(1)))
    return reject<GroupedMatmulOp>(loc, "expected a matrix and matrices with as many rows as it has columns, of one ",
                                   "element type, but got ", input, " and ", weight);
  if (offsets.getRank() != 1 || !offsets.getElementType().isSignlessInteger() ||
      !mayEqual(offsets.getDimSize(0), weight.getDimSize(0)))
    return reject<GroupedMatmulOp>(loc, "expected an integer offset for each matrix of ", weight, ", but got ",
                                   offsets);
  return yieldType<GroupedMatmulOp>(loc, {input.getDimSize(0), weight.getDimSize(2)}, input.getElementType(), types);
}

//===-- Quantization --------------------------------------------------------------------------------------------===//

/// Infers the number of codes in the last dim, which has `bytes` bytes.
static FailureOr<int64_t> inferCodes(OptLoc loc, int64_t bytes, int64_t codesPerByte, std::optional<int64_t> size) {
  int64_t most = 0;
  if (ShapedType::isDynamic(bytes))
    return size ? *size : ShapedType::kDynamic;
  if (llvm::MulOverflow(bytes, codesPerByte, most))
    return reject<DequantizeOp>(loc, "expected less than 2^63 codes, but got ", bytes, " bytes in the last dim");
  int64_t least = std::max<int64_t>(most - codesPerByte + 1, 0);
  if (size && (*size < least || *size > most))
    return reject<DequantizeOp>(loc, "expected a size in [", least, ", ", most, "] for ", bytes,
                                " bytes in the last dim, but got ", *size);
  return size.value_or(most);
}

/// Checks that `value` has an element for each block of a tensor of dims `shape`.
template <typename Op>
static LogicalResult checkBlocks(OptLoc loc, StringRef what, Value value, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> block) {
  SmallVector<int64_t> wanted;
  for (auto [size, length] : llvm::zip_equal(shape, block))
    wanted.push_back(length == -1                  ? 1
                     : ShapedType::isDynamic(size) ? size
                                                   : static_cast<int64_t>(llvm::divideCeil(size, length)));
  RankedTensorType type = tensorType(value);
  if (type.getRank() == static_cast<int64_t>(wanted.size()) &&
      llvm::all_of(llvm::zip(type.getShape(), wanted),
                   [](auto pair) { return mayEqual(std::get<0>(pair), std::get<1>(pair)); }))
    return success();
  return reject<Op>(loc, "expected ", what, " of dims [", ArrayRef<int64_t>(wanted), "], one for each block, but got ",
                    type);
}

static bool isShortFloat(Type type) { return type.isF16() || type.isBF16() || type.isF32(); }

/// Checks the sizes of blocks of `tensor`, and the scales of its elements, which have the dims `shape`.
template <typename Op>
static LogicalResult checkScales(OptLoc loc, typename Op::Adaptor op, RankedTensorType tensor,
                                 ArrayRef<int64_t> shape) {
  RankedTensorType scales = tensorType(op.getScales());
  if (!isShortFloat(scales.getElementType()))
    return reject<Op>(loc, "expected scales of f16, bf16 or f32, but got ", scales);
  if (op.getBlock().size() != shape.size() ||
      llvm::any_of(op.getBlock(), [](int64_t length) { return length < 1 && length != -1; }))
    return reject<Op>(loc, "expected a positive size of a block, or -1, for each dim of ", tensor, ", but got [",
                      op.getBlock(), "]");
  return checkBlocks<Op>(loc, "scales", op.getScales(), shape, op.getBlock());
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType codes = tensorType(op.getCodes());
  if (!llvm::is_contained({"i2", "u2", "i4", "u4", "i8", "u8"}, op.getCode()))
    return reject<DequantizeOp>(loc, "expected code to be i2, u2, i4, u4, i8 or u8, but got ", op.getCode());
  if (!codes.getElementType().isInteger(8) || codes.getRank() < 1)
    return reject<DequantizeOp>(loc, "expected codes of i8 with at least one dim, but got ", codes);
  if (!isShortFloat(op.getDtype()) && !op.getDtype().isF64())
    return reject<DequantizeOp>(loc, "expected a result of f16, bf16, f32 or f64, but got ", op.getDtype());
  SmallVector<int64_t> shape(codes.getShape());
  FailureOr<int64_t> last = inferCodes(loc, shape.back(), 8 / (op.getCode().back() - '0'), op.getSize());
  if (failed(last))
    return failure();
  shape.back() = *last;
  if (failed(checkScales<DequantizeOp>(loc, op, codes, shape)))
    return failure();
  if (op.getMinima() && !op.getOffsets())
    return reject<DequantizeOp>(loc, "expected offsets, which are the minima, but got none");
  if (op.getOffsets()) {
    Type element = tensorType(op.getOffsets()).getElementType();
    if (!isShortFloat(element) && (op.getMinima() || !element.isInteger(8)))
      return reject<DequantizeOp>(loc, "expected offsets of f16, bf16", op.getMinima() ? " or f32" : ", f32 or i8",
                                  ", but got ", tensorType(op.getOffsets()));
    if (failed(checkBlocks<DequantizeOp>(loc, "offsets", op.getOffsets(), shape, op.getBlock())))
      return failure();
  }
  return yieldType<DequantizeOp>(loc, shape, op.getDtype(), types);
}

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *context, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (op.getCode() != "i8" && op.getCode() != "u8")
    return reject<QuantizeOp>(loc, "expected code to be i8 or u8, but got ", op.getCode());
  if (!isShortFloat(input.getElementType()))
    return reject<QuantizeOp>(loc, "expected an input of f16, bf16 or f32, but got ", input);
  int64_t least = op.getCode() == "i8" ? -128 : 0, most = least + 255;
  auto low = static_cast<int64_t>(op.getLow()), high = static_cast<int64_t>(op.getHigh());
  if (low < least || high > most || low > high)
    return reject<QuantizeOp>(loc, "expected limits in [", least, ", ", most, "], but got ", low, " to ", high);
  if (failed(checkScales<QuantizeOp>(loc, op, input, input.getShape())))
    return failure();
  if (op.getOffsets()) {
    RankedTensorType offsets = tensorType(op.getOffsets());
    if (!isShortFloat(offsets.getElementType()) && !offsets.getElementType().isInteger(8))
      return reject<QuantizeOp>(loc, "expected offsets of f16, bf16, f32 or i8, but got ", offsets);
    if (failed(checkBlocks<QuantizeOp>(loc, "offsets", op.getOffsets(), input.getShape(), op.getBlock())))
      return failure();
  }
  return yieldType<QuantizeOp>(loc, input.getShape(), IntegerType::get(context, 8), types);
}

//===-- Layout --------------------------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  SmallVector<int64_t> shape(op.getShape());
  if (failed(checkSizes(loc, ReshapeOp::getOperationName(), op.getSizesAttr(), shape)))
    return failure();
  int64_t *open = nullptr;
  int64_t known = 1;
  bool isStatic = input.hasStaticShape();
  for (int64_t &dim : shape) {
    if (ShapedType::isDynamic(dim)) {
      isStatic = false;
      continue;
    }
    if (dim < -1 || (dim == -1 && open))
      return reject<ReshapeOp>(loc, "expected dims of at least 0 and at most one -1, but got [", op.getShape(), "]");
    if (dim == -1)
      open = &dim;
    else if (llvm::MulOverflow(known, dim, known))
      return reject<ReshapeOp>(loc, "expected less than 2^63 elements, but got [", op.getShape(), "]");
  }
  if (open && known == 0)
    return reject<ReshapeOp>(loc,
                             "expected no -1 together with a dim of 0, because its size would be ambiguous, but got [",
                             op.getShape(), "]");
  if (!isStatic) {
    if (open)
      *open = ShapedType::kDynamic;
    return yieldType<ReshapeOp>(loc, shape, input.getElementType(), types);
  }
  if (failed(makeTensorType(loc, ReshapeOp::getOperationName(), input.getShape(), input.getElementType())))
    return failure();
  int64_t count = input.getNumElements();
  if (open ? count % known != 0 : known != count)
    return reject<ReshapeOp>(loc, "expected a shape of ", count, " elements, but got [", op.getShape(), "]");
  if (open)
    *open = count / known;
  return yieldType<ReshapeOp>(loc, shape, input.getElementType(), types);
}

LogicalResult PermuteOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  SmallVector<bool> seen(input.getRank(), false);
  SmallVector<int64_t> shape;
  for (int64_t dim : op.getDims()) {
    std::optional<int64_t> normal = normalizeDim(dim, input.getRank());
    if (!normal || std::exchange(seen[*normal], true))
      return reject<PermuteOp>(loc, "expected a permutation of the dims of ", input, ", but got [", op.getDims(), "]");
    shape.push_back(input.getDimSize(*normal));
  }
  if (static_cast<int64_t>(shape.size()) != input.getRank())
    return reject<PermuteOp>(loc, "expected a permutation of the dims of ", input, ", but got [", op.getDims(), "]");
  return yieldType<PermuteOp>(loc, shape, input.getElementType(), types);
}

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  SmallVector<int64_t> shape(op.getShape());
  if (failed(checkSizes(loc, ExpandOp::getOperationName(), op.getSizesAttr(), shape)))
    return failure();
  int64_t added = static_cast<int64_t>(shape.size()) - input.getRank();
  if (added < 0)
    return reject<ExpandOp>(loc, "expected at least the rank of ", input, ", but got [", op.getShape(), "]");
  for (auto [i, dim] : llvm::enumerate(shape)) {
    int64_t from = static_cast<int64_t>(i) < added ? 1 : input.getDimSize(i - added);
    bool isNew = static_cast<int64_t>(i) < added;
    if (dim == -1 && !isNew)
      dim = from;
    else if ((dim < 0 && !ShapedType::isDynamic(dim)) || (from != 1 && !mayEqual(from, dim)))
      return reject<ExpandOp>(loc, "expected to repeat only dims of size 1, but got [", op.getShape(), "] for ", input);
  }
  return yieldType<ExpandOp>(loc, shape, input.getElementType(), types);
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  std::optional<int64_t> dim = normalizeDim(op.getDim(), input.getRank());
  if (!dim)
    return reject<SliceOp>(loc, "expected dim in [", -input.getRank(), ", ", input.getRank(), "), but got ",
                           op.getDim());
  if (int64_t step = op.getStep(); step < 1)
    return reject<SliceOp>(loc, "expected a positive step, but got ", step);
  SmallVector<int64_t> shape(input.getShape());
  FailureOr<int64_t> size = inferSliced(loc, SliceOp::getOperationName(), shape[*dim], op.getStart(), op.getEnd(),
                                        op.getStep(), op.getSizesAttr());
  if (failed(size))
    return failure();
  shape[*dim] = *size;
  return yieldType<SliceOp>(loc, shape, input.getElementType(), types);
}

FailureOr<int64_t> inlay::inferSliced(OptLoc loc, StringRef op, int64_t size, int64_t start, int64_t end, int64_t step,
                                      AffineMapAttr sizes) {
  if (failed(checkSizes(loc, op, sizes, {start, end})))
    return failure();
  if (ShapedType::isDynamic(size) || sizes)
    return ShapedType::kDynamic;
  auto [first, last] = getSliceBounds(start, end, size);
  return llvm::divideCeil(last - first, static_cast<uint64_t>(step));
}

std::pair<int64_t, int64_t> inlay::getSliceBounds(int64_t start, int64_t end, int64_t size) {
  auto clamp = [size](int64_t bound) { return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size); };
  int64_t first = clamp(start);
  return {first, std::max(first, clamp(end))};
}

LogicalResult CatOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  if (op.getInputs().empty())
    return reject<CatOp>(loc, "expected at least one input");
  RankedTensorType first = tensorType(op.getInputs().front());
  std::optional<int64_t> dim = normalizeDim(op.getDim(), first.getRank());
  if (!dim)
    return reject<CatOp>(loc, "expected dim in [", -first.getRank(), ", ", first.getRank(), "), but got ", op.getDim());
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : op.getInputs().drop_front()) {
    RankedTensorType type = tensorType(input);
    bool fits = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < type.getRank(); ++i) {
      if (i == *dim)
        continue;
      fits = mayEqual(type.getDimSize(i), shape[i]);
      if (ShapedType::isDynamic(shape[i]))
        shape[i] = type.getDimSize(i);
    }
    if (!fits)
      return reject<CatOp>(loc, "expected inputs that differ only in dim ", *dim, ", but got ", first, " and ", type);
    if (ShapedType::isDynamic(shape[*dim]) || type.isDynamicDim(*dim))
      shape[*dim] = ShapedType::kDynamic;
    else if (llvm::AddOverflow(shape[*dim], type.getDimSize(*dim), shape[*dim]))
      return reject<CatOp>(loc, "expected sizes of dim ", *dim, " that sum to less than 2^63, but got ", first, " and ",
                           type);
  }
  return yieldType<CatOp>(loc, shape, first.getElementType(), types);
}

LogicalResult CastOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  if (!op.getDtype().isIntOrFloat())
    return reject<CastOp>(loc, "expected an integer or float type to cast to, but got ", op.getDtype());
  types.push_back(tensorType(op.getInput()).clone(op.getDtype()));
  return success();
}

LogicalResult ListOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  if (op.getElements().empty())
    return reject<ListOp>(loc, "expected at least one element, since an empty list has no element type");
  Type first = op.getElements().front().getType();
  for (Value element : op.getElements())
    if (element.getType() != first)
      return reject<ListOp>(loc, "expected elements of one type, but got ", first, " and ", element.getType());
  types.push_back(ListType::get(first.getContext(), first));
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of the kernels of host functions, and calls of library kernels.

#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;
using namespace inlay::plan;

static constexpr StringLiteral kBias = "bias";
static constexpr StringLiteral kMask = "mask";
static constexpr StringLiteral kOffsets = "offsets", kScaleCode = "scale_code", kOffsetCode = "offset_code";
static constexpr StringLiteral kScaleBlock = "scale_block", kOffsetBlock = "offset_block", kWeightType = "type";
static constexpr StringLiteral kInputCode = "input_code", kInputOffsets = "input_offsets";
static constexpr StringLiteral kWeightCode = "weight_code", kWeightOffsets = "weight_offsets";
static constexpr StringLiteral kInputScales = "input_scales", kWeightScales = "weight_scales";
static constexpr StringLiteral kTransposed = "transposed";
static constexpr StringLiteral kResultCode = "result_code", kResultOffsets = "result_offsets", kLimits = "limits";

//===-- Attributes ----------------------------------------------------------------------------------------------===//

LogicalResult PostOpAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, PostOpKind kind, FloatAttr low,
                                 FloatAttr high) {
  if ((kind == PostOpKind::clip) == (low && high))
    return success();
  return emitError() << "expected two bounds for clip and none for other post-ops, but got " << (low ? "some" : "none")
                     << " for " << stringifyPostOpKind(kind);
}

/// Returns true if the kernel takes an operand for `postOp`.
static bool takesOperand(PostOpAttr postOp) { return postOp.getKind() >= PostOpKind::add; }

/// Returns true if that operand has one element per channel.
static bool isPerChannel(PostOpAttr postOp) { return postOp.getKind() >= PostOpKind::add_channels; }

/// Returns the number of inputs of a product or convolution that describe the weight.
static int64_t countWeightInputs(HostKernelKind kind, DictionaryAttr config) {
  if (kind != HostKernelKind::quantized_product || !config)
    return kind == HostKernelKind::quantized_product ? 2 : 1;
  return 2 + config.contains(kScaleCode) + (config.contains(kOffsets) ? 1 + config.contains(kOffsetCode) : 0);
}

/// Returns the number of inputs of a library kernel with this description.
static int64_t countInputs(HostKernelKind kind, ArrayRef<PostOpAttr> postOps, DictionaryAttr config) {
  if (kind == HostKernelKind::attention)
    return 3 + (config && config.contains(kMask));
  if (kind == HostKernelKind::integer_product) {
    auto has = [&](StringRef name) { return static_cast<int64_t>(config && config.contains(name)); };
    return 4 + has(kInputOffsets) + has(kWeightOffsets) + has(kBias) + llvm::count_if(postOps, takesOperand) +
           has(kResultCode) + has(kResultOffsets);
  }
  return 1 + countWeightInputs(kind, config) + (config && config.contains(kBias)) +
         llvm::count_if(postOps, takesOperand);
}

/// Returns true if a product of integers may have this entry of `config`.
static bool isOfIntegerProduct(StringRef name, Attribute value) {
  if (llvm::is_contained({kInputCode, kWeightCode, kResultCode}, name)) {
    auto code = dyn_cast<StringAttr>(value);
    return code && (code == "i8" || code == "u8");
  }
  if (name == kLimits) {
    auto limits = dyn_cast<DenseI64ArrayAttr>(value);
    return limits && limits.size() == 2;
  }
  return isa<UnitAttr>(value) && llvm::is_contained({kInputOffsets, kWeightOffsets, kResultOffsets, kBias, kInputScales,
                                                     kWeightScales, kTransposed, StringLiteral("inverse")},
                                                    name);
}

/// Checks that `config` has only entries for a kernel of this kind.
static LogicalResult verifyConfig(llvm::function_ref<InFlightDiagnostic()> emitError, HostKernelKind kind,
                                  DictionaryAttr config) {
  for (NamedAttribute entry : config ? config.getValue() : ArrayRef<NamedAttribute>()) {
    StringRef name = entry.getName();
    bool isUnit = isa<UnitAttr>(entry.getValue());
    auto string = dyn_cast<StringAttr>(entry.getValue());
    bool isQuantized = kind == HostKernelKind::quantized_product;
    bool isProduct = kind == HostKernelKind::contraction || kind == HostKernelKind::convolution || isQuantized;
    bool isCode = llvm::is_contained({"code", "scale_code", "offset_code"}, name) && string;
    bool isBlock =
        llvm::is_contained({"block", "scale_block", "offset_block"}, name) && isa<DenseI64ArrayAttr>(entry.getValue());
    bool fits = (kind == HostKernelKind::integer_product && isOfIntegerProduct(name, entry.getValue())) ||
                (name == kBias && isProduct && isUnit) ||
                (name == "accumulate" && kind == HostKernelKind::contraction && isUnit) ||
                (isQuantized && (isCode || isBlock || (name == kWeightType && isa<TypeAttr>(entry.getValue())) ||
                                 (llvm::is_contained({"minima", "offsets", "transposed"}, name) && isUnit))) ||
                (name == "channels_last" && kind == HostKernelKind::convolution && isUnit) ||
                (kind == HostKernelKind::attention &&
                 ((name == kMask && string && (string == "added" || string == "selected")) ||
                  (name == "causal" && isUnit) || (name == "scale" && isa<FloatAttr>(entry.getValue()))));
    if (!fits)
      return emitError() << "unexpected '" << name << "' = " << entry.getValue() << " of a kernel of kind "
                         << stringifyHostKernelKind(kind);
  }
  return success();
}

LogicalResult HostKernelAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringAttr,
                                     HostKernelKind kind, int64_t buffers, int64_t loops, ArrayRef<int64_t> constants,
                                     ArrayRef<PostOpAttr> postOps, DictionaryAttr config) {
  if (kind == HostKernelKind::loops)
    return buffers >= 0 && !loops && constants.empty() && postOps.empty() && !config
               ? success()
               : emitError() << "expected only a name and a number of buffers for loops";
  int64_t expected = countInputs(kind, postOps, config) + 1;
  if (buffers != expected)
    return emitError() << "expected " << expected << " buffers, but got " << buffers;
  constexpr int64_t kMaxLoops = 32;
  if ((kind == HostKernelKind::contraction) != (loops > 0) || loops > kMaxLoops)
    return emitError() << "expected 1 to " << kMaxLoops << " loops for a contraction and none for others, but got "
                       << loops;
  if (kind == HostKernelKind::attention && !postOps.empty())
    return emitError() << "expected no post-ops for attention";
  if (kind != HostKernelKind::convolution && llvm::any_of(postOps, isPerChannel))
    return emitError() << "expected post-ops per channel only for a convolution";
  for (int64_t number : constants)
    if (number < 0 || number >= buffers - 1)
      return emitError() << "expected constants to be numbers of the " << buffers - 1 << " inputs, but got " << number;
  return verifyConfig(emitError, kind, config);
}

//===-- Calls ---------------------------------------------------------------------------------------------------===//

static SmallVector<PostOpAttr> getPostOpList(LibraryCallOp op) {
  SmallVector<PostOpAttr> list;
  if (ArrayAttr postOps = op.getPostOpsAttr())
    llvm::append_range(list, postOps.getAsRange<PostOpAttr>());
  return list;
}

HostKernelAttr LibraryCallOp::describe(StringRef name) {
  int64_t loops = getMaps() ? cast<AffineMapAttr>(getMapsAttr()[0]).getValue().getNumDims() : 0;
  return HostKernelAttr::get(getContext(), StringAttr::get(getContext(), name), getKind(), getInputs().size() + 1,
                             loops, getConstants().value_or(ArrayRef<int64_t>()), getPostOpList(*this),
                             getConfigAttr());
}

/// Checks that the map of each operand of a contraction is a projected permutation of the loops.
static LogicalResult verifyMaps(LibraryCallOp op) {
  auto shaped = llvm::map_to_vector(op->getOperands(), [](Value value) { return cast<ShapedType>(value.getType()); });
  size_t count = op.getMaps() ? op.getMapsAttr().size() : 0;
  if (count != shaped.size())
    return op.emitOpError("expected a map for each of ") << shaped.size() << " operands, but got " << count;
  unsigned loops = cast<AffineMapAttr>(op.getMapsAttr()[0]).getValue().getNumDims();
  for (auto [map, type] : llvm::zip(op.getMapsAttr().getAsValueRange<AffineMapAttr>(), shaped))
    if (map.getNumDims() != loops || map.getNumSymbols() || map.getNumResults() != type.getRank() ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return op.emitOpError("expected a projected permutation of ")
             << loops << " loops for " << type << ", but got " << AffineMapAttr::get(map);
  return success();
}

/// Checks that a convolution has a window for each spatial dim.
static LogicalResult verifyWindow(LibraryCallOp op) {
  ArrayRef<int64_t> window = op.getWindow().value_or(ArrayRef<int64_t>());
  int64_t spatial = cast<ShapedType>(op.getInit().getType()).getRank() - 2;
  if (spatial < 1 || static_cast<int64_t>(window.size()) != 1 + 4 * spatial)
    return op.emitOpError("expected a window of ") << 1 + 4 * spatial << " numbers, but got " << window.size();
  for (auto [number, value] : llvm::enumerate(window)) {
    bool isPadding = number && number % 4 == 0;
    if (value < (isPadding ? 0 : 1))
      return op.emitOpError("expected number ")
             << number << " of the window to be at least " << (isPadding ? 0 : 1) << ", but got " << value;
  }
  return success();
}

static bool fits(int64_t size, int64_t wanted) { return ShapedType::isDynamic(size) || size == wanted; }

/// Checks that the dims of the input, weight and result of a convolution agree. `channels` is the dim of channels.
static LogicalResult verifyConvolutionDims(LibraryCallOp op, ShapedType input, ShapedType weight, int64_t channels) {
  auto init = cast<ShapedType>(op.getInit().getType());
  if (input.getRank() != init.getRank() || weight.getRank() != init.getRank() || !weight.hasStaticShape())
    return op.emitOpError("expected an input and a static weight of ")
           << init.getRank() << " dims, but got " << input << " and " << weight;
  int64_t groups = (*op.getWindow())[0];
  if (weight.getDimSize(0) % groups || !fits(init.getDimSize(channels), weight.getDimSize(0)) ||
      !fits(input.getDimSize(channels), weight.getDimSize(1) * groups))
    return op.emitOpError("expected ") << weight.getDimSize(1) * groups << " channels of the input and "
                                       << weight.getDimSize(0) << " of the result, but got " << input << " and "
                                       << init;
  for (int64_t i = 0; i + 2 < init.getRank(); ++i)
    if ((*op.getWindow())[1 + 4 * i] != weight.getDimSize(2 + i))
      return op.emitOpError("expected a window of the sizes of ")
             << weight << ", but got " << (*op.getWindow())[1 + 4 * i];
  return success();
}

/// Checks the operands of a convolution.
static LogicalResult verifyConvolution(LibraryCallOp op) {
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType weight = typeOf(op.getInputs()[1]), init = typeOf(op.getInit());
  bool hasBias = op.getConfigAttr() && op.getConfigAttr().contains(kBias);
  int64_t channels = op.getConfigAttr() && op.getConfigAttr().contains("channels_last") ? init.getRank() - 1 : 1;
  if (failed(verifyConvolutionDims(op, typeOf(op.getInputs()[0]), weight, channels)))
    return failure();
  SmallVector<bool> perChannel(hasBias, true);
  for (PostOpAttr postOp : getPostOpList(op))
    if (takesOperand(postOp))
      perChannel.push_back(isPerChannel(postOp));
  for (auto [operand, isVector] : llvm::zip_equal(op.getInputs().drop_front(2), perChannel)) {
    ShapedType type = typeOf(operand);
    if (isVector ? type.getRank() != 1 || !fits(type.getDimSize(0), weight.getDimSize(0))
                 : type.getShape() != init.getShape())
      return op.emitOpError("expected ") << (isVector ? "an element per channel" : "the shape of 'init'")
                                         << ", but got " << type;
  }
  return success();
}

/// Checks the window of a convolution of integers, and the dims of its operands.
static LogicalResult verifyIntegerConvolution(LibraryCallOp op, ShapedType input, ShapedType weight) {
  constexpr int64_t kMaxSpatial = 2;
  if (failed(verifyWindow(op)))
    return failure();
  if (input.getRank() > kMaxSpatial + 2)
    return op.emitOpError("expected a convolution of one or two spatial dims, but got ") << input;
  if (op.getConfigAttr().contains(kInputScales) || op.getConfigAttr().contains(kTransposed))
    return op.emitOpError("expected neither 'input_scales' nor 'transposed' for a convolution");
  return verifyConvolutionDims(op, input, weight, /*channels=*/1);
}

/// Returns the block of codes that `config` has under these names, or nullptr if one is missing or wrong.
static DenseI64ArrayAttr getCodeBlock(DictionaryAttr config, StringRef codeName, StringRef blockName) {
  auto code = config ? config.getAs<StringAttr>(codeName) : StringAttr();
  auto block = config ? config.getAs<DenseI64ArrayAttr>(blockName) : DenseI64ArrayAttr();
  bool isValid = code && llvm::is_contained({"i2", "u2", "i4", "u4", "i8", "u8"}, code.getValue()) && block &&
                 block.size() == 2 && llvm::all_of(block.asArrayRef(), [](int64_t size) { return size >= 1; });
  return isValid ? block : DenseI64ArrayAttr();
}

/// Checks that `codes` has bytes for a matrix of codes.
static LogicalResult verifyCodes(LibraryCallOp op, Value codes, StringRef code, int64_t rows, int64_t columns) {
  auto type = cast<ShapedType>(codes.getType());
  int64_t bits = 0;
  if (type.getElementType().isInteger(8) && !llvm::MulOverflow<int64_t>(columns, code.back() - '0', bits) &&
      type.getShape() == ArrayRef<int64_t>{rows, int64_t(llvm::divideCeil(bits, 8))})
    return success();
  return op.emitOpError("expected codes of ") << rows << " rows of " << columns << ", but got " << type;
}

/// Checks the scales or offsets of a matrix: elements, or codes and their scales. `inputs` are the inputs from these
/// on.
static LogicalResult verifyBlockValues(LibraryCallOp op, ValueRange inputs, ArrayRef<int64_t> shape, StringRef codeName,
                                       StringRef blockName) {
  DictionaryAttr config = op.getConfigAttr();
  SmallVector<int64_t> expected(shape);
  if (config.contains(codeName) || config.contains(blockName)) {
    DenseI64ArrayAttr block = getCodeBlock(config, codeName, blockName);
    if (!block)
      return op.emitOpError("expected '")
             << codeName << "' to be a code type and '" << blockName << "' to be the two positive sizes of a block";
    StringRef code = config.getAs<StringAttr>(codeName).getValue();
    if (failed(verifyCodes(op, inputs[0], code, shape[0], shape[1])))
      return failure();
    for (auto [size, length] : llvm::zip_equal(expected, block.asArrayRef()))
      size = int64_t(llvm::divideCeil(size, length));
    inputs = inputs.drop_front();
  }
  auto type = cast<ShapedType>(inputs[0].getType());
  if (type.getShape() == ArrayRef<int64_t>(expected))
    return success();
  return op.emitOpError("expected scales and offsets of dims [") << expected << "], but got " << type;
}

/// Checks the operands of a quantized product: a matrix of codes that fits the input and the result, with its format.
static LogicalResult verifyQuantizedProduct(LibraryCallOp op) {
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType input = typeOf(op.getInputs()[0]), codes = typeOf(op.getInputs()[1]), init = typeOf(op.getInit());
  DictionaryAttr config = op.getConfigAttr();
  DenseI64ArrayAttr block = getCodeBlock(config, "code", "block");
  if (!block)
    return op.emitOpError("expected a code type and the two positive sizes of a block");
  auto type = config.getAs<TypeAttr>(kWeightType);
  if (type && !type.getValue().isF16() && !type.getValue().isBF16() && !type.getValue().isF32())
    return op.emitOpError("expected 'type' to be f16, bf16 or f32, but got ") << type.getValue();
  if (!codes.hasStaticShape() || codes.getRank() != 2 || input.getRank() < 1 || input.getRank() != init.getRank() ||
      input.getShape().drop_back() != init.getShape().drop_back() || input.isDynamicDim(input.getRank() - 1) ||
      init.isDynamicDim(init.getRank() - 1))
    return op.emitOpError("expected a static matrix of codes, and an input and a result that differ in their static "
                          "last dims alone, but got ")
           << codes << ", " << input << " and " << init;
  // The weight has a row for each element of a row of the result, or, if transposed, of the input.
  int64_t rows = init.getShape().back(), columns = input.getShape().back();
  if (config.contains(kTransposed))
    std::swap(rows, columns);
  if (failed(verifyCodes(op, op.getInputs()[1], config.getAs<StringAttr>("code").getValue(), rows, columns)))
    return failure();
  int64_t blocks[] = {int64_t(llvm::divideCeil(rows, block[0])), int64_t(llvm::divideCeil(columns, block[1]))};
  unsigned offsets = config.contains(kScaleCode) ? 4 : 3, others = 1 + countWeightInputs(op.getKind(), config);
  if (failed(verifyBlockValues(op, op.getInputs().drop_front(2), blocks, kScaleCode, kScaleBlock)))
    return failure();
  bool hasOffsets = config.contains(kOffsets);
  if (!hasOffsets && (config.contains(kOffsetCode) || config.contains(kOffsetBlock)))
    return op.emitOpError("expected 'offset_code' and 'offset_block' only beside 'offsets'");
  if (hasOffsets &&
      failed(verifyBlockValues(op, op.getInputs().drop_front(offsets), blocks, kOffsetCode, kOffsetBlock)))
    return failure();
  if (config.contains("minima") &&
      (!hasOffsets || !isa<FloatType>(typeOf(op.getInputs()[others - 1]).getElementType())))
    return op.emitOpError("expected minima to be floats");
  for (auto [number, operand] : llvm::enumerate(op.getInputs().drop_front(others))) {
    bool isBias = number == 0 && config.contains(kBias);
    if (isBias ? typeOf(operand).getShape() != init.getShape().take_back()
               : typeOf(operand).getShape() != init.getShape())
      return op.emitOpError("expected ") << (isBias ? "an element per column" : "the shape of 'init'") << ", but got "
                                         << typeOf(operand);
  }
  return success();
}

/// Checks the numbers of scales and offsets, and the operands of post-ops, of a product with this many outputs.
static LogicalResult verifyIntegerOperands(LibraryCallOp op, int64_t outputs) {
  DictionaryAttr config = op.getConfigAttr();
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType init = typeOf(op.getInit());
  unsigned next = 1;
  auto has = [&](StringRef name) { return config.contains(name); };
  // Checks scales and then, if there are any, offsets. `count` is nullopt if their number is known only at a call.
  auto verifyScales = [&](std::optional<int64_t> count, StringRef offsets) -> LogicalResult {
    for (bool isOffset : {false, true}) {
      if (isOffset && !has(offsets))
        continue;
      ShapedType type = typeOf(op.getInputs()[next++]);
      bool isElement = type.getElementType().isF32() || (isOffset && type.getElementType().isInteger(8));
      if (!isElement || (count && (!type.hasStaticShape() || type.getNumElements() != *count)))
        return op.emitOpError("expected ") << (count ? std::to_string(*count) + " " : "")
                                           << "scales of f32 and offsets of f32 or i8, but got " << type;
    }
    return success();
  };
  std::optional<int64_t> rows = 1;
  if (has(kInputScales))
    rows = init.hasStaticShape() ? std::optional(init.getNumElements() / std::max<int64_t>(outputs, 1)) : std::nullopt;
  if (failed(verifyScales(rows, kInputOffsets)))
    return failure();
  ++next;
  if (failed(verifyScales(has(kWeightScales) ? outputs : 1, kWeightOffsets)))
    return failure();
  unsigned end = op.getInputs().size() - has(kResultCode) - has(kResultOffsets);
  for (bool isBias = has(kBias); next < end; isBias = false) {
    ShapedType type = typeOf(op.getInputs()[next++]);
    if (!type.getElementType().isF32() || type.getShape() != (isBias ? ArrayRef<int64_t>(outputs) : init.getShape()))
      return op.emitOpError("expected f32 of the shape of ")
             << (isBias ? "the outputs" : "'init'") << ", but got " << type;
  }
  return has(kResultCode) ? verifyScales(1, kResultOffsets) : success();
}

/// Checks the config of a product of integers, and the dims of its operands.
static LogicalResult verifyIntegerProduct(LibraryCallOp op) {
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  DictionaryAttr config = op.getConfigAttr();
  if (!config || !config.contains(kInputCode) || !config.contains(kWeightCode) ||
      config.contains(kResultCode) != config.contains(kLimits) ||
      (config.contains(kResultOffsets) && !config.contains(kResultCode)))
    return op.emitOpError("expected the code types of the input and of the weight, and limits for codes of the result");
  ShapedType input = typeOf(op.getInputs()[0]), init = typeOf(op.getInit());
  ShapedType weight = typeOf(op.getInputs()[2 + config.contains(kInputOffsets)]);
  if (!input.getElementType().isInteger(8) || !weight.getElementType().isInteger(8) || weight.getRank() < 1 ||
      init.getRank() < 1)
    return op.emitOpError("expected codes of i8 with dims, but got ") << input << " and " << weight;
  Type element = init.getElementType();
  if (config.contains(kResultCode) ? !element.isInteger(8) : !element.isF32() && !element.isF64())
    return op.emitOpError("expected a result of i8 for codes and of f32 or f64 for others, but got ") << init;
  if (element.isF64() && (config.contains(kBias) || !getPostOpList(op).empty()))
    return op.emitOpError("expected neither a bias nor post-ops for a result of f64");
  int64_t outputs = op.getWindow() ? weight.getDimSize(0) : init.getShape().back();
  if (failed(verifyIntegerOperands(op, outputs)))
    return failure();
  if (op.getWindow())
    return verifyIntegerConvolution(op, input, weight);
  bool isTransposed = config.contains(kTransposed);
  if (!weight.hasStaticShape() || weight.getRank() != 2 || input.getRank() < 1 || input.getRank() != init.getRank() ||
      input.getShape().drop_back() != init.getShape().drop_back() ||
      input.getShape().back() != weight.getDimSize(!isTransposed) ||
      init.getShape().back() != weight.getDimSize(isTransposed))
    return op.emitOpError("expected a product with a static matrix of codes, but got ")
           << input << ", " << weight << " and " << init;
  return success();
}

/// Returns true if a weight input of a quantized product may have the element type `type`: codes are bytes, scales and
/// minima are floats, and zero points are both.
static bool isWeightElement(DictionaryAttr config, unsigned number, Type type) {
  bool hasScaleCodes = config && config.contains(kScaleCode), hasOffsetCodes = config && config.contains(kOffsetCode);
  unsigned offsets = hasScaleCodes ? 4 : 3;
  if (number == 1 || (hasScaleCodes && number == 2) || (hasOffsetCodes && number == offsets))
    return type.isInteger(8);
  bool isZeroPoint = number == offsets && !hasOffsetCodes;
  return type.isF16() || type.isBF16() || type.isF32() || (isZeroPoint && type.isInteger(8));
}

/// Returns true if an operand may have the element type `type`.
static bool isElementOf(LibraryCallOp op, unsigned number, Type type) {
  if (op.getKind() == HostKernelKind::integer_product)
    return type.isInteger(8) || type.isF32() || (type.isF64() && number == op.getInputs().size());
  DictionaryAttr config = op.getConfigAttr();
  if (op.getKind() == HostKernelKind::quantized_product && number > 0 &&
      number <= countWeightInputs(op.getKind(), config))
    return isWeightElement(config, number, type);
  return type.isF32() || (op.getKind() == HostKernelKind::attention && type.isInteger(1));
}

LogicalResult LibraryCallOp::verify() {
  if (getKind() == HostKernelKind::loops)
    return emitOpError("expected a kernel of the library, but got loops");
  int64_t inputs = countInputs(getKind(), getPostOpList(*this), getConfigAttr());
  if (static_cast<int64_t>(getInputs().size()) != inputs)
    return emitOpError("expected ") << inputs << " inputs, but got " << getInputs().size();
  for (auto [number, operand] : llvm::enumerate(getOperands()))
    if (auto type = cast<ShapedType>(operand.getType());
        !type.hasRank() || !isElementOf(*this, number, type.getElementType()))
      return emitOpError("expected ranked operands of f32, but got ") << type;
  bool onTensors = isa<TensorType>(getInit().getType());
  if (onTensors != static_cast<bool>(getResult()) || (onTensors && getResult().getType() != getInit().getType()))
    return emitOpError("expected a result of the type of 'init' on tensors and none on buffers");
  if (getKind() == HostKernelKind::contraction && failed(verifyMaps(*this)))
    return failure();
  if (getKind() == HostKernelKind::convolution && failed(verifyWindow(*this)))
    return failure();
  for (int64_t number : getConstants().value_or(ArrayRef<int64_t>()))
    if (number < 0 || number >= inputs)
      return emitOpError("expected constants to be numbers of the ") << inputs << " inputs, but got " << number;
  if (failed(verifyConfig([&] { return emitOpError(); }, getKind(), getConfigAttr())))
    return failure();
  if (getKind() == HostKernelKind::quantized_product)
    return verifyQuantizedProduct(*this);
  if (getKind() == HostKernelKind::integer_product)
    return verifyIntegerProduct(*this);
  return getKind() == HostKernelKind::convolution ? verifyConvolution(*this) : success();
}

void LibraryCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getResult())
    return;
  for (OpOperand &operand : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
  effects.emplace_back(MemoryEffects::Read::get(), &getInitMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits padding: the patterns of pad ops, and the padded input of convolution and pooling (Window::pad).
// Convolution.cpp and Pooling.cpp compute the windows.

#include "Window.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace inlay;

static OpFoldResult applyTo(OpBuilder &builder, Location loc, OpFoldResult size,
                            function_ref<AffineExpr(AffineExpr)> function) {
  AffineExpr expr = function(builder.getAffineSymbolExpr(0));
  return affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(0, 1, expr), size);
}

/// Emits the element of the padded tensor at the loop indices.
static Value readPadded(OpBuilder &builder, Location loc, Value input, ArrayRef<OpFoldResult> sizes,
                        ArrayRef<int64_t> low, ArrayRef<int64_t> high, ScalarBody outside) {
  Value inside, zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    Value index = linalg::IndexOp::create(builder, loc, dim);
    if (low[dim] || high[dim]) {
      Value before = arith::ConstantIndexOp::create(builder, loc, low[dim]);
      index = arith::SubIOp::create(builder, loc, index, before);
      // Unsigned, so that one comparison checks both ends.
      Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
      Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, size);
      index = arith::SelectOp::create(builder, loc, fits, index, zero);
      inside = inside ? arith::AndIOp::create(builder, loc, inside, fits).getResult() : fits;
    }
    indices.push_back(index);
  }
  Value element = tensor::ExtractOp::create(builder, loc, input, indices);
  return arith::SelectOp::create(builder, loc, inside, element, outside(builder, loc, {}));
}

Value inlay::padWith(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                     ScalarBody outside) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return input;
  Sizes sizes = getSizes(builder, loc, input), padded;
  for (auto [size, before, after] : llvm::zip_equal(sizes, low, high))
    padded.push_back(applyTo(builder, loc, size, [&, amount = before + after](AffineExpr s) { return s + amount; }));
  Type element = tensorType(input).getElementType();
  if (llvm::is_contained(tensorType(input).getShape(), 0)) // There is no element to read.
    return createPointwise(builder, loc, {}, {}, padded, element, outside);
  return createPointwise(builder, loc, {}, {}, padded, element, [&](OpBuilder &nested, Location nestedLoc, ValueRange) {
    return readPadded(nested, nestedLoc, input, sizes, low, high, outside);
  });
}

int64_t Window::getHighPadding(unsigned i, int64_t size) const {
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(outputs[i]))
    return padding[i];
  int64_t covered = (outputs[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1;
  return std::max<int64_t>(0, covered - padding[i] - size);
}

Sizes Window::getOutputSizes(OpBuilder &builder, Location loc, Value input) const {
  Sizes sizes;
  for (unsigned i = 0; i < kernel.size(); ++i) {
    int64_t beyond = 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    sizes.push_back(ShapedType::isDynamic(outputs[i])
                        ? applyTo(builder, loc, getSize(builder, loc, input, i + 2),
                                  [&](AffineExpr size) { return (size + beyond).floorDiv(stride[i]) + 1; })
                        : builder.getIndexAttr(outputs[i]));
  }
  return sizes;
}

LogicalResult Window::checkPadded(RewriterBase &rewriter, Operation *op, Value input) const {
  RankedTensorType type = tensorType(input);
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned i = 0; i < kernel.size(); ++i)
    if (int64_t &size = shape[i + 2]; !ShapedType::isDynamic(size))
      size += padding[i] + getHighPadding(i, size);
  if (succeeded(makeTensorType(std::nullopt, "", shape, type.getElementType())))
    return success();
  return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                  "expected a padded input of less than 2^63 elements, but got padding for " + spell(type));
}

Value Window::pad(OpBuilder &builder, Location loc, Value input, TypedAttr value) const {
  SmallVector<int64_t> low{0, 0}, high{0, 0};
  low.append(padding.begin(), padding.end());
  for (unsigned i = 0; i < kernel.size(); ++i)
    high.push_back(getHighPadding(i, tensorType(input).getDimSize(i + 2)));
  return padWith(builder, loc, input, low, high, [&](OpBuilder &nested, Location nestedLoc, ValueRange) -> Value {
    return arith::ConstantOp::create(nested, nestedLoc, value);
  });
}

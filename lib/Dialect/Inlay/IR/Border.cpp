// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts scalars to the tensors that cross a segment border, and back. Partition/Decide/NonTensors.cpp decides
// which values may cross.

#include "inlay/Dialect/Inlay/IR/Border.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

RankedTensorType inlay::getBorderType(Type type) {
  if (type.isIndex())
    type = IntegerType::get(type.getContext(), 64);
  if (type.isIntOrFloat())
    return RankedTensorType::get({}, type);
  return dyn_cast<RankedTensorType>(type);
}

Value inlay::toBorder(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = getBorderType(value.getType());
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, type.getElementType(), value);
  return tensor::FromElementsOp::create(builder, loc, type, value);
}

Value inlay::fromBorder(OpBuilder &builder, Location loc, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  Value scalar = tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
  return type.isIndex() ? arith::IndexCastOp::create(builder, loc, type, scalar) : scalar;
}

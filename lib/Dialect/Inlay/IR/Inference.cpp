// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infers result types by rules that many ops share: broadcasting, reductions, scans. The rules of single ops are in
// InlayGraphOps.cpp and its neighbors.

#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

bool inlay::areRefinements(TypeRange inferred, TypeRange actual) {
  return llvm::equal(inferred, actual, [](Type lhs, Type rhs) {
    return lhs == rhs ||
           (getElementTypeOrSelf(lhs) == getElementTypeOrSelf(rhs) && succeeded(verifyCompatibleShape(lhs, rhs)));
  });
}

std::optional<int64_t> inlay::broadcastDim(int64_t lhs, int64_t rhs) {
  if (lhs == rhs || rhs == 1)
    return lhs;
  if (lhs == 1 || ShapedType::isDynamic(lhs))
    return rhs;
  if (ShapedType::isDynamic(rhs))
    return lhs;
  return std::nullopt;
}

std::optional<int64_t> inlay::normalizeDim(int64_t dim, int64_t rank) {
  if (dim < -rank || dim >= rank)
    return std::nullopt;
  return dim < 0 ? dim + rank : dim;
}

FailureOr<RankedTensorType> inlay::makeTensorType(std::optional<Location> loc, StringRef op, ArrayRef<int64_t> shape,
                                                  Type element) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (ShapedType::isDynamic(dim))
      continue;
    if (dim < 0 || llvm::MulOverflow(count, dim, count))
      return emitOptionalError(loc, "'", op, "' op expected tensors of less than 2^63 elements, but got dims [", shape,
                               "]");
  }
  return RankedTensorType::get(shape, element);
}

bool inlay::broadcastInto(SmallVectorImpl<int64_t> &result, ArrayRef<int64_t> shape) {
  if (shape.size() > result.size())
    result.insert(result.begin(), shape.size() - result.size(), 1);
  size_t offset = result.size() - shape.size();
  for (auto [i, dim] : llvm::enumerate(shape)) {
    std::optional<int64_t> joined = broadcastDim(result[offset + i], dim);
    if (!joined)
      return false;
    result[offset + i] = *joined;
  }
  return true;
}

/// Infers the type that operands broadcast to. The operands in `sameElement` must have one element type.
static LogicalResult inferBroadcast(std::optional<Location> loc, StringRef op, ValueRange sameElement, ValueRange all,
                                    Type element, SmallVectorImpl<Type> &types) {
  Type first = sameElement.front().getType();
  for (Value operand : sameElement)
    if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(first))
      return emitOptionalError(loc, "'", op, "' op expected operands of one element type, but got ", first, " and ",
                               operand.getType());
  SmallVector<int64_t> shape;
  for (Value operand : all)
    if (!broadcastInto(shape, cast<RankedTensorType>(operand.getType()).getShape()))
      return emitOptionalError(loc, "'", op, "' op expected operands that broadcast, but got ", all.front().getType(),
                               " and ", operand.getType());
  FailureOr<RankedTensorType> type = makeTensorType(loc, op, shape, element);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult inlay::inferPointwise(std::optional<Location> loc, StringRef op, ValueRange operands,
                                    SmallVectorImpl<Type> &types) {
  return inferBroadcast(loc, op, operands, operands, getElementTypeOrSelf(operands.front()), types);
}

LogicalResult inlay::inferPredicate(std::optional<Location> loc, StringRef op, ValueRange operands,
                                    SmallVectorImpl<Type> &types) {
  Type boolean = IntegerType::get(operands.front().getContext(), 1);
  return inferBroadcast(loc, op, operands, operands, boolean, types);
}

LogicalResult inlay::inferWhere(std::optional<Location> loc, StringRef op, ValueRange operands,
                                SmallVectorImpl<Type> &types) {
  if (Type condition = operands.front().getType(); !getElementTypeOrSelf(condition).isInteger(1))
    return emitOptionalError(loc, "'", op, "' op expected a condition of i1, but got ", condition);
  return inferBroadcast(loc, op, operands.drop_front(), operands, getElementTypeOrSelf(operands.back()), types);
}

LogicalResult inlay::inferReduction(std::optional<Location> loc, StringRef op, Value input, ArrayRef<int64_t> dims,
                                    bool keepdim, SmallVectorImpl<Type> &types, unsigned width) {
  auto type = cast<RankedTensorType>(input.getType());
  // PyTorch takes an empty list for all dims. Here all dims must be listed.
  if (dims.empty() && type.getRank() > 0)
    return emitOptionalError(loc, "'", op, "' op expected at least one dim to reduce");
  SmallVector<bool> reduced(type.getRank(), false);
  for (int64_t dim : dims) {
    std::optional<int64_t> normal = normalizeDim(dim, type.getRank());
    if (!normal)
      return emitOptionalError(loc, "'", op, "' op expected dims in [", -type.getRank(), ", ", type.getRank(),
                               "), but got ", dim);
    if (std::exchange(reduced[*normal], true))
      return emitOptionalError(loc, "'", op, "' op expected each dim once, but got dim ", *normal, " twice");
  }
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!reduced[dim] || keepdim)
      shape.push_back(reduced[dim] ? 1 : size);
  Type element = width ? IntegerType::get(type.getContext(), width) : type.getElementType();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult inlay::inferScan(std::optional<Location> loc, StringRef op, Value input, int64_t dim,
                               SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(input.getType());
  if (!normalizeDim(dim, type.getRank()))
    return emitOptionalError(loc, "'", op, "' op expected dim in [", -type.getRank(), ", ", type.getRank(),
                             "), but got ", dim);
  types.push_back(type);
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for the type inference of graph ops.

#ifndef INLAY_LIB_DIALECT_INLAY_IR_INFERGRAPHOPS_H
#define INLAY_LIB_DIALECT_INLAY_IR_INFERGRAPHOPS_H

#include "inlay/Dialect/Inlay/IR/Inference.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

namespace inlay {

using Types = llvm::SmallVectorImpl<mlir::Type>;
using OptLoc = std::optional<mlir::Location>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Emits an error of op `Op` if a location is given. Always returns failure.
template <typename Op, typename... Args>
mlir::LogicalResult reject(OptLoc loc, Args &&...args) {
  return mlir::emitOptionalError(loc, "'", Op::getOperationName(), "' op ", std::forward<Args>(args)...);
}

/// Appends a tensor type to `types`, the inferred result types. Fails if the tensor would have too many elements.
template <typename Op>
mlir::LogicalResult yieldType(OptLoc loc, llvm::ArrayRef<int64_t> shape, mlir::Type element, Types &types) {
  mlir::FailureOr<mlir::RankedTensorType> type = makeTensorType(loc, Op::getOperationName(), shape, element);
  if (failed(type))
    return mlir::failure();
  types.push_back(*type);
  return mlir::success();
}

/// Returns true if the sizes may be equal.
inline bool mayEqual(int64_t lhs, int64_t rhs) {
  return lhs == rhs || mlir::ShapedType::isDynamic(lhs) || mlir::ShapedType::isDynamic(rhs);
}

/// Checks that `value` is a vector of `size` elements of type `element`.
template <typename Op>
mlir::LogicalResult checkVector(OptLoc loc, llvm::StringRef what, mlir::Value value, int64_t size, mlir::Type element) {
  mlir::RankedTensorType type = tensorType(value);
  if (type.getRank() != 1 || !mayEqual(type.getDimSize(0), size) || type.getElementType() != element)
    return reject<Op>(loc, "expected ", what, " to be a vector of ", size, " x ", element, ", but got ", type);
  return mlir::success();
}

/// Checks that `sizes`, which may be null, has a result for each dynamic element of `numbers`.
mlir::LogicalResult checkSizes(OptLoc loc, llvm::StringRef op, mlir::AffineMapAttr sizes,
                               llvm::ArrayRef<int64_t> numbers);

/// Infers the number of elements in a slice of a dim of size `size`.
mlir::FailureOr<int64_t> inferSliced(OptLoc loc, llvm::StringRef op, int64_t size, int64_t start, int64_t end,
                                     int64_t step, mlir::AffineMapAttr sizes);

/// Checks that `dim` is a dim of `type`. Returns it counted from the front.
template <typename Op>
mlir::FailureOr<int64_t> checkDim(OptLoc loc, int64_t dim, mlir::RankedTensorType type) {
  if (std::optional<int64_t> normal = normalizeDim(dim, type.getRank()))
    return *normal;
  return reject<Op>(loc, "expected dim in [", -type.getRank(), ", ", type.getRank(), "), but got ", dim);
}

} // namespace inlay

#endif // INLAY_LIB_DIALECT_INLAY_IR_INFERGRAPHOPS_H

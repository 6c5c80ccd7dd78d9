// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape and type inference that ops share. Each function reports what is wrong with the operands at `loc` (if given)
// and is thereby the ops' verifier too.

#ifndef INLAY_DIALECT_INLAY_IR_INFERENCE_H
#define INLAY_DIALECT_INLAY_IR_INFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/Support/LLVM.h"

#include <optional>

namespace inlay {

/// True if each actual type could be an inferred one with more or fewer dims known.
bool areRefinements(mlir::TypeRange inferred, mlir::TypeRange actual);

/// NumPy broadcasting of one dim; nullopt if the sizes clash. A dynamic size yields to any static one but 1.
std::optional<int64_t> broadcastDim(int64_t lhs, int64_t rhs);

/// Broadcasts `shape` into `result`, aligned at the back; false if dims clash.
bool broadcastInto(llvm::SmallVectorImpl<int64_t> &result, llvm::ArrayRef<int64_t> shape);

/// Where `inlay.index` by `dims` puts the dims of its indices among the result's.
int64_t getIndexedPlace(llvm::ArrayRef<int64_t> dims);

/// The dim for `dim` in [-rank, rank), else nullopt.
std::optional<int64_t> normalizeDim(int64_t dim, int64_t rank);

/// The elements [first, last) of a dim of `size` that PyTorch's slice takes for `start` and `end`.
std::pair<int64_t, int64_t> getSliceBounds(int64_t start, int64_t end, int64_t size);

/// Makes a ranked tensor type whose element count fits 63 bits, or reports that it doesn't.
mlir::FailureOr<mlir::RankedTensorType> makeTensorType(std::optional<mlir::Location> loc, llvm::StringRef op,
                                                       llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Operands of one element type that broadcast; the result has it too.
mlir::LogicalResult inferPointwise(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Operands of one element type that broadcast, and a result of i1.
mlir::LogicalResult inferPredicate(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// A condition of i1 and operands of one element type, all of which broadcast.
mlir::LogicalResult inferWhere(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// Reduction of `input` over `dims`, to integers of `width` bits or, if that is 0, to the input's element type.
mlir::LogicalResult inferReduction(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::Value input,
                                   llvm::ArrayRef<int64_t> dims, bool keepdim, llvm::SmallVectorImpl<mlir::Type> &types,
                                   unsigned width = 0);

/// What goes along `dim` of `input` and leaves it as it is.
mlir::LogicalResult inferScan(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::Value input, int64_t dim,
                              llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_INFERENCE_H

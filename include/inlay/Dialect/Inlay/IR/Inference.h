// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape and type inference shared by the graph ops. Each function reports invalid operands at `loc`, if given, and thus
// also serves as the verifier of the ops. `op` is the name of the op in these messages.

#ifndef INLAY_DIALECT_INLAY_IR_INFERENCE_H
#define INLAY_DIALECT_INLAY_IR_INFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/Support/LLVM.h"

#include <optional>

namespace inlay {

/// Returns true if each actual type agrees with the inferred one, except that more or fewer dims may be static.
bool areRefinements(mlir::TypeRange inferred, mlir::TypeRange actual);

/// Broadcasts one dim by NumPy's rules. Returns std::nullopt if the sizes clash. A dynamic size yields to any static
/// size except 1.
std::optional<int64_t> broadcastDim(int64_t lhs, int64_t rhs);

/// Broadcasts `shape` into `result`, aligned at the last dim. Returns false if dims clash.
bool broadcastInto(llvm::SmallVectorImpl<int64_t> &result, llvm::ArrayRef<int64_t> shape);

/// Returns the position in the result of `inlay.index` at which the dims of the indices start.
int64_t getIndexedPlace(llvm::ArrayRef<int64_t> dims);

/// Maps `dim` from [-rank, rank) to [0, rank). Returns std::nullopt if it is outside this range.
std::optional<int64_t> normalizeDim(int64_t dim, int64_t rank);

/// Returns the range [first, last) of elements that PyTorch's slice selects with `start` and `end` from a dim of size
/// `size`.
std::pair<int64_t, int64_t> getSliceBounds(int64_t start, int64_t end, int64_t size);

/// Returns a ranked tensor type. Reports an error if its number of elements does not fit in 63 bits.
mlir::FailureOr<mlir::RankedTensorType> makeTensorType(std::optional<mlir::Location> loc, llvm::StringRef op,
                                                       llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Infers the result of a pointwise op: the operands have one element type and broadcast; the result has the same
/// element type.
mlir::LogicalResult inferPointwise(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Infers the result of a predicate: the operands have one element type and broadcast; the result has elements of i1.
mlir::LogicalResult inferPredicate(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Infers the result of a selection: a condition of i1 and operands of one element type, all of which broadcast.
mlir::LogicalResult inferWhere(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::ValueRange operands,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// Infers the reduction of `input` over `dims`. The result has integers of `width` bits or, if `width` is 0, the
/// element type of the input.
mlir::LogicalResult inferReduction(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::Value input,
                                   llvm::ArrayRef<int64_t> dims, bool keepdim, llvm::SmallVectorImpl<mlir::Type> &types,
                                   unsigned width = 0);

/// Infers the result of a scan along `dim`, which has the type of `input`.
mlir::LogicalResult inferScan(std::optional<mlir::Location> loc, llvm::StringRef op, mlir::Value input, int64_t dim,
                              llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_INFERENCE_H

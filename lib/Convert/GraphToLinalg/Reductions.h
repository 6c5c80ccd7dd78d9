// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of tensors that patterns share.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H

#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// Accumulates over the loops `dims` of `loops`, starting with `init`. `maps` are the indexing maps of the inputs.
mlir::Value reduceDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                       llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::OpFoldResult> loops,
                       llvm::ArrayRef<int64_t> dims, mlir::TypedAttr init, ScalarBody body);

/// Returns the sums over `dims` in the accumulator type. `dims` must be distinct and not negative.
mlir::Value sumDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// Returns the maxima over `dims`. A NaN propagates.
mlir::Value maxDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// Returns the minima over `dims`. A NaN propagates.
mlir::Value minDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// Adds dims of size 1 to the reduced `value` at `dims`, which number the `rank` dims before the reduction.
mlir::Value keepDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                     int64_t rank);

/// Returns the product of the sizes of `dims` as a float of type `type`.
mlir::Value countDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims,
                      mlir::Type type);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H

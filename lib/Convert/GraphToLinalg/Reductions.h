// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of tensors, as the reducing ops and the normalizations share them.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H

#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// Accumulates over loops `dims` of `loops`, starting from `init`; `maps` say where each input is read.
mlir::Value reduceDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                       llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::OpFoldResult> loops,
                       llvm::ArrayRef<int64_t> dims, mlir::TypedAttr init, ScalarBody body);

/// The sums over `dims` (each once, none negative), in the accumulator's type.
mlir::Value sumDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// The largest elements over `dims`, NaN where there is one.
mlir::Value maxDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// The smallest elements over `dims`, NaN where there is one.
mlir::Value minDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// Adds dims of size 1 at `dims` of the `rank` dims that the reduced `value` had.
mlir::Value keepDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                     int64_t rank);

/// How many elements `dims` have together, as a float of type `type`.
mlir::Value countDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> dims,
                      mlir::Type type);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_REDUCTIONS_H

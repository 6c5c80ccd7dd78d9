// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices out of tensors: nothing is read or written beyond a dim, whatever they are.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H

#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// `raw` in a type that holds the numbers of a dim of `size`; negative ones counted from its end if `fromEnd`.
mlir::Value normalizeIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value raw, mlir::OpFoldResult size,
                           bool fromEnd);

/// The element of a dim of `size` nearest to `raw`, as an index.
mlir::Value clampIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value raw, mlir::OpFoldResult size,
                       bool fromEnd);

/// The loops' indices in the body of a generic of `count` loops.
llvm::SmallVector<mlir::Value> loopIndices(mlir::OpBuilder &builder, mlir::Location loc, unsigned count);

/// `exprs` is where the result has the places of indices: loops `first` on. The map by which indices of `shape` are
/// read, aligned at the back of `places` places.
mlir::AffineMap mapIndices(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, unsigned loops, unsigned first,
                           unsigned places);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H

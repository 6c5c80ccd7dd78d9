// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes indices from the elements of tensors. Whatever the elements are, no access is out of bounds.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H

#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// Returns `raw`, extended if its type cannot hold all indices of a dim of `size`. If `fromEnd`, adds `size` to
/// negative indices. The result may be out of bounds.
mlir::Value normalizeIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value raw, mlir::OpFoldResult size,
                           bool fromEnd);

/// Returns the valid index of a dim of `size` that is nearest to `raw`, as a value of type index. If `fromEnd`,
/// negative indices count from the end.
mlir::Value clampIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value raw, mlir::OpFoldResult size,
                       bool fromEnd);

/// Returns the loop indices in the body of a generic of `count` loops.
llvm::SmallVector<mlir::Value> loopIndices(mlir::OpBuilder &builder, mlir::Location loc, unsigned count);

/// Returns the map by which `loops` loops read an index tensor of `shape`. The dims to which the index tensors
/// broadcast are the `places` loops from `first` on. The tensor's dims are aligned at the back of these loops.
mlir::AffineMap mapIndices(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, unsigned loops, unsigned first,
                           unsigned places);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_INDEXING_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads sizes in the code of a segment as expressions of the function's symbols. The plan computes sizes by the same
// expressions.

#ifndef INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H
#define INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include <optional>

namespace inlay {

/// Returns the expression of an index that is computed from symbols, constants and dims of buffers. Returns null for
/// other values.
mlir::AffineExpr readExpr(mlir::Value index);

/// Returns the expression of a size, which may be an attribute.
mlir::AffineExpr readExpr(mlir::OpFoldResult size);

/// Returns the dims of a buffer, or nullopt if they are not such expressions.
std::optional<llvm::SmallVector<mlir::AffineExpr>> getBufferDims(mlir::Value memref);

/// Returns the buffer at the start of the chain of views that ends with `memref`.
mlir::Value findRoot(mlir::Value memref);

/// Returns the number of elements of a buffer with these dims.
mlir::AffineExpr countElements(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H

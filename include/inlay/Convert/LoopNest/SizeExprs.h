// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in a segment's code, read back as expressions of the function's symbols: what the plan computes them by.

#ifndef INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H
#define INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include <optional>

namespace inlay {

/// The expression that an index is, made of symbols, constants, dims and arithmetic; null if it is another value.
mlir::AffineExpr readExpr(mlir::Value index);

/// The same for a size that may be an attribute.
mlir::AffineExpr readExpr(mlir::OpFoldResult size);

/// The dims of a buffer; nullopt if they aren't such expressions.
std::optional<llvm::SmallVector<mlir::AffineExpr>> getBufferDims(mlir::Value memref);

/// What the chain of views that `memref` ends begins with.
mlir::Value findRoot(mlir::Value memref);

/// The number of elements of these dims.
mlir::AffineExpr countElements(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context);

/// True if the numbers are the same whatever the symbols are.
bool areEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs, unsigned symbols);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_SIZEEXPRS_H

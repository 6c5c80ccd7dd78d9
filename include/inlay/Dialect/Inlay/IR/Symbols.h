// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known only at a call. A function numbers them as symbols, and dims are affine expressions of the
// symbols. Unlike in MLIR's affine dialect, products and quotients of symbols are allowed, because the runtime can
// evaluate them.

#ifndef INLAY_DIALECT_INLAY_IR_SYMBOLS_H
#define INLAY_DIALECT_INLAY_IR_SYMBOLS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include <optional>

namespace inlay {

/// Returns the symbols of the function or program that is or encloses `op`; empty if there are none.
llvm::SmallVector<SymbolAttr> getSymbols(mlir::Operation *op);

/// Returns the dims of a ranked tensor, or std::nullopt if a dynamic dim has no expression. Expressions come from
/// `inlay.dims` on the defining op or on the function of an argument. The arguments of a segment have the dims of its
/// inputs. A loop-carried value has the dims of its initial value if the loop has `inlay.dims`.
std::optional<llvm::SmallVector<mlir::AffineExpr>> getDims(mlir::Value value);

/// Returns `dims` as a map with `symbols` symbols.
mlir::AffineMapAttr makeDimsAttr(mlir::MLIRContext *context, unsigned symbols, llvm::ArrayRef<mlir::AffineExpr> dims);

/// Returns the dims of `value` as such a map, or a map without results if they are unknown.
mlir::AffineMapAttr describeDims(mlir::Value value, unsigned symbols);

/// Gives the results of `to` the dims of the results of `from`, if these are known.
void copyDims(mlir::Operation *from, mlir::Operation *to);

/// The smallest and largest values that an expression may have. The bounds are conservative: the actual range may be
/// smaller. Overflow and division by a value that may be 0 give the limits of 64 bits.
struct ExprRange {
  int64_t min, max;
};
ExprRange getRange(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

/// Returns the expression as a sum of products. In most cases, equal sizes have the same normal form. (MLIR's
/// `simplifyAffineExpr` is for linear expressions and fails on some products and quotients of symbols.)
mlir::AffineExpr simplifyExpr(mlir::AffineExpr expr, unsigned symbols);

/// Returns true if both expressions are known to be equal for all values of the symbols.
bool areEqual(mlir::AffineExpr lhs, mlir::AffineExpr rhs, unsigned symbols);

/// Broadcasts two dims. Returns null if they are not known to be compatible.
mlir::AffineExpr broadcastDim(mlir::AffineExpr lhs, mlir::AffineExpr rhs, unsigned symbols);

/// Broadcasts `dims` into `result`, aligned at the last dim. Returns false if dims are not known to be compatible.
bool broadcastDims(llvm::SmallVectorImpl<mlir::AffineExpr> &result, llvm::ArrayRef<mlir::AffineExpr> dims,
                   unsigned symbols);

/// Returns true if `lhs` is at most `rhs` for all values of the symbols.
bool isAtMost(mlir::AffineExpr lhs, mlir::AffineExpr rhs, llvm::ArrayRef<SymbolAttr> symbols);

/// Returns a bound of a slice of a dim of `size` elements as a number from 0 to `size`, or null if it is not known to
/// be one. Negative bounds count from the end, and bounds beyond the end mean the end. A dynamic `bound` is result
/// `next` of `sizes`, and `next` is incremented.
mlir::AffineExpr locateBound(int64_t bound, mlir::AffineExpr size, mlir::AffineMap sizes, unsigned &next,
                             llvm::ArrayRef<SymbolAttr> symbols);

/// Returns the value of the expression with each symbol at its typical size. Saturates on overflow.
int64_t getTypicalValue(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

/// Emits ops that compute `expr` from the symbols' values (`inlay.symbol`) as an index.
mlir::OpFoldResult materializeExpr(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr);

/// Returns the expression in PyTorch's notation: "2*batch + 1".
std::string spellExpr(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_SYMBOLS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known at a call alone: a function numbers them as symbols, and dims are affine expressions of these.
// Products of symbols and quotients by them are allowed, as the runtime computes them all the same.

#ifndef INLAY_DIALECT_INLAY_IR_SYMBOLS_H
#define INLAY_DIALECT_INLAY_IR_SYMBOLS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include <optional>

namespace inlay {

/// The symbols of the function (or program) around `op`, itself included; empty if there are none.
llvm::SmallVector<SymbolAttr> getSymbols(mlir::Operation *op);

/// The dims of a ranked tensor, or nullopt if what is dynamic of them isn't said: by `inlay.dims` of the op that makes
/// it or of the function that it is an argument of. A segment's arguments are its inputs; what a loop carries has the
/// dims that it starts with, if the loop says dims.
std::optional<llvm::SmallVector<mlir::AffineExpr>> getDims(mlir::Value value);

/// `dims` as a map of `symbols` symbols.
mlir::AffineMapAttr makeDimsAttr(mlir::MLIRContext *context, unsigned symbols, llvm::ArrayRef<mlir::AffineExpr> dims);

/// The dims of `value` as such a map, one without results if they are not known.
mlir::AffineMapAttr describeDims(mlir::Value value, unsigned symbols);

/// The smallest and largest values that an expression can have, both of them possible bounds only: the truth may lie
/// between. Overflow and division by what may be 0 give the ends of 64 bits.
struct ExprRange {
  int64_t min, max;
};
ExprRange getRange(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

/// The expression in a normal form: a sum of products, by which equal sizes are one expression in most cases.
/// (Upstream's `simplifyAffineExpr` is made for linear expressions and fails on some products and quotients of
/// symbols.)
mlir::AffineExpr simplifyExpr(mlir::AffineExpr expr, unsigned symbols);

/// True if `lhs` is at most `rhs`, whatever the symbols are.
bool isAtMost(mlir::AffineExpr lhs, mlir::AffineExpr rhs, llvm::ArrayRef<SymbolAttr> symbols);

/// What the expression is typically: with each symbol at the size that code is made for. Saturates.
int64_t getTypicalValue(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

/// Emits `expr` from the symbols' values (`inlay.symbol`), as an index.
mlir::OpFoldResult materializeExpr(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr);

/// As PyTorch writes it: "2*batch + 1".
std::string spellExpr(mlir::AffineExpr expr, llvm::ArrayRef<SymbolAttr> symbols);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_SYMBOLS_H

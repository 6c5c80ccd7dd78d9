// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims of every tensor of a function as expressions of its symbols (see Dialect/Inlay/IR/Symbols.h), inferred op by
// op from those of its arguments; nothing runs.

#ifndef INLAY_SHAPE_SHAPEANALYSIS_H
#define INLAY_SHAPE_SHAPEANALYSIS_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// One result's dims; nullopt if they don't follow from the operands'.
using SymbolicDims = std::optional<llvm::SmallVector<mlir::AffineExpr>>;

/// The dims of each result of `op`, given those of its operands. What an op that isn't known says of itself in
/// `inlay.dims` is believed. Dims that are static in the op's result types are what these say.
llvm::SmallVector<SymbolicDims> inferDims(mlir::Operation *op, llvm::ArrayRef<SymbolicDims> operands,
                                          llvm::ArrayRef<SymbolAttr> symbols);

/// Dims of all values of one function. Valid until the function changes. What a branch gives has dims that both of its
/// sides agree on; what a loop carries keeps the dims that it starts with, else nothing is known of what is in the
/// loop.
class ShapeAnalysis {
public:
  /// Infers the function's dims from `inlay.dims` of its arguments. A dynamic dim of an argument that nothing is said
  /// of becomes a symbol of its own, from 0 on.
  explicit ShapeAnalysis(mlir::FunctionOpInterface function);

  /// The function's symbols, those that were added at the end.
  llvm::ArrayRef<SymbolAttr> getSymbols() const { return symbols; }
  /// Null for what isn't a ranked tensor, or whose dims don't follow from the arguments'.
  const llvm::SmallVector<mlir::AffineExpr> *getDims(mlir::Value value) const;

private:
  void addArgument(mlir::FunctionOpInterface function, mlir::BlockArgument argument);
  void addOp(mlir::Operation *op);
  void addTerminator(mlir::Operation *op);
  void copy(mlir::ValueRange from, mlir::ValueRange to);
  bool areAlike(mlir::ValueRange one, mlir::ValueRange other) const;
  void forget(mlir::Operation *loop);

  llvm::SmallVector<SymbolAttr> symbols;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> dims;
};

} // namespace inlay

#endif // INLAY_SHAPE_SHAPEANALYSIS_H

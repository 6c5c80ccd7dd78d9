// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the dims of every tensor of a function as expressions of the function's symbols (see
// Dialect/Inlay/IR/Symbols.h). The dims are inferred op by op from those of the arguments, without running anything.

#ifndef INLAY_LIB_SHAPE_SHAPEANALYSIS_H
#define INLAY_LIB_SHAPE_SHAPEANALYSIS_H

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace inlay {

/// The dims of one result; std::nullopt if they do not follow from the dims of the operands.
using SymbolicDims = std::optional<llvm::SmallVector<mlir::AffineExpr>>;

/// A condition on sizes: `value` is 0 if `isEquality` is set, and at least 0 otherwise.
struct SizeConstraint {
  mlir::AffineExpr value;
  bool isEquality;
};

/// Returns the dims of each result of `op` for the given dims of its operands. For an unknown op, its `inlay.dims` are
/// used. A static dim in a result type takes precedence. A result of static type has no dims if the op can't run. Adds
/// to `constraints` what the op needs of the sizes of its operands, if the ranges of the symbols do not show it.
llvm::SmallVector<SymbolicDims> inferDims(mlir::Operation *op, llvm::ArrayRef<SymbolicDims> operands,
                                          llvm::ArrayRef<SymbolAttr> symbols,
                                          llvm::SmallVectorImpl<SizeConstraint> &constraints);

/// The dims of all values of one function. Valid until the function changes. A result of a branch has dims if both
/// sides agree. A loop-carried value has the dims of its initial value if every iteration preserves them; otherwise no
/// dims in the loop are known.
class ShapeAnalysis {
public:
  /// Infers the dims from `inlay.dims` of the function's arguments. Each dynamic dim of an argument without an
  /// expression becomes a new symbol with a minimum of 0.
  explicit ShapeAnalysis(mlir::FunctionOpInterface function);

  /// Returns the symbols of the function, followed by the new symbols.
  llvm::ArrayRef<SymbolAttr> getSymbols() const { return symbols; }
  /// Returns the dims of `value`. Returns null if it is not a ranked tensor or if its dims do not follow from the
  /// arguments.
  const llvm::SmallVector<mlir::AffineExpr> *getDims(mlir::Value value) const;
  /// Returns true if the op has a result of static type but can't run with the dims of its operands.
  bool isUnfit(mlir::Operation *op) const { return unfit.contains(op); }
  /// Returns what ops need of sizes beyond the ranges of the symbols.
  llvm::ArrayRef<std::pair<mlir::Operation *, SizeConstraint>> getConstraints() const { return constraints; }

private:
  void addArgument(mlir::FunctionOpInterface function, mlir::BlockArgument argument);
  void addOp(mlir::Operation *op);
  void addTerminator(mlir::Operation *op);
  void copy(mlir::ValueRange from, mlir::ValueRange to);
  bool haveEqualDims(mlir::ValueRange first, mlir::ValueRange second) const;
  void forget(mlir::Operation *loop);

  llvm::SmallVector<SymbolAttr> symbols;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> dims;
  llvm::SmallVector<std::pair<mlir::Operation *, SizeConstraint>> constraints; ///< With the op that needs each.
  llvm::SmallPtrSet<mlir::Operation *, 4> unfit;
};

} // namespace inlay

#endif // INLAY_LIB_SHAPE_SHAPEANALYSIS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constraints of a pattern on one of its values, as far as they restrict the draws. Hints only save attempts: the
// pattern itself decides whether it matches.

#ifndef INLAY_LIB_REWRITE_CHECK_HINTS_H
#define INLAY_LIB_REWRITE_CHECK_HINTS_H

#include "mlir/Dialect/PDL/IR/PDLOps.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

struct DimHint {
  int64_t dim; ///< Counted from the end if negative.
  int64_t min, max, factor;
};

struct ValueHints {
  llvm::SmallVector<mlir::Type> dtypes; ///< Empty for any.
  int64_t minRank = 0, maxRank = 5;
  llvm::SmallVector<DimHint> dims;
  mlir::Attribute splat; ///< Value of all elements, within `tolerance`.
  double tolerance = 0;
  bool isConstant = false;
  bool isScalarConstant = false;                      ///< True for a constant whose elements are all equal.
  llvm::SmallVector<mlir::Value> sameShape, sameType; ///< Other values of the pattern.

  /// Changes `shape` to sizes that satisfy the hints for dims. Returns false if it lacks such a dim or has the wrong
  /// rank.
  bool apply(llvm::SmallVectorImpl<int64_t> &shape) const;
  /// Returns true if a result may have that type.
  bool allows(mlir::RankedTensorType type) const;
};

/// Hints by value of the pattern.
using Hints = llvm::DenseMap<mlir::Value, ValueHints>;

Hints readHints(mlir::pdl::PatternOp pattern);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_HINTS_H

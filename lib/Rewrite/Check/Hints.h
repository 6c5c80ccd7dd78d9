// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the predicates of a pattern say about one of its values, as far as it narrows down what to draw. Whether a
// pattern matches is for the pattern to say; these only spare it most of what it wouldn't match.

#ifndef INLAY_LIB_REWRITE_CHECK_HINTS_H
#define INLAY_LIB_REWRITE_CHECK_HINTS_H

#include "mlir/Dialect/PDL/IR/PDLOps.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

struct DimHint {
  int64_t dim; ///< counted from the end if negative
  int64_t least, most, factor;
};

struct ValueHints {
  llvm::SmallVector<mlir::Type> dtypes; ///< empty for any
  int64_t minRank = 0, maxRank = 5;
  llvm::SmallVector<DimHint> dims;
  mlir::Attribute splat; ///< the number that all elements are, within `tolerance`
  double tolerance = 0;
  bool isConstant = false;
  bool isScalarConstant = false;                      ///< with equal elements, whatever they are
  llvm::SmallVector<mlir::Value> sameShape, sameType; ///< other values of the pattern

  /// Sizes that the dims ask for, put into `shape`; false if it has no such dim or the rank doesn't fit.
  bool apply(llvm::SmallVectorImpl<int64_t> &shape) const;
  /// Whether a result may have that type.
  bool allows(mlir::RankedTensorType type) const;
};

/// By value of the pattern.
using Hints = llvm::DenseMap<mlir::Value, ValueHints>;

Hints readHints(mlir::pdl::PatternOp pattern);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_HINTS_H

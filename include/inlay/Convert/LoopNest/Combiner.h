// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the op that combines partial results of a reduction, so that a reduction may be computed in parts.

#ifndef INLAY_CONVERT_LOOPNEST_COMBINER_H
#define INLAY_CONVERT_LOOPNEST_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace inlay {

/// Returns the op of the body that combines `op`'s only output with each new term, if the order of the terms may
/// change. Otherwise returns null.
mlir::Operation *findCombiner(mlir::linalg::LinalgOp op);

/// Returns the neutral element of `combiner`, or null if it has none.
mlir::TypedAttr getNeutral(mlir::Operation *combiner);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_COMBINER_H

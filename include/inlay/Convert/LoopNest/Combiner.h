// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that join what is reduced, so that a reduction may be computed in parts.

#ifndef INLAY_CONVERT_LOOPNEST_COMBINER_H
#define INLAY_CONVERT_LOOPNEST_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace inlay {

/// The op of the body that joins `op`'s only output with what is reduced into it, if that can be done in any order;
/// else null.
mlir::Operation *findCombiner(mlir::linalg::LinalgOp op);

/// The value that changes nothing when it is joined by `combiner`, or null if there is none.
mlir::TypedAttr getNeutral(mlir::Operation *combiner);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_COMBINER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of an op: its kind from its name, FLOP and bytes from its types.

#ifndef INLAY_PARTITION_OPWORK_H
#define INLAY_PARTITION_OPWORK_H

#include "inlay/Support/TargetCosts.h"

#include "mlir/IR/Operation.h"

namespace inlay {

/// The assumed size of a dynamic dimension, and the assumed number of elements of an unranked tensor.
inline constexpr int64_t kAssumedDim = 64;

/// Returns the bytes of a tensor or scalar, with assumed sizes for dynamic dimensions, and 0 for other types.
double estimateBytes(mlir::Type type);

/// Returns the work of one execution of an op of any dialect, without the regions of control flow.
OpWork estimateWork(mlir::Operation *op);

/// Returns the time of an `scf` op whose regions take `sum` seconds in total, the longest of them `longest` seconds. A
/// branch runs one region. A loop runs all of them, as often as its constant bounds state, else once.
double combineRegions(mlir::Operation *op, double sum, double longest);

} // namespace inlay

#endif // INLAY_PARTITION_OPWORK_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much an op has to do: its kind by its name, FLOP and bytes by its types.

#ifndef INLAY_PARTITION_OPWORK_H
#define INLAY_PARTITION_OPWORK_H

#include "inlay/Support/TargetCosts.h"

#include "mlir/IR/Operation.h"

namespace inlay {

/// What a size counts as that the type doesn't give, and a dim of a ranked tensor.
inline constexpr int64_t kAssumedDim = 64;

/// The bytes of a tensor or scalar, with assumed sizes for dynamic dims; 0 for what is neither.
double estimateBytes(mlir::Type type);

/// The work of one op of any dialect, once, regions of control flow left out.
OpWork estimateWork(mlir::Operation *op);

/// The time of an `scf` op whose regions take `sum` seconds together and the longest `most`: a branch runs one of them,
/// a loop all, as often as its constant bounds say, else once.
double combineRegions(mlir::Operation *op, double sum, double most);

} // namespace inlay

#endif // INLAY_PARTITION_OPWORK_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that a target lacks, or computes with few right digits, from those that it computes well.

#ifndef INLAY_CONVERT_LOOPNEST_EXPANDMATH_H
#define INLAY_CONVERT_LOOPNEST_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// For SPIR-V: expands functions and remainders of scalar floats in `root`, products with a constant 0, and integer
/// remainders. Results are right to some units in the last place but where drivers' own functions aren't.
void expandMath(mlir::Operation *root);

/// Expands exp(x) - 1 and log(1 + x), of scalars and vectors, which keep all digits of a small x.
void expandDifferencesFromOne(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_EXPANDMATH_H

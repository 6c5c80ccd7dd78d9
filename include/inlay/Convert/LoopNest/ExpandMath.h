// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands math functions that a target lacks or computes inaccurately into ops that it computes accurately.

#ifndef INLAY_CONVERT_LOOPNEST_EXPANDMATH_H
#define INLAY_CONVERT_LOOPNEST_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// For SPIR-V: expands math functions and remainders of scalar floats in `root`, and integer remainders. Expanded
/// functions are accurate to a few units in the last place. Other functions are as accurate as the driver's. Also
/// expands `x - x` and products and quotients with a constant 0, because Mesa's llvmpipe folds them incorrectly for
/// infinities and NaN.
void expandMath(mlir::Operation *root);

/// Expands exp(x) - 1 and log(1 + x) of scalars and vectors so that small x lose no digits.
void expandDifferencesFromOne(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_EXPANDMATH_H

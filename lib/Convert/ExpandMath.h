// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that SPIR-V lacks, or that drivers compute with few right digits, from those that they compute well.

#ifndef INLAY_LIB_CONVERT_EXPANDMATH_H
#define INLAY_LIB_CONVERT_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace inlay {

/// Expands functions and remainders of scalar floats in `root`, products with a constant 0, and integer remainders.
void expandMath(mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_EXPANDMATH_H

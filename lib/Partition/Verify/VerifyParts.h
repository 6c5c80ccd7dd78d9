// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the final check that look at a whole function. They share no analysis with the code that forms segments.

#ifndef INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H
#define INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Checks that two ops that access the same memory are in the order of `inlay.order` if one of them writes it.
llvm::LogicalResult verifyEffects(mlir::FunctionOpInterface function);

/// Checks that no op is missing or occurs twice, and that every clone equals its original: the name, the attributes,
/// the types and the operands. A clone of a changed list must also have the changes that were made before it is read.
llvm::LogicalResult verifyClones(mlir::FunctionOpInterface function);

/// Returns true if the op unpacks an argument of the function, a list or tuple, for a segment that repacks it.
bool unpacksArgument(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H

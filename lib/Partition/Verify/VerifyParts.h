// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the closing check that look at a whole function: none uses what partitioning made its decisions by.

#ifndef INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H
#define INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Every two ops that touch the same memory, one of them writing it, are in the order that `inlay.order` says.
llvm::LogicalResult verifyEffects(mlir::FunctionOpInterface function);

/// No op is there twice or got lost, and every copy equals its original: by name, attributes and types, by what it
/// reads, and for a changed list by the changes made to it before it is read.
llvm::LogicalResult verifyClones(mlir::FunctionOpInterface function);

/// Whether the op takes an argument of the function apart, a list or tuple, for a segment that makes it again.
bool unpacksArgument(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_VERIFY_VERIFYPARTS_H

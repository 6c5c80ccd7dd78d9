// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The origin of code. Locations outlive ops: they lead from a kernel or one of its ops back to the call that the user
// made. The module's `inlay.signatures` describes these calls.

#ifndef INLAY_DIALECT_INLAY_IR_ORIGIN_H
#define INLAY_DIALECT_INLAY_IR_ORIGIN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace inlay {

/// Returns `loc` with the key of a recorded call added to its metadata. The new call encloses the calls that `loc`
/// names already.
mlir::Location addSignatureKey(mlir::Location loc, mlir::StringAttr key);

/// Returns the keys of the calls that `loc` leads to, innermost first.
llvm::SmallVector<llvm::StringRef> getSignatureKeys(mlir::Location loc);

/// Returns the innermost call of each part of `loc`, without duplicates.
llvm::SmallVector<llvm::StringRef> getCalls(mlir::Location loc);

/// Returns the user-visible origins of `loc`: its calls, then the names of ops without a recorded call.
llvm::SmallVector<llvm::StringRef> getOrigins(mlir::Location loc);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_ORIGIN_H

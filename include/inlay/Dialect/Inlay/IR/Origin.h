// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where code came from. Locations outlive ops: they lead from a kernel, or an op of it, back to the call that the user
// made, which `inlay.signatures` of the module describes.

#ifndef INLAY_DIALECT_INLAY_IR_ORIGIN_H
#define INLAY_DIALECT_INLAY_IR_ORIGIN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace inlay {

/// `loc` with a recorded call named in its metadata, around the calls that it names already.
mlir::Location addSignatureKey(mlir::Location loc, mlir::StringAttr key);

/// Keys of the calls that a location leads to, the innermost first.
llvm::SmallVector<llvm::StringRef> getSignatureKeys(mlir::Location loc);

/// The innermost call of each part of a location, each once.
llvm::SmallVector<llvm::StringRef> getCalls(mlir::Location loc);

/// What people know the origins of a location by: its calls, then names of ops that no call is recorded for.
llvm::SmallVector<llvm::StringRef> getOrigins(mlir::Location loc);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_ORIGIN_H

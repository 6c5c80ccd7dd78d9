// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies some ops of a block into a function, to convert or run them alone.

#ifndef INLAY_SUPPORT_EXTRACT_H
#define INLAY_SUPPORT_EXTRACT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// A function without a parent module, and the outside values that its arguments and results stand for.
struct Extracted {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> arguments; ///< Values that the ops read from outside, except constants.
  llvm::SmallVector<mlir::Value> results;   ///< Results of the ops that have users outside or no users.
};

/// Copies `ops` into a private function, together with the constants that they read. The ops must be in one block and
/// in its order.
Extracted extractFunction(llvm::ArrayRef<mlir::Operation *> ops, mlir::Location loc, llvm::StringRef name);

} // namespace inlay

#endif // INLAY_SUPPORT_EXTRACT_H

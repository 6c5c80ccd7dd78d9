// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some ops of a block as a function of their own: to convert them alone, or to run them alone.

#ifndef INLAY_SUPPORT_EXTRACT_H
#define INLAY_SUPPORT_EXTRACT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

/// A function, in no module yet, and the values outside that its arguments and results stand for.
struct Extracted {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> arguments; ///< what the ops read from elsewhere, constants left out
  llvm::SmallVector<mlir::Value> results;   ///< what others read of what the ops make, and what nobody reads
};

/// Copies `ops`, of one block and in its order, into a private function; constants that they read are copied too.
Extracted extractFunction(llvm::ArrayRef<mlir::Operation *> ops, mlir::Location loc, llvm::StringRef name);

} // namespace inlay

#endif // INLAY_SUPPORT_EXTRACT_H

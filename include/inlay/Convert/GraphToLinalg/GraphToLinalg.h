// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts graph ops to linalg on tensors. This is the first stage of every target that generates code.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H
#define INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Adds the patterns for all graph ops and constants. A pattern that refuses an op calls `refuseOp` before it changes
/// anything. The library functions that bodies call are not declared yet: see `declareLibraryCalls`.
void populateGraphToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// An op that was not converted, and the reason.
struct Refusal {
  mlir::Operation *op;
  Verdict verdict;
};

/// Converts every graph op nested in `root` in one walk and declares the library functions that the results call.
/// Returns the refused ops, which stay unchanged. If there is a symbol table, `root` must hold it, and nothing else may
/// change the table meanwhile.
llvm::SmallVector<Refusal> convertGraphOps(mlir::Operation *root);

/// Declares the callee of each call nested in `root` that has no declaration, in the symbol table around the call.
void declareLibraryCalls(mlir::Operation *root);

/// Registers the dialects of the ops that the patterns create. A pass that converts must have them loaded.
void registerGraphToLinalgDialects(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

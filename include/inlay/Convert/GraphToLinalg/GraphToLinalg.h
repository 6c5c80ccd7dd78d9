// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts graph ops to linalg on tensors. This is the first stage of every target that generates code.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H
#define INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Adds the patterns for all graph ops and constants. A pattern that refuses an op calls `refuseOp` before it changes
/// anything. The patterns do not declare the library functions that they call. Call `declareLibraryCalls` afterwards.
void populateGraphToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// An op that was not converted, and the reason.
struct Refusal {
  mlir::Operation *op;
  Verdict verdict;
};

/// Converts every graph op nested in `root` in one walk and declares the library functions that the results call.
/// Returns the refused ops, which stay unchanged. The declarations are added to the symbol table that is nearest to
/// each call. This table must be `root` or nested in it, and no other thread may change it during the conversion.
llvm::SmallVector<Refusal> convertGraphOps(mlir::Operation *root);

/// Declares the callee of each `func.call` nested in `root` in the nearest symbol table, unless that table already
/// contains it.
void declareLibraryCalls(mlir::Operation *root);

/// Registers the dialects of the ops that the patterns create. They must be loaded before the patterns run.
void registerGraphToLinalgDialects(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

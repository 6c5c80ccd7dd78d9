// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the graph to linalg on tensors: the first stage of every target that generates code.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H
#define INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Patterns for all graph ops and constants. A pattern that refuses an op says so by `rejectOp`, before it changes
/// anything. A call of a library function that a body makes has no declaration yet: see `declareLibraryCalls`.
void populateGraphToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// An op that wasn't converted, and why.
struct Refusal {
  mlir::Operation *op;
  Verdict verdict;
};

/// Converts every graph op nested in `root` in one walk and declares the library functions they call. Returns the
/// refused ones, which stay as they are. `root` must hold the symbol table, if there is one: nothing else may change
/// it meanwhile.
llvm::SmallVector<Refusal> convertGraphOps(mlir::Operation *root);

/// Declares, in the symbol table around it, the function of each call nested in `root` that has none.
void declareLibraryCalls(mlir::Operation *root);

/// Registers the dialects that the patterns create ops of. Whoever converts in a pass must have them loaded.
void registerGraphToLinalgDialects(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALG_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph rewriting for C, and for languages that call C: pattern managers over MLIR's own C types.

#ifndef INLAY_C_REWRITE_H
#define INLAY_C_REWRITE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Patterns by label. Create one, add patterns, run it on any op; destroy it before the context that its patterns were
/// read in.
typedef struct InlayPatternManager {
  void *ptr;
} InlayPatternManager;

/// While a rewrite runs: what it changes the graph through.
typedef struct InlayRewriter {
  void *ptr;
} InlayRewriter;

MLIR_CAPI_EXPORTED InlayPatternManager inlayPatternManagerCreate(void);
MLIR_CAPI_EXPORTED void inlayPatternManagerDestroy(InlayPatternManager manager);

/// Adds all patterns of a PDL text by their symbol names, or none. On failure `error` is called with the reason.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerAddPDL(InlayPatternManager manager, MlirContext context,
                                                               MlirStringRef text, MlirStringRef textName,
                                                               MlirStringCallback error, void *userData);

/// A pattern written in C. `match` looks at an op and returns whether it is wanted. `rewrite` changes the graph and
/// returns whether it did; if not, all it did is undone. `destroy`, if not null, is called with `userData` at the end.
typedef struct InlayPatternCallbacks {
  bool (*match)(MlirOperation op, MlirAttribute args, void *userData);
  bool (*rewrite)(MlirOperation op, InlayRewriter rewriter, void *userData);
  void (*destroy)(void *userData);
} InlayPatternCallbacks;

/// `roots` are names of ops that the pattern is tried on; all ops if there are none.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerAdd(InlayPatternManager manager, MlirStringRef label,
                                                            intptr_t numRoots, const MlirStringRef *roots,
                                                            unsigned benefit, InlayPatternCallbacks callbacks,
                                                            void *userData, MlirStringCallback error,
                                                            void *errorUserData);

MLIR_CAPI_EXPORTED bool inlayPatternManagerHas(InlayPatternManager manager, MlirStringRef label);
MLIR_CAPI_EXPORTED bool inlayPatternManagerRemove(InlayPatternManager manager, MlirStringRef label);

/// Turns the patterns whose label fits `glob` on or off and returns how many fit; -1 if it is no glob.
MLIR_CAPI_EXPORTED int64_t inlayPatternManagerSetEnabled(InlayPatternManager manager, MlirStringRef glob, bool enabled);

typedef struct InlayPatternStatistics {
  uint64_t tried;
  uint64_t matched;
  uint64_t rewritten;
  uint64_t rejected;
} InlayPatternStatistics;

MLIR_CAPI_EXPORTED InlayPatternStatistics inlayPatternManagerGetStatistics(InlayPatternManager manager,
                                                                           MlirStringRef label);

typedef enum InlayRewriteDriver {
  InlayRewriteDriverFixpoint = 0,
  InlayRewriteDriverSweep = 1,
  InlayRewriteDriverGreedy = 2
} InlayRewriteDriver;

typedef struct InlayRewriteOptions {
  MlirAttribute args; ///< a dictionary, or null
  InlayRewriteDriver driver;
  int64_t limit; ///< most rewrites; negative for no limit
} InlayRewriteOptions;

/// Applies the patterns to what is in `root` and returns the number of rewrites. On failure returns -1, has emitted
/// diagnostics that name the pattern, and leaves the graph as it was.
MLIR_CAPI_EXPORTED int64_t inlayPatternManagerRewrite(InlayPatternManager manager, MlirOperation root,
                                                      InlayRewriteOptions options);

/// Calls `found` with each match until it returns false; changes nothing.
MLIR_CAPI_EXPORTED MlirLogicalResult
inlayPatternManagerAnalyze(InlayPatternManager manager, MlirOperation root, MlirAttribute args,
                           bool (*found)(MlirStringRef label, MlirOperation root, void *userData), void *userData);

/// Calls `text` with a sentence on the op that comes nearest to matching the pattern, and what differs there.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerExplain(InlayPatternManager manager, MlirStringRef label,
                                                                MlirOperation root, MlirAttribute args,
                                                                MlirStringCallback text, void *userData);

/// Puts an op that was made with mlirOperationCreate before `before`; it becomes the graph's.
MLIR_CAPI_EXPORTED void inlayRewriterInsert(InlayRewriter rewriter, MlirOperation before, MlirOperation op);
/// Moves the uses of the op's results to `values`, of the same number and types, and erases the op.
MLIR_CAPI_EXPORTED void inlayRewriterReplace(InlayRewriter rewriter, MlirOperation op, intptr_t numValues,
                                             const MlirValue *values);
MLIR_CAPI_EXPORTED void inlayRewriterErase(InlayRewriter rewriter, MlirOperation op);
MLIR_CAPI_EXPORTED void inlayRewriterSetOperand(InlayRewriter rewriter, MlirOperation op, intptr_t number,
                                                MlirValue value);
/// Ends the run with this error.
MLIR_CAPI_EXPORTED void inlayRewriterRefuse(InlayRewriter rewriter, MlirStringRef why);

#ifdef __cplusplus
}
#endif

#endif // INLAY_C_REWRITE_H

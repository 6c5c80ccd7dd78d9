// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph rewriting for C and for languages that call C: pattern managers over MLIR's C types.

#ifndef INLAY_C_REWRITE_H
#define INLAY_C_REWRITE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A pattern manager: patterns by label. Create one, add patterns and run it on any op. Destroy it before the context
/// in which its patterns were read.
typedef struct InlayPatternManager {
  void *ptr;
} InlayPatternManager;

/// Changes the graph while a rewrite runs. It is valid during the callback only.
typedef struct InlayRewriter {
  void *ptr;
} InlayRewriter;

MLIR_CAPI_EXPORTED InlayPatternManager inlayPatternManagerCreate(void);
MLIR_CAPI_EXPORTED void inlayPatternManagerDestroy(InlayPatternManager manager);

/// Adds all patterns of a PDL text under their symbol names, or none. On failure `error` is called with the reason.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerAddPDL(InlayPatternManager manager, MlirContext context,
                                                               MlirStringRef text, MlirStringRef textName,
                                                               MlirStringCallback error, void *userData);

/// A pattern written in C. `match` returns true if the pattern applies to an op; null applies to every op. `args` is
/// the dictionary of `InlayRewriteOptions::args`, or null. `rewrite` changes the graph and returns true if it did. If
/// it returns false, its changes are undone. `destroy`, if not null, is called with `userData` when the pattern is
/// destroyed, which includes a failed `inlayPatternManagerAdd`.
typedef struct InlayPatternCallbacks {
  bool (*match)(MlirOperation op, MlirAttribute args, void *userData);
  bool (*rewrite)(MlirOperation op, InlayRewriter rewriter, void *userData);
  void (*destroy)(void *userData);
} InlayPatternCallbacks;

/// Adds a pattern. `roots` are the names of the ops on which it is tried. Without roots, it is tried on all ops.
/// Patterns of a higher `benefit` are tried first. On failure `error` is called with the reason.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerAdd(InlayPatternManager manager, MlirStringRef label,
                                                            intptr_t numRoots, const MlirStringRef *roots,
                                                            unsigned benefit, InlayPatternCallbacks callbacks,
                                                            void *userData, MlirStringCallback error,
                                                            void *errorUserData);

/// Returns true if there is a pattern with that label.
MLIR_CAPI_EXPORTED bool inlayPatternManagerHas(InlayPatternManager manager, MlirStringRef label);
/// Removes the pattern with that label. Returns false if there is none.
MLIR_CAPI_EXPORTED bool inlayPatternManagerRemove(InlayPatternManager manager, MlirStringRef label);

/// Turns the patterns whose label matches `glob` on or off. Returns their number, or -1 if `glob` is malformed.
MLIR_CAPI_EXPORTED int64_t inlayPatternManagerSetEnabled(InlayPatternManager manager, MlirStringRef glob, bool enabled);

/// The outcomes of a pattern in all runs of its manager.
typedef struct InlayPatternStatistics {
  uint64_t tried;     ///< Ops on which the pattern was tried.
  uint64_t matched;   ///< Matches that an analysis found.
  uint64_t rewritten; ///< Matches that were rewritten.
  uint64_t rejected;  ///< Matches whose rewrite failed, so that its changes were undone.
} InlayPatternStatistics;

MLIR_CAPI_EXPORTED InlayPatternStatistics inlayPatternManagerGetStatistics(InlayPatternManager manager,
                                                                           MlirStringRef label);

typedef enum InlayRewriteDriver {
  InlayRewriteDriverFixpoint = 0,
  InlayRewriteDriverSweep = 1,
  InlayRewriteDriverGreedy = 2
} InlayRewriteDriver;

typedef struct InlayRewriteOptions {
  MlirAttribute args; ///< A dictionary, or null.
  InlayRewriteDriver driver;
  int64_t limit; ///< Maximum number of rewrites; negative for no limit.
} InlayRewriteOptions;

/// Applies the patterns to the ops in `root` and returns the number of rewrites. On failure it returns -1, has emitted
/// diagnostics that name the pattern, and leaves the graph unchanged.
MLIR_CAPI_EXPORTED int64_t inlayPatternManagerRewrite(InlayPatternManager manager, MlirOperation root,
                                                      InlayRewriteOptions options);

/// Calls `found` with the label and the root of each match until `found` returns false. Changes nothing.
MLIR_CAPI_EXPORTED MlirLogicalResult
inlayPatternManagerAnalyze(InlayPatternManager manager, MlirOperation root, MlirAttribute args,
                           bool (*found)(MlirStringRef label, MlirOperation root, void *userData), void *userData);

/// Calls `text` with a sentence that names the op that comes closest to matching the pattern, and the check that fails
/// there. Fails if there is no pattern with that label.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerExplain(InlayPatternManager manager, MlirStringRef label,
                                                                MlirOperation root, MlirAttribute args,
                                                                MlirStringCallback text, void *userData);

/// Inserts an op that was created with mlirOperationCreate before `before`. The graph then owns it.
MLIR_CAPI_EXPORTED void inlayRewriterInsert(InlayRewriter rewriter, MlirOperation before, MlirOperation op);
/// Replaces the uses of the op's results by `values`, which must match them in number and types, and erases the op.
MLIR_CAPI_EXPORTED void inlayRewriterReplace(InlayRewriter rewriter, MlirOperation op, intptr_t numValues,
                                             const MlirValue *values);
MLIR_CAPI_EXPORTED void inlayRewriterErase(InlayRewriter rewriter, MlirOperation op);
MLIR_CAPI_EXPORTED void inlayRewriterSetOperand(InlayRewriter rewriter, MlirOperation op, intptr_t number,
                                                MlirValue value);
/// Ends the run with the error message `why`.
MLIR_CAPI_EXPORTED void inlayRewriterRefuse(InlayRewriter rewriter, MlirStringRef why);

#ifdef __cplusplus
}
#endif

#endif // INLAY_C_REWRITE_H

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

/// A pattern written in C. `match` returns true if the pattern applies to an op. `rewrite` changes the graph and
/// returns true if it did; if it returns false, its changes are undone. `destroy`, if not null, is called with
/// `userData` when the pattern is destroyed.
typedef struct InlayPatternCallbacks {
  bool (*match)(MlirOperation op, MlirAttribute args, void *userData);
  bool (*rewrite)(MlirOperation op, InlayRewriter rewriter, void *userData);
  void (*destroy)(void *userData);
} InlayPatternCallbacks;

/// Adds a pattern. `roots` are names of the ops on which it is tried; without any it is tried on all ops.
MLIR_CAPI_EXPORTED MlirLogicalResult inlayPatternManagerAdd(InlayPatternManager manager, MlirStringRef label,
                                                            intptr_t numRoots, const MlirStringRef *roots,
                                                            unsigned benefit, InlayPatternCallbacks callbacks,
                                                            void *userData, MlirStringCallback error,
                                                            void *errorUserData);

MLIR_CAPI_EXPORTED bool inlayPatternManagerHas(InlayPatternManager manager, MlirStringRef label);
MLIR_CAPI_EXPORTED bool inlayPatternManagerRemove(InlayPatternManager manager, MlirStringRef label);

/// Turns the patterns whose label matches `glob` on or off. Returns their number, or -1 if `glob` is malformed.
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
  MlirAttribute args; ///< A dictionary, or null.
  InlayRewriteDriver driver;
  int64_t limit; ///< Maximum number of rewrites; negative for no limit.
} InlayRewriteOptions;

/// Applies the patterns to the ops in `root` and returns the number of rewrites. On failure it returns -1, has emitted
/// diagnostics that name the pattern, and leaves the graph unchanged.
MLIR_CAPI_EXPORTED int64_t inlayPatternManagerRewrite(InlayPatternManager manager, MlirOperation root,
                                                      InlayRewriteOptions options);

/// Calls `found` with each match until it returns false. Changes nothing.
MLIR_CAPI_EXPORTED MlirLogicalResult
inlayPatternManagerAnalyze(InlayPatternManager manager, MlirOperation root, MlirAttribute args,
                           bool (*found)(MlirStringRef label, MlirOperation root, void *userData), void *userData);

/// Calls `text` with a sentence about the op that comes closest to matching the pattern and the difference there.
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

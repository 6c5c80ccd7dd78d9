// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph runner (Rewrite/GraphRunner.h) for checks of rewrites: it runs graphs on the host target in this process.

#ifndef INLAY_EXECUTION_HOSTRUNNER_H
#define INLAY_EXECUTION_HOSTRUNNER_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Registers the runner, so that contexts made from `registry` can check patterns.
void registerHostRunner(mlir::DialectRegistry &registry);

/// Returns a registry for contexts in which graphs are rewritten: all dialects and targets, PDL, and the runner.
mlir::DialectRegistry makeRewriteRegistry();

} // namespace inlay

#endif // INLAY_EXECUTION_HOSTRUNNER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs graphs for those who check rewriting (Rewrite/GraphRunner.h): the host target, in this process.

#ifndef INLAY_EXECUTION_HOSTRUNNER_H
#define INLAY_EXECUTION_HOSTRUNNER_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Lets contexts made from `registry` check patterns by running them.
void registerHostRunner(mlir::DialectRegistry &registry);

/// For contexts in which graphs are rewritten: all dialects and targets, patterns in PDL, and what checks them.
mlir::DialectRegistry makeRewriteRegistry();

} // namespace inlay

#endif // INLAY_EXECUTION_HOSTRUNNER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the rewrite phase.

#ifndef INLAY_REWRITE_PASSES_H
#define INLAY_REWRITE_PASSES_H

#include "inlay/Rewrite/RewritePatternManager.h"
#include "inlay/Rewrite/RuleCheck.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace inlay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "inlay/Rewrite/Passes.h.inc"

} // namespace inlay

#endif // INLAY_REWRITE_PASSES_H

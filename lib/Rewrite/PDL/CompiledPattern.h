// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PDL pattern as it runs.

#ifndef INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H
#define INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H

#include "Replacement.h"

#include "mlir/IR/BuiltinOps.h"

namespace inlay {

struct CompiledPattern {
  std::shared_ptr<mlir::OwningOpRef<mlir::ModuleOp>> module; ///< holds the pattern's ops, which steps point to
  mlir::pdl::PatternOp source;
  MatchProgram program;
  Replacement replacement;
  std::vector<std::string> argNames;
  bool looksAround = false; ///< calls constraints that may look at more than what matches
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H

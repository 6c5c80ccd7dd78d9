// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled PDL pattern: its match program and its replacement.

#ifndef INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H
#define INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H

#include "Replacement.h"

#include "mlir/IR/BuiltinOps.h"

namespace inlay {

struct CompiledPattern {
  std::shared_ptr<mlir::OwningOpRef<mlir::ModuleOp>> module; ///< Owns the pattern's ops, which steps point to.
  mlir::pdl::PatternOp source;
  MatchProgram program;
  Replacement replacement;
  std::vector<std::string> argNames;
  bool looksAround = false; ///< True if the pattern calls constraints that may read ops outside the match.
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_PDL_COMPILEDPATTERN_H

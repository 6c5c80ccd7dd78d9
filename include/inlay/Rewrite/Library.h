// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that come with Inlay, as texts of PDL patterns (lib/Rewrite/Library). docs/guide/rewrite.md lists them.

#ifndef INLAY_REWRITE_LIBRARY_H
#define INLAY_REWRITE_LIBRARY_H

#include "inlay/Rewrite/RewritePatternManager.h"

namespace inlay {

struct RuleLibrary {
  llvm::StringRef name; ///< "fusions"
  llvm::StringRef text;
};

llvm::ArrayRef<RuleLibrary> getRuleLibraries();

/// Adds all rules of the library of that name; fails if there is none.
llvm::Error addLibrary(PatternManager &manager, llvm::StringRef name, mlir::MLIRContext *context);

} // namespace inlay

#endif // INLAY_REWRITE_LIBRARY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule libraries that come with Inlay, as PDL texts (lib/Rewrite/Library). docs/guide/rewrite.md lists the rules.

#ifndef INLAY_REWRITE_LIBRARY_H
#define INLAY_REWRITE_LIBRARY_H

#include "inlay/Rewrite/RewritePatternManager.h"

namespace inlay {

struct RuleLibrary {
  llvm::StringRef name; ///< For example "fusions".
  llvm::StringRef text;
};

llvm::ArrayRef<RuleLibrary> getRuleLibraries();

/// Adds all rules of the library of that name. Fails if there is no such library.
llvm::Error addLibrary(PatternManager &manager, llvm::StringRef name, mlir::MLIRContext *context);

} // namespace inlay

#endif // INLAY_REWRITE_LIBRARY_H

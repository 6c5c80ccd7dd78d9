// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that is nothing but what a pattern matches: drawn from the pattern, or cut out of a real graph.

#ifndef INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H
#define INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H

#include "Random.h"

#include "inlay/Rewrite/PDLPattern.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

struct PatternInstance {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null if none was found
  mlir::Operation *root = nullptr;
  std::string whyNot;                       ///< where `module` is null
  std::vector<std::string> argumentNames{}; ///< as the pattern has them; may be empty
  int64_t unknownSize = 3;                  ///< what all sizes are that its types leave open
  double slack = 0;                         ///< how far numbers in it are from those that the pattern means

  mlir::func::FuncOp getFunction() { return *(*module).getOps<mlir::func::FuncOp>().begin(); }
};

/// Draws what `pattern` matches, of element type `dtype` where the pattern leaves that open; with sizes that aren't
/// known if `dynamic`.
PatternInstance drawInstance(const PDLPattern &pattern, mlir::DictionaryAttr args, mlir::Type dtype, bool dynamic,
                             Random &random);

/// The matched ops with the constants that they use; other operands become arguments.
PatternInstance cutOut(const GraphPattern &pattern, const Match &match, mlir::DictionaryAttr args, Random &random);

/// A module of the same function where all sizes that aren't known are `unknownSize`. Null, with `why`, if that gives
/// no valid graph.
mlir::OwningOpRef<mlir::ModuleOp> specialize(mlir::func::FuncOp function, int64_t unknownSize, std::string &why);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H

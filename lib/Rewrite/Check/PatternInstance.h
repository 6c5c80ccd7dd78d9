// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that consists of ops that a pattern matches. It is drawn from the pattern or cut out of a real graph.

#ifndef INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H
#define INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H

#include "Random.h"

#include "inlay/Rewrite/PDLPattern.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace inlay {

struct PatternInstance {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< Null if none was found.
  mlir::Operation *root = nullptr;
  std::string whyNot;                       ///< Reason if `module` is null.
  std::vector<std::string> argumentNames{}; ///< Names in the pattern; may be empty.
  int64_t unknownSize = 3;                  ///< Size that stands for all unknown sizes in its types.
  double slack = 0;                         ///< Maximum distance of constants from the values in the pattern.

  mlir::func::FuncOp getFunction() { return *(*module).getOps<mlir::func::FuncOp>().begin(); }
};

/// Draws a graph that `pattern` matches. Its element type is `dtype` unless the pattern restricts it. Some sizes are
/// dynamic if `dynamic` is true.
PatternInstance drawInstance(const PDLPattern &pattern, mlir::DictionaryAttr args, mlir::Type dtype, bool dynamic,
                             Random &random);

/// Returns the matched ops with the constants that they use. Other operands become arguments.
PatternInstance cutOut(const GraphPattern &pattern, const Match &match, mlir::DictionaryAttr args, Random &random);

/// Returns a module with a copy of the function in which all unknown sizes are `unknownSize`. Returns null and sets
/// `why` if the copy is invalid.
mlir::OwningOpRef<mlir::ModuleOp> specialize(mlir::func::FuncOp function, int64_t unknownSize, std::string &why);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_PATTERNINSTANCE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rewrite as JSON: which pattern, where, and the ops before and after as text.

#ifndef INLAY_LIB_REWRITE_DRIVER_TRACE_H
#define INLAY_LIB_REWRITE_DRIVER_TRACE_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/Support/JSON.h"

namespace inlay {

class Firing {
public:
  /// Writes down what `pattern` matches at `op`, before it is rewritten.
  Firing(const GraphPattern &pattern, mlir::Operation *op, const MatchContext &context);

  /// {"number", "label", "root", "location", "pattern_location", "before": [op], "after": [op]}
  llvm::json::Object finish(llvm::StringRef label, uint64_t number, const Journal &journal, Journal::Mark mark);

private:
  std::string root, location, patternLocation;
  llvm::json::Array before;
};

/// An op in one line, its operands by the names of what makes them: `fc1 = inlay.relu(add) : tensor<4xf32>`.
std::string describeOp(mlir::Operation *op);

/// `file:line:column` of an op or a pattern, else its name, else nothing.
std::string describeLoc(mlir::Location loc);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_TRACE_H

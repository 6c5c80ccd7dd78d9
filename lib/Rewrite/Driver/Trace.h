// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes one rewrite as JSON: its pattern, its location, and the text of the ops before and after.

#ifndef INLAY_LIB_REWRITE_DRIVER_TRACE_H
#define INLAY_LIB_REWRITE_DRIVER_TRACE_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/Support/JSON.h"

namespace inlay {

class Firing {
public:
  /// Records the ops that `pattern` matches at `op`. Call this before the rewrite.
  Firing(const GraphPattern &pattern, mlir::Operation *op, const MatchContext &context);

  /// Returns {"number", "label", "root", "location", "pattern_location", "before": [op], "after": [op]}.
  llvm::json::Object finish(llvm::StringRef label, uint64_t number, const Journal &journal, Journal::Mark mark);

private:
  std::string root, location, patternLocation;
  llvm::json::Array before;
};

/// Returns a one-line text of an op. Operands are named after the ops that define them: `fc1 = inlay.relu(add) :
/// tensor<4xf32>`.
std::string describeOp(mlir::Operation *op);

/// Returns `file:line:column` of an op or a pattern, else its name, else an empty string.
std::string describeLoc(mlir::Location loc);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_TRACE_H

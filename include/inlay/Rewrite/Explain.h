// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains why a pattern did not match: finds the op that comes closest to a match and lists the checks that fail
// there.

#ifndef INLAY_REWRITE_EXPLAIN_H
#define INLAY_REWRITE_EXPLAIN_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/Support/JSON.h"

namespace inlay {

/// One check that does not hold.
struct Mismatch {
  mlir::Operation *op;       ///< Op in the graph.
  std::string place;         ///< Path from the root: "the root", "operand #0 of 't.relu'".
  std::string why;           ///< Reason: "expected 't.add', but found 't.mul'".
  mlir::Location patternLoc; ///< Location in the pattern.
};

struct Explanation {
  uint64_t matches = 0;             ///< Number of ops at which the pattern matches.
  mlir::Operation *root = nullptr;  ///< Root of the nearest miss. Null if there are no ops to look at or all of them
                                    ///< match.
  unsigned held = 0, checks = 0;    ///< Number of checks that hold at `root`, and the number of all checks.
  std::vector<Mismatch> mismatches; ///< In the order of the pattern, root first.

  /// Returns one sentence with the locations in the graph and in the pattern.
  std::string str(llvm::StringRef label) const;
  llvm::json::Object json(llvm::StringRef label) const;
};

/// Tries each op in `graph` that `where` accepts (all ops if `where` is null) as the root of `pattern`.
Explanation explain(const GraphPattern &pattern, mlir::Operation *graph, mlir::DictionaryAttr args = {},
                    llvm::function_ref<bool(mlir::Operation *)> where = nullptr);

} // namespace inlay

#endif // INLAY_REWRITE_EXPLAIN_H

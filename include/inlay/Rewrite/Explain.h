// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a pattern didn't match: the place in the graph that comes nearest, and what differs there.

#ifndef INLAY_REWRITE_EXPLAIN_H
#define INLAY_REWRITE_EXPLAIN_H

#include "inlay/Rewrite/GraphPattern.h"

#include "llvm/Support/JSON.h"

namespace inlay {

/// One check that doesn't hold.
struct Mismatch {
  mlir::Operation *op;       ///< where in the graph
  std::string place;         ///< from the root: "the root", "operand #0 of 't.relu'"
  std::string why;           ///< "expected 't.add', but found 't.mul'"
  mlir::Location patternLoc; ///< where in the pattern
};

struct Explanation {
  uint64_t matches = 0;             ///< places where the pattern does match
  mlir::Operation *root = nullptr;  ///< of the nearest miss; null if there are no ops to look at, or all match
  unsigned held = 0, checks = 0;    ///< checks that hold there, of how many
  std::vector<Mismatch> mismatches; ///< in the order of the pattern, from its root

  /// One sentence, with places on both sides.
  std::string str(llvm::StringRef label) const;
  llvm::json::Object json(llvm::StringRef label) const;
};

/// Looks at every op in `graph` that `where` accepts (all, if null) as the root of `pattern`.
Explanation explain(const GraphPattern &pattern, mlir::Operation *graph, mlir::DictionaryAttr args = {},
                    llvm::function_ref<bool(mlir::Operation *)> where = nullptr);

} // namespace inlay

#endif // INLAY_REWRITE_EXPLAIN_H

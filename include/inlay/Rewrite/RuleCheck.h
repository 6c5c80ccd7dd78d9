// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a rule preserves what a graph computes. The checker runs a matched graph and its replacement on random
// inputs and compares the results. At registration the matched graph is random too: the checker draws types, constants
// and attributes that the pattern's predicates allow. At a match in a real graph it uses the matched ops.

#ifndef INLAY_REWRITE_RULECHECK_H
#define INLAY_REWRITE_RULECHECK_H

#include "inlay/Rewrite/GraphPattern.h"
#include "inlay/Rewrite/GraphRunner.h"

#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringSet.h"

namespace inlay {

class PDLPattern;
class RewritePatternManager;

/// The time at which a run checks its patterns.
enum class RewriteCheck { Off, Registration, Each };

struct RuleCheckOptions {
  mlir::DictionaryAttr args; ///< Arguments of the run; may be null.
  unsigned instances = 8;    ///< Number of instances drawn at registration.
  uint64_t seed = 1;
  /// Rules that expand plugins into ops of the dialect, applied before a graph is run; may be null.
  RewritePatternManager *meanings = nullptr;
};

struct RuleVerdict {
  enum Kind {
    Holds,
    Differs,    ///< A counterexample was found.
    Invalid,    ///< The replacement is an invalid graph.
    NoInstance, ///< No graph was found that the pattern matches.
    CantRun,    ///< The matched graph or its replacement cannot be run.
  };
  Kind kind = Holds;
  std::string text;     ///< One sentence; empty if the rule holds.
  std::string instance; ///< Text of the checked graph before and after the rewrite; may be empty.

  bool holds() const { return kind == Holds; }
};

class RuleChecker {
public:
  explicit RuleChecker(const GraphRunner &runner, RuleCheckOptions options = {}) : runner(runner), options(options) {}

  /// Checks a PDL pattern on drawn graphs that it matches. A pattern marked `finite` is checked on finite numbers only.
  RuleVerdict checkPattern(const GraphPattern &pattern, llvm::StringRef label);

  /// Checks one match with its types and attributes. Unknown sizes are replaced by a small size. Equal matches of one
  /// pattern are checked once.
  RuleVerdict checkMatch(const GraphPattern &pattern, llvm::StringRef label, const Match &match);

  /// A graph that was drawn for a pattern.
  struct Drawn {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< Null if none was found.
    int64_t unknownSize;                      ///< Size that stands for all unknown sizes in its types.
    std::string whyNot;
  };

  /// Returns drawn graph `number` that `pattern` matches, as `checkPattern` uses it.
  Drawn draw(const PDLPattern &pattern, unsigned number);

  /// Compares the graph of a single function with the graph that a pattern made of it.
  RuleVerdict compareGraphs(mlir::ModuleOp before, mlir::ModuleOp after, llvm::StringRef label,
                            int64_t unknownSize = 3);

private:
  const GraphRunner &runner;
  RuleCheckOptions options;
  llvm::StringSet<> checked;
};

} // namespace inlay

#endif // INLAY_REWRITE_RULECHECK_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does a rule keep what a graph computes? Runs what a pattern matches against what it is replaced by, on drawn inputs.
// At registration the ops themselves are drawn: types, constants and attributes that the pattern's predicates allow.
// At a match of a real graph they are what matched.

#ifndef INLAY_REWRITE_RULECHECK_H
#define INLAY_REWRITE_RULECHECK_H

#include "inlay/Rewrite/GraphPattern.h"
#include "inlay/Rewrite/GraphRunner.h"

#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringSet.h"

namespace inlay {

class PDLPattern;
class RewritePatternManager;

/// When a run checks its patterns.
enum class RewriteCheck { Off, Registration, Each };

struct RuleCheckOptions {
  mlir::DictionaryAttr args; ///< of the run; may be null
  unsigned instances = 8;    ///< drawn at registration
  uint64_t seed = 1;
  /// Rules that turn plugins into what they compute, applied before anything is run; may be null.
  RewritePatternManager *meanings = nullptr;
};

struct RuleVerdict {
  enum Kind {
    Holds,
    Differs,    ///< there is a counterexample
    Invalid,    ///< the replacement is no valid graph
    NoInstance, ///< nothing was found that the pattern matches
    CantRun,    ///< what it matches, or makes, can't be run
  };
  Kind kind = Holds;
  std::string text;     ///< one sentence; empty if the rule holds
  std::string instance; ///< the graph that it is about, before and after; may be empty

  bool holds() const { return kind == Holds; }
};

class RuleChecker {
public:
  explicit RuleChecker(const GraphRunner &runner, RuleCheckOptions options = {}) : runner(runner), options(options) {}

  /// Checks a pattern read from PDL for whatever it may match. One that says `finite` is only tried on finite numbers.
  RuleVerdict checkPattern(const GraphPattern &pattern, llvm::StringRef label);

  /// Checks one match with the types and attributes that it has. A size that isn't known is taken for a small one.
  /// Equal matches of one pattern are checked once.
  RuleVerdict checkMatch(const GraphPattern &pattern, llvm::StringRef label, const Match &match);

  /// A graph that is drawn for a pattern.
  struct Drawn {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< null if none was found
    int64_t unknownSize;                      ///< what the sizes are that its types leave open
    std::string whyNot;
  };

  /// One that `pattern` matches, as `checkPattern` draws them.
  Drawn draw(const PDLPattern &pattern, unsigned number);

  /// Compares what a graph of one function computes with what a pattern made of it.
  RuleVerdict compareGraphs(mlir::ModuleOp before, mlir::ModuleOp after, llvm::StringRef label,
                            int64_t unknownSize = 3);

private:
  const GraphRunner &runner;
  RuleCheckOptions options;
  llvm::StringSet<> checked;
};

} // namespace inlay

#endif // INLAY_REWRITE_RULECHECK_H

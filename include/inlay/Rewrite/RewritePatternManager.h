// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern managers: labeled patterns and the runs that apply them to a graph. A run either succeeds or leaves the graph
// unchanged.

#ifndef INLAY_REWRITE_REWRITEPATTERNMANAGER_H
#define INLAY_REWRITE_REWRITEPATTERNMANAGER_H

#include "inlay/Rewrite/PDLPattern.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace inlay {

enum class RewriteDriver {
  Fixpoint, ///< Runs until no pattern matches. Revisits an op only if something near it changed.
  Sweep,    ///< Visits each op once, in order.
  Greedy,   ///< MLIR's greedy driver, for comparison.
};

class RuleChecker;

struct RewriteOptions {
  mlir::DictionaryAttr args; ///< Arguments that constraints and rewrites read; may be null.
  RewriteDriver driver = RewriteDriver::Fixpoint;
  int64_t limit = -1; ///< Maximum number of rewrites, to find a wrong one by bisection; negative for no limit.
  bool removeDeadCode = true;
  bool acrossSegments = false; ///< True if matches may reach out of an open segment.
  /// Rewrites per visited op. A run with more than that plus 1000 rewrites is considered non-terminating: see
  /// TerminationGuard.h. Rewrite/Passes.td and python/inlay/_rewrite/manager.py repeat the default.
  double budget = 10;
  llvm::json::Array *trace = nullptr; ///< If not null, receives one object per rewrite.
  RuleChecker *checker = nullptr;     ///< If not null, checks each match before it is rewritten.
  /// If set, called after each try. A text that is not empty ends the run with that error.
  std::function<std::string()> interrupted;
  /// Called before an op is freed during the run (see Journal::freeing).
  std::function<void(mlir::Operation *)> freeing;
};

/// Counts of what happened when a pattern was tried.
struct PatternStatistics {
  uint64_t tried = 0;     ///< Ops that the pattern was tried on.
  uint64_t matched = 0;   ///< Matches that were passed to an analysis.
  uint64_t rewritten = 0; ///< Rewrites that changed the graph.
  uint64_t rejected = 0;  ///< Matches whose rewrite failed and was undone.
};

struct LabeledMatch {
  std::string label;
  Match match;
};

class PatternIndex;

/// The common base of the managers: patterns in the order in which they are tried. The highest benefit comes first;
/// among equals the pattern that was added first.
class PatternManager {
public:
  PatternManager();
  ~PatternManager();

  /// Returns the functions that PDL patterns call by name. Register them before the patterns that call them.
  NativeFunctions &getFunctions() { return *functions; }

  /// Adds a pattern. Fails if its label is already in use. `benefit` overrides the benefit of the pattern.
  llvm::Error add(llvm::StringRef label, std::unique_ptr<GraphPattern> pattern, std::optional<unsigned> benefit = {});

  /// Adds each pattern of a PDL text. Its label is `prefix` and its symbol name. Adds all patterns or, on an error,
  /// none.
  llvm::Error addPDL(llvm::StringRef text, llvm::StringRef textName, mlir::MLIRContext *context,
                     llvm::StringRef prefix = "");

  /// Returns the pattern with that label, or null if there is none.
  GraphPattern *get(llvm::StringRef label) const;
  /// Removes the pattern with that label. Returns false if there is none.
  bool remove(llvm::StringRef label);
  /// Returns the labels in the order in which the patterns are tried.
  llvm::SmallVector<llvm::StringRef> getLabels() const;

  /// Enables or disables the patterns whose label matches `glob` (`fuse_*`). Returns their number. Recompiles nothing.
  llvm::Expected<unsigned> setEnabled(llvm::StringRef glob, bool enabled);
  bool isEnabled(llvm::StringRef label) const;

  PatternStatistics getStatistics(llvm::StringRef label) const;

  /// Returns all matches of all enabled patterns at the ops in `root`: ops in order, and at each op the highest benefit
  /// first. Changes nothing. Fails with a diagnostic if a pattern needs an argument that is missing in `args`.
  mlir::FailureOr<std::vector<LabeledMatch>> analyze(mlir::Operation *root, mlir::DictionaryAttr args = {});

  /// Passes the same matches to `found`, one at a time, until `found` returns false.
  mlir::LogicalResult analyze(mlir::Operation *root, mlir::DictionaryAttr args,
                              llvm::function_ref<bool(llvm::StringRef label, Match &match)> found);

  /// Passes the matches at `op` alone to `found`. Returns false if `found` returned false.
  bool analyzeAt(mlir::Operation *op, const MatchContext &context,
                 llvm::function_ref<bool(llvm::StringRef label, Match &match)> found);

  /// Fails with a diagnostic if an enabled pattern needs an argument that is missing in `args`.
  mlir::LogicalResult checkArgs(mlir::Location loc, mlir::DictionaryAttr args) const;

protected:
  friend class PatternRun;

  struct Entry {
    std::string label;
    std::unique_ptr<GraphPattern> pattern;
    unsigned benefit;
    bool enabled = true;
    PatternStatistics statistics;
  };

  const Entry *find(llvm::StringRef label) const;
  PatternIndex &getIndex();

  std::unique_ptr<NativeFunctions> functions;
  std::vector<Entry> entries; ///< In the order in which they are tried.
  std::unique_ptr<PatternIndex> index;
};

class RewritePatternManager : public PatternManager {
public:
  /// Applies the enabled patterns to the ops in `root` and returns the number of rewrites. Fails if a rewrite is
  /// refused or the rewriting does not terminate. It then emits a diagnostic that names the pattern and restores the
  /// graph.
  mlir::FailureOr<uint64_t> rewrite(mlir::Operation *root, const RewriteOptions &options = {});
};

} // namespace inlay

#endif // INLAY_REWRITE_REWRITEPATTERNMANAGER_H

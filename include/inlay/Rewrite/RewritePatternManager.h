// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns by label, and the runs that apply them to a graph. A run either succeeds or leaves the graph as it was.

#ifndef INLAY_REWRITE_REWRITEPATTERNMANAGER_H
#define INLAY_REWRITE_REWRITEPATTERNMANAGER_H

#include "inlay/Rewrite/PDLPattern.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace inlay {

enum class RewriteDriver {
  Fixpoint, ///< until no pattern matches, each op again only where something near it changed
  Sweep,    ///< each op once, in order
  Greedy,   ///< upstream's greedy driver, to compare with
};

class RuleChecker;

struct RewriteOptions {
  mlir::DictionaryAttr args; ///< seen by constraints and rewrites; may be null
  RewriteDriver driver = RewriteDriver::Fixpoint;
  int64_t limit = -1; ///< at most so many rewrites, to find the one that is wrong; none if negative
  bool removeDeadCode = true;
  bool acrossSegments = false;        ///< matches may reach out of an open segment
  double budget = 10;                 ///< more rewrites than this per op (and 1000) are taken for rewriting without end
  llvm::json::Array *trace = nullptr; ///< if there, gets an object for each rewrite
  RuleChecker *checker = nullptr;     ///< if there, each match must pass its check before it is rewritten
  /// Asked after each try, if there: a text that isn't empty ends the run with that error.
  std::function<std::string()> interrupted;
  /// As Journal::freeing, for the run.
  std::function<void(mlir::Operation *)> freeing;
};

/// What became of a pattern's tries.
struct PatternStatistics {
  uint64_t tried = 0;     ///< ops that it was tried on
  uint64_t matched = 0;   ///< matches that an analysis was given
  uint64_t rewritten = 0; ///< graphs that it changed
  uint64_t rejected = 0;  ///< matches whose rewrite failed and was undone
};

struct LabelledMatch {
  std::string label;
  Match match;
};

class PatternIndex;

/// Common to managers: patterns in the order in which they are tried, the highest benefit first, then the first added.
class PatternManager {
public:
  PatternManager();
  ~PatternManager();

  /// Functions that PDL patterns call by name; register them before the patterns that do.
  NativeFunctions &getFunctions() { return *functions; }

  /// Fails if there is a pattern of that label already. `benefit`, if given, takes the place of the pattern's own.
  llvm::Error add(llvm::StringRef label, std::unique_ptr<GraphPattern> pattern, std::optional<unsigned> benefit = {});

  /// Adds each pattern of a PDL text under its symbol name, after `prefix`; all of them or none.
  llvm::Error addPDL(llvm::StringRef text, llvm::StringRef textName, mlir::MLIRContext *context,
                     llvm::StringRef prefix = "");

  /// Null if there is none of that label.
  GraphPattern *get(llvm::StringRef label) const;
  bool remove(llvm::StringRef label);
  llvm::SmallVector<llvm::StringRef> getLabels() const; ///< in the order in which patterns are tried

  /// Turns patterns on or off whose label fits `glob` (`fuse_*`), and returns how many fit. Nothing is compiled anew.
  llvm::Expected<unsigned> setEnabled(llvm::StringRef glob, bool enabled);
  bool isEnabled(llvm::StringRef label) const;

  PatternStatistics getStatistics(llvm::StringRef label) const;

  /// All matches of all enabled patterns at the ops in `root`: op by op in their order, at one op the highest benefit
  /// first. Changes nothing. Fails, with a diagnostic, if a pattern asks for an argument that isn't given.
  mlir::FailureOr<std::vector<LabelledMatch>> analyze(mlir::Operation *root, mlir::DictionaryAttr args = {});

  /// The same one by one, until `found` returns false.
  mlir::LogicalResult analyze(mlir::Operation *root, mlir::DictionaryAttr args,
                              llvm::function_ref<bool(llvm::StringRef label, Match &match)> found);

  /// The same at one op alone; returns whether `found` wants more.
  bool analyzeAt(mlir::Operation *op, const MatchContext &context,
                 llvm::function_ref<bool(llvm::StringRef label, Match &match)> found);

  /// Fails, with a diagnostic, if an enabled pattern asks for an argument that isn't given.
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
  std::vector<Entry> entries; ///< in the order of trying
  std::unique_ptr<PatternIndex> index;
};

class RewritePatternManager : public PatternManager {
public:
  /// Applies the enabled patterns to what is in `root`, and returns how often one changed the graph. If that fails (a
  /// rewrite is refused, or rewriting doesn't end), there is a diagnostic that names the pattern, and the graph is as
  /// it was.
  mlir::FailureOr<uint64_t> rewrite(mlir::Operation *root, const RewriteOptions &options = {});
};

} // namespace inlay

#endif // INLAY_REWRITE_REWRITEPATTERNMANAGER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of a manager's patterns over a graph: the state that all drivers share, and the drivers.

#ifndef INLAY_LIB_REWRITE_DRIVER_DRIVERS_H
#define INLAY_LIB_REWRITE_DRIVER_DRIVERS_H

#include "PatternIndex.h"
#include "Rewrite/Graph/UserIndex.h"
#include "TerminationGuard.h"

#include "inlay/Rewrite/RewritePatternManager.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace inlay {

/// Properties of an op that depend only on its name.
struct RewriteOpInfo {
  const RootIndex *patterns = nullptr; ///< Null if no pattern is for such ops.
  bool mayBeDead = false;
  mlir::MemoryEffectOpInterface::Concept *effects = nullptr;
};

class PatternRun {
public:
  PatternRun(PatternManager &manager, mlir::Operation *root, const RewriteOptions &options);

  enum class Outcome {
    None,      ///< No pattern matched.
    Rewritten, ///< A pattern changed the graph. The journal contains the changes.
    Stopped,   ///< The run is over: an error was reported or the limit was reached.
  };

  const RewriteOpInfo &getFacts(mlir::Operation *op) {
    const void *name = op->getName().getAsOpaquePointer();
    Recent &recent = recents[llvm::DenseMapInfo<const void *>::getHashValue(name) % kRecents];
    if (LLVM_UNLIKELY(recent.name != name))
      recent = {name, findFacts(op->getName())};
    return recent.facts;
  }

  /// Tries the patterns for `op` in order until one changes the graph.
  Outcome tryPatterns(mlir::Operation *op);

  /// Erases `op` if it is dead, and then all ops that this makes dead. Returns true if `op` was erased.
  bool eraseIfDead(mlir::Operation *op);

  /// Counts one more visited op for the budget.
  void sawOp() { guard.sawOp(); }
  /// Announces that ops are visited again.
  void seesAgain() { guard.watch(); }

  /// Returns the number of rewrites. Fails after an error; all changes are then undone.
  mlir::FailureOr<uint64_t> finish();

  /// Reports `why` at `loc` and ends the run.
  void fail(mlir::Location loc, const llvm::Twine &why);

  bool isStopped() const { return stopped; }
  bool hasFailed() const { return hasError; }
  uint64_t getRewrites() const { return rewrites; }
  const RewriteOptions &getOptions() const { return options; }
  GraphRewriter &getRewriter() { return rewriter; }
  Journal &getJournal() { return rewriter.getJournal(); }
  /// Returns the mark before the last change of the graph.
  Journal::Mark getLastMark() const { return lastMark; }

  /// Returns the number of levels of users that a change can affect. Patterns in classes do not count, because nothing
  /// is known of the ops that they read.
  unsigned getReach() const { return reach; }
  bool hasOpaquePatterns() const { return opaque; }

private:
  bool tryPattern(unsigned number, mlir::Operation *op);
  /// Returns true if there was a match to check. A match that does not pass its check ends the run.
  bool checkMatch(const PatternManager::Entry &entry, mlir::Operation *op, const MatchContext &context);
  void noteGivenUp(unsigned number, mlir::Location loc);
  void eraseDeadSince(Journal::Mark mark);
  bool isDead(mlir::Operation *op);
  RewriteOpInfo findFacts(mlir::OperationName name);

  PatternManager &manager;
  mlir::Operation *root;
  const RewriteOptions &options;
  PatternIndex &index;
  GraphRewriter rewriter;
  TerminationGuard guard;
  UserIndex users;
  llvm::DenseMap<mlir::OperationName, RewriteOpInfo> facts;
  /// A cache of the last requested op properties, indexed by a hash of the name. Each visited op requests them.
  struct Recent {
    const void *name = nullptr;
    RewriteOpInfo facts;
  };
  static constexpr unsigned kRecents = 64;
  Recent recents[kRecents];
  /// Effects of the op that isDead looks at; a member to save allocations.
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance, 4> effects;
  uint64_t rewrites = 0;
  Journal::Mark lastMark = 0;
  unsigned reach = 0;
  /// Number of times that matching a pattern may be given up before the run drops the pattern.
  static constexpr unsigned kMaxGivenUp = 16;
  llvm::SmallDenseMap<unsigned, unsigned, 2> givenUp;
  bool opaque = false, stopped = false, hasError = false;
};

mlir::FailureOr<uint64_t> driveFixpoint(PatternRun &run, mlir::Operation *root);
mlir::FailureOr<uint64_t> driveSweep(PatternRun &run, mlir::Operation *root);
mlir::FailureOr<uint64_t> driveGreedy(PatternRun &run, mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_DRIVERS_H

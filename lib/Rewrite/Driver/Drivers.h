// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of a manager's patterns over a graph: what all drivers share, and the drivers.

#ifndef INLAY_LIB_REWRITE_DRIVER_DRIVERS_H
#define INLAY_LIB_REWRITE_DRIVER_DRIVERS_H

#include "PatternIndex.h"
#include "Rewrite/Graph/UserIndex.h"
#include "TerminationGuard.h"

#include "inlay/Rewrite/RewritePatternManager.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace inlay {

/// What a run asks of each op, and what its name alone says.
struct RewriteOpInfo {
  const RootIndex *patterns = nullptr; ///< null if there are none for it
  bool mayBeDead = false;
  mlir::MemoryEffectOpInterface::Concept *effects = nullptr;
};

class PatternRun {
public:
  PatternRun(PatternManager &manager, mlir::Operation *root, const RewriteOptions &options);

  enum class Outcome {
    None,      ///< no pattern matched
    Rewritten, ///< one changed the graph: the journal says how
    Stopped,   ///< the run is over: an error was reported, or the limit is reached
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

  /// Erases `op` if nothing needs it, with what is then needed no more, and returns whether it did.
  bool eraseIfDead(mlir::Operation *op);

  /// Says that another op was looked at, for the budget.
  void sawOp() { guard.sawOp(); }
  /// Says that ops are looked at which were before.
  void seesAgain() { guard.watch(); }

  /// The number of rewrites, if the run went well; else everything is undone.
  mlir::FailureOr<uint64_t> finish();

  /// Reports `why` at `loc` and ends the run.
  void fail(mlir::Location loc, const llvm::Twine &why);

  bool isStopped() const { return stopped; }
  bool hasFailed() const { return hasError; }
  uint64_t getRewrites() const { return rewrites; }
  const RewriteOptions &getOptions() const { return options; }
  GraphRewriter &getRewriter() { return rewriter; }
  Journal &getJournal() { return rewriter.getJournal(); }
  Journal::Mark getLastMark() const { return lastMark; } ///< before the last change of the graph

  /// Ops over which a change may be felt above it; what patterns in classes look at isn't known.
  unsigned getReach() const { return reach; }
  bool hasOpaquePatterns() const { return opaque; }

private:
  bool tryPattern(unsigned number, mlir::Operation *op);
  /// Whether there was a match to check. One that doesn't pass ends the run.
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
  /// Facts that were asked for last, by hash: each op is asked for them.
  struct Recent {
    const void *name = nullptr;
    RewriteOpInfo facts;
  };
  static constexpr unsigned kRecents = 64;
  Recent recents[kRecents];
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance, 4> effects; ///< of the op that is asked for them
  uint64_t rewrites = 0;
  Journal::Mark lastMark = 0;
  unsigned reach = 0;
  static constexpr unsigned kMaxGivenUp = 16; ///< tries of a pattern; then it is left out
  llvm::SmallDenseMap<unsigned, unsigned, 2> givenUp;
  bool opaque = false, stopped = false, hasError = false;
};

mlir::FailureOr<uint64_t> driveFixpoint(PatternRun &run, mlir::Operation *root);
mlir::FailureOr<uint64_t> driveSweep(PatternRun &run, mlir::Operation *root);
mlir::FailureOr<uint64_t> driveGreedy(PatternRun &run, mlir::Operation *root);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_DRIVERS_H

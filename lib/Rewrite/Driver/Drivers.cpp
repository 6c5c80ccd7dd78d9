// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixpoint and sweep drivers. The fixpoint driver walks through the graph once. Users come after the ops that they
// use, so after a change only two kinds of ops must be visited again: the ops that the change made, and affected ops
// that the walk has already passed. It is unknown which ops patterns in classes read, so with such patterns the driver
// repeats whole sweeps until nothing changes.

#include "Drivers.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace inlay;

namespace {
class Stream {
public:
  Stream(PatternRun &run, bool fixpoint) : run(run), fixpoint(fixpoint) {
    run.getJournal().leaving = [this](Operation *op) {
      for (Operation *&next : nexts)
        if (next == op)
          next = op->getNextNode();
    };
  }
  ~Stream() { run.getJournal().leaving = nullptr; }

  FailureOr<uint64_t> drive(Operation *root) {
    uint64_t before;
    for (;;) {
      before = run.getRewrites();
      sweepAgain = false;
      visitRegions(root);
      if (!fixpoint || run.isStopped() || run.getRewrites() == before || !(sweepAgain || run.hasOpaquePatterns()))
        return run.finish();
      run.seesAgain();
    }
  }

private:
  void visitRegions(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        // In a region of several blocks, users may come before the ops that they use.
        sweepAgain |= !region.hasOneBlock();
        nexts.push_back(block.empty() ? nullptr : &block.front());
        while (Operation *current = nexts.back()) {
          nexts.back() = current->getNextNode();
          if (nexts.back())
            prefetch(nexts.back());
          __builtin_prefetch(current->getLoc().getAsOpaquePointer()); // A rewrite at this op will fuse this location.
          visit(current);
          if (run.isStopped())
            return;
        }
        nexts.pop_back();
      }
  }

  /// Prefetches the memory that a visit reads: the op, its results in front of it, and its first operands behind it.
  static void prefetch(Operation *op) {
    constexpr int kLine = 64, kResult = 16;
    for (int line = 0; line <= 2; ++line)
      __builtin_prefetch(reinterpret_cast<const char *>(op) - kResult + line * kLine);
  }

  void visit(Operation *op) {
    run.sawOp();
    if (!isUnused(op) && !run.getFacts(op).patterns) {
      if (op->getNumRegions() != 0)
        visitRegions(op);
      return;
    }
    SmallVector<Operation *, 8> todo;
    if (run.eraseIfDead(op)) {
      if (fixpoint)
        addChanged(todo, /*passed=*/true);
      rewriteFrom(op, todo);
      return;
    }
    todo.push_back(op);
    if (fixpoint)
      rewriteFrom(op, todo);
    else
      run.tryPatterns(op);
    if (!run.isStopped() && !run.getJournal().isErased(op) && op->getNumRegions() != 0)
      visitRegions(op);
  }

  /// Rewrites at the ops in `todo` and at the ops that this makes, until nothing matches there. The walk is at `op`.
  void rewriteFrom(Operation *op, SmallVectorImpl<Operation *> &todo) {
    while (!todo.empty() && !run.isStopped()) {
      Operation *current = todo.pop_back_val();
      if (run.getJournal().isErased(current) || run.tryPatterns(current) != PatternRun::Outcome::Rewritten)
        continue;
      if (!run.getJournal().isErased(current))
        todo.push_back(current);
      addChanged(todo, /*passed=*/current != op);
    }
  }

  /// Adds the ops at which a rewrite may have enabled a match: the ops that it made, the single remaining users of
  /// values, and, if the walk has `passed` the place, the users of both.
  void addChanged(SmallVectorImpl<Operation *> &todo, bool passed) {
    Journal &journal = run.getJournal();
    Journal::Changes changes = journal.since(run.getLastMark());
    SmallVector<Operation *, 4> made;
    for (const Journal::Entry &entry : changes)
      if (entry.isMade() && !journal.isErased(entry.getOp()) && !llvm::is_contained(made, entry.getOp()))
        made.push_back(entry.getOp());
    SmallVector<Operation *, 8> above;
    for (const Journal::Entry &entry : changes)
      Journal::forEachReleased(entry, [&](Value value) {
        Operation *producer = value.hasOneUse() ? value.getDefiningOp() : nullptr;
        if (producer && !journal.isErased(producer) && !llvm::is_contained(made, *value.user_begin()))
          above.push_back(*value.user_begin());
      });
    unsigned levels = run.getReach();
    addWithUsers(above, levels, todo);
    if (passed)
      addWithUsers(made, levels, todo);
    else
      llvm::append_range(todo, made);
  }

  /// Adds `ops` and their users over `levels` levels. Values with very many users are not followed, because a sweep is
  /// cheaper.
  void addWithUsers(ArrayRef<Operation *> ops, unsigned levels, SmallVectorImpl<Operation *> &todo) {
    if (ops.empty())
      return;
    constexpr unsigned kMany = 64;
    llvm::SmallPtrSet<Operation *, 16> seen(ops.begin(), ops.end());
    SmallVector<Operation *, 16> level(ops), next;
    for (unsigned i = 0;; ++i) {
      llvm::append_range(todo, level);
      if (i == levels || level.empty())
        return;
      next.clear();
      for (Operation *op : level)
        for (Value result : op->getResults()) {
          unsigned count = 0;
          for (Operation *user : result.getUsers()) {
            if (++count > kMany) {
              sweepAgain = true;
              break;
            }
            if (seen.insert(user).second)
              next.push_back(user);
          }
        }
      level = next;
    }
  }

  PatternRun &run;
  bool fixpoint;
  bool sweepAgain = false;
  SmallVector<Operation *, 4> nexts; ///< Next op to visit, one entry per nested region.
};
} // namespace

FailureOr<uint64_t> inlay::driveFixpoint(PatternRun &run, Operation *root) {
  return Stream(run, /*fixpoint=*/true).drive(root);
}

FailureOr<uint64_t> inlay::driveSweep(PatternRun &run, Operation *root) {
  return Stream(run, /*fixpoint=*/false).drive(root);
}

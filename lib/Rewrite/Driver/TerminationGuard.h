// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects rewriting that does not terminate. Each op that a rewrite makes descends from the root of that rewrite. If
// the graph looks the same twice along a long line of descent, the rewrites form a cycle. Rules that let a graph grow
// forever never repeat a state. They are stopped by a budget: `RewriteOptions::budget` rewrites per visited op, plus
// `kFree`. Tracking takes time, so it starts only when one of three things happens: the number of rewrites exceeds the
// number of visited ops by more than `kLongDescent`, fewer than `kLast` rewrites are left in the budget, or `watch` is
// called.

#ifndef INLAY_LIB_REWRITE_DRIVER_TERMINATIONGUARD_H
#define INLAY_LIB_REWRITE_DRIVER_TERMINATIONGUARD_H

#include "inlay/Rewrite/Journal.h"

#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace inlay {

class TerminationGuard {
public:
  explicit TerminationGuard(double budget) : budget(budget) {}

  void sawOp() { ++seen; }

  /// Starts to track descent. Call this when ops are visited again: the number of visits is then no measure of the
  /// size of the graph.
  void watch() { watching = true; }

  /// Records a rewrite by pattern number `pattern` at `root`, whose changes are `changes`. Returns true if the rewrites
  /// form a cycle; `cyclingPatterns` then contains the numbers of its patterns in order.
  bool note(unsigned pattern, mlir::Operation *root, const Journal::Changes &changes,
            llvm::SmallVectorImpl<unsigned> &cyclingPatterns);

  bool isSpent() const { return count > budget * static_cast<double>(seen) + kFree; }
  uint64_t getSeen() const { return seen; }

  /// Returns the patterns of the last rewrites, most frequent first.
  llvm::SmallVector<unsigned> getLastPatterns() const;

private:
  static constexpr unsigned kFree = 1000;      ///< Rewrites allowed in addition to the budget.
  static constexpr unsigned kLast = 256;       ///< Number of last rewrites whose patterns are reported.
  static constexpr unsigned kLongDescent = 64; ///< States are compared from this depth on.
  static constexpr unsigned kMaxCompared = 32;
  static constexpr unsigned kHashDepth = 6;

  struct RewriteRecord {
    unsigned pattern;
    int parent; ///< Rewrite that made this one's root; -1 for none.
    unsigned depth;
    uint64_t state; ///< Hash of the op that it made; 0 if not computed.
  };

  uint64_t hash(mlir::Operation *op, unsigned depth) const;

  double budget;
  uint64_t seen = 0;
  double count = 0; ///< Number of all rewrites.
  bool watching = false;
  std::vector<RewriteRecord> rewrites; ///< Tracked rewrites.
  llvm::DenseMap<mlir::Operation *, int> maker;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_TERMINATIONGUARD_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notices rewriting that doesn't end. Each op that a rewrite makes descends from the op that the rewrite started at; a
// long line of descent in which the graph looks the same twice is a cycle. Rules that make a graph grow for ever never
// repeat: a budget linear in the ops that were seen ends them. Descent is watched from where there are more rewrites
// than ops: what each op is rewritten by once or twice needs no watching.

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

  /// From here on ops may be seen again, and their number says nothing.
  void watch() { watching = true; }

  /// Takes note of a rewrite by the pattern of that number at `root`, and of what the journal says it did. Returns the
  /// numbers of the patterns that undo each other, in order, if they do; then `why` says so.
  bool note(unsigned pattern, mlir::Operation *root, const Journal::Changes &changes,
            llvm::SmallVectorImpl<unsigned> &cyclingPatterns);

  bool isSpent() const { return count > budget * static_cast<double>(seen) + kFree; }
  uint64_t getSeen() const { return seen; }

  /// The patterns of the last rewrites, the most frequent first.
  llvm::SmallVector<unsigned> getLastPatterns() const;

private:
  static constexpr unsigned kFree = 1000;      ///< rewrites beside the budget
  static constexpr unsigned kLast = 256;       ///< rewrites that the patterns of a spent budget are taken from
  static constexpr unsigned kLongDescent = 64; ///< from here on, states are compared
  static constexpr unsigned kMaxCompared = 32;
  static constexpr unsigned kHashDepth = 6;

  struct Rewrite {
    unsigned pattern;
    int parent; ///< the rewrite that made its root; -1 for none
    unsigned depth;
    uint64_t state; ///< of what it made; 0 if not compared
  };

  uint64_t hash(mlir::Operation *op, unsigned depth) const;

  double budget;
  uint64_t seen = 0;
  double count = 0; ///< of all rewrites
  bool watching = false;
  std::vector<Rewrite> rewrites; ///< those that were watched
  llvm::DenseMap<mlir::Operation *, int> maker;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_DRIVER_TERMINATIONGUARD_H

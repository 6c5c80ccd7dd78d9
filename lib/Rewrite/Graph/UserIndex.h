// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The users of a value by name, for values of many users: a pattern that looks for a second op among the users of a
// shared value would otherwise read all of them once per op that it starts at.

#ifndef INLAY_LIB_REWRITE_GRAPH_USERINDEX_H
#define INLAY_LIB_REWRITE_GRAPH_USERINDEX_H

#include "inlay/Rewrite/Journal.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

class UserIndex {
public:
  static constexpr unsigned kMany = 16;

  struct Users {
    std::vector<std::pair<mlir::Operation *, unsigned>> uses; ///< user and operand number
    size_t first = 0;                                         ///< uses before it are gone
  };

  /// The uses of `value` by ops called `name` (an opaque OperationName); some may be gone since. Null if `value` has
  /// few users, which are read directly.
  Users *get(mlir::Value value, const void *name);

  /// Forgets what `changes` may have made wrong.
  void update(const Journal::Changes &changes) {
    if (!index.empty())
      forget(changes);
  }

private:
  void forget(const Journal::Changes &changes);

  llvm::DenseMap<std::pair<mlir::Value, const void *>, Users> index;
  llvm::DenseSet<const void *> names;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_GRAPH_USERINDEX_H

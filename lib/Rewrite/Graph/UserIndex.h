// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index of the users of a value by op name, for values with many users. Without it, a pattern that looks for another
// op among the users of a shared value would read all of them again for each root.

#ifndef INLAY_LIB_REWRITE_GRAPH_USERINDEX_H
#define INLAY_LIB_REWRITE_GRAPH_USERINDEX_H

#include "inlay/Rewrite/Journal.h"

#include "llvm/ADT/DenseMap.h"

namespace inlay {

class UserIndex {
public:
  static constexpr unsigned kMany = 16;

  struct Users {
    std::vector<std::pair<mlir::Operation *, unsigned>> uses; ///< User and operand number.
    size_t first = 0;                                         ///< Uses before this index are gone.
  };

  /// Returns the uses of `value` by ops called `name` (an opaque OperationName). Some of them may be gone by now.
  /// Returns null if `value` has few users; read these directly.
  Users *get(mlir::Value value, const void *name);

  /// Drops the entries that `changes` may have made stale.
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

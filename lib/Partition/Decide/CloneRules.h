// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that may be cloned into segments that need their results, so that the results cross no border. An op is
// cloned only if this takes little work: the number of ops cloned along with it is bounded for any graph.

#ifndef INLAY_LIB_PARTITION_DECIDE_CLONERULES_H
#define INLAY_LIB_PARTITION_DECIDE_CLONERULES_H

#include "Decisions.h"

namespace inlay {

enum class ClonePolicy : uint8_t {
  Never,
  ToAccelerators, ///< Makes a list or tuple that no op changes. Users on other targets share the original.
  /// Changes the layout of a constant, or makes or changes a list of `DependencyGraph::ChangedList`. Each segment has a
  /// clone.
  Everywhere,
};

struct CloneRules {
  CloneRules(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions);

  bool isCloned(unsigned op) const { return policies[op] != ClonePolicy::Never; }

  std::vector<ClonePolicy> policies;
  /// The targets that can run the op and all ops cloned along with it.
  std::vector<TargetSet> runners;
  /// The ops that need a clone where they cannot read the original: users of results that may not cross a border, and
  /// all users of ops that are cloned everywhere.
  std::vector<llvm::SmallVector<unsigned, 0>> users;

  /// Decides that the op is not cloned.
  void drop(const DependencyGraph &graph, unsigned op);

private:
  ClonePolicy judge(const DependencyGraph &graph, const Decisions &decisions, unsigned op);
  void findUsers(const DependencyGraph &graph);
  void limitWork(const DependencyGraph &graph);
  void keepListsWhole(const DependencyGraph &graph, TargetSet shared);
  void dropReadersOfOriginals(const DependencyGraph &graph);

  std::vector<unsigned> cost; ///< Cost of a clone, including all ops cloned along with it.
};

/// Returns, for each op, true if it reads only constants, transitively.
std::vector<bool> findConstantOnly(const DependencyGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_CLONERULES_H

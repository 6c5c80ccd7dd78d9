// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops may be copied into segments that need their results, so that these cross no border. An op is only copied
// where that is little work: what is copied along with it is bounded, whatever the graph.

#ifndef INLAY_LIB_PARTITION_DECIDE_CLONERULES_H
#define INLAY_LIB_PARTITION_DECIDE_CLONERULES_H

#include "Decisions.h"

namespace inlay {

enum class ClonePolicy : uint8_t {
  Never,
  ToAccelerators, ///< makes a list or tuple that nobody changes: those who are on no accelerator may share it
  Everywhere, ///< shapes a weight, or makes or changes a list of the graph's `ChangedList`s: each segment has its own
};

struct CloneRules {
  CloneRules(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions);

  bool isCloned(unsigned op) const { return policies[op] != ClonePolicy::Never; }

  std::vector<ClonePolicy> policies;
  /// The targets that can run the op and all that is copied along with it.
  std::vector<TargetSet> runners;
  /// Who needs a copy where it can't read the original: users of results that may not cross a border, and every user of
  /// what is copied everywhere.
  std::vector<llvm::SmallVector<unsigned, 0>> users;

  /// The op is not copied after all.
  void drop(const DependencyGraph &graph, unsigned op);

private:
  ClonePolicy judge(const DependencyGraph &graph, const Decisions &decisions, unsigned op);
  void findUsers(const DependencyGraph &graph);
  void limitWork(const DependencyGraph &graph);
  void keepListsWhole(const DependencyGraph &graph, TargetSet shared);
  void dropReadersOfOriginals(const DependencyGraph &graph);

  std::vector<unsigned> cost; ///< of a copy, with all that is copied along
};

/// True for each op that reads nothing but constants, transitively.
std::vector<bool> findConstantOnly(const DependencyGraph &graph);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_CLONERULES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colocation groups: ops that must share a segment because values that may not leave an accelerator pass between them.
// An op that may be cloned joins its users if they are one group. Otherwise it floats, like the floating nodes of a sea
// of nodes: its users depend on the ops that it reads, and it is placed with one of them once their segments are known.

#ifndef INLAY_LIB_PARTITION_FORM_COLOCATIONGROUPS_H
#define INLAY_LIB_PARTITION_FORM_COLOCATIONGROUPS_H

#include "Partition/Decide/CloneRules.h"

#include "llvm/ADT/IntEqClasses.h"

namespace inlay {

class ColocationGroups {
public:
  ColocationGroups(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions);

  unsigned size() const { return static_cast<unsigned>(members.size()); }
  /// Returns the group of an op that does not float.
  unsigned getGroup(unsigned op) const { return group[op]; }
  llvm::ArrayRef<unsigned> getMembers(unsigned number) const { return members[number]; }
  /// Returns true if the op is in no group and is placed with its users.
  bool floats(unsigned op) const { return floating[op]; }
  /// Returns the ops that may be cloned into the segments of users that cannot read the original, and these users.
  const CloneRules &getCloneRules() const { return rules; }

  /// Returns the groups that must run before a group, each once.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned number) const { return predecessors[number]; }
  size_t getEdgeCount() const { return predecessors.itemCount(); }

  /// Computes a topological order of the groups in `result`. Ties are broken by the last member. Returns false if there
  /// are cycles. `onCycles` then holds groups that must be split to break them.
  bool order(llvm::SmallVectorImpl<unsigned> &result, llvm::SmallVectorImpl<unsigned> &onCycles) const;

private:
  void dropUselessClones(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);
  void formGroups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);
  bool mayBeIsolated(const DependencyGraph &graph, unsigned op, unsigned user) const;
  bool mayJoinUsers(const DependencyGraph &graph, const Decisions &decisions, unsigned op) const;
  bool isOrdered() const;
  void numberGroups(llvm::IntEqClasses &classes);
  void findCycles(llvm::ArrayRef<unsigned> missing, llvm::SmallVectorImpl<unsigned> &result) const;
  void addPredecessors(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);

  CloneRules rules;
  std::vector<bool> floating;
  std::vector<unsigned> group;
  CompactLists<unsigned> members, predecessors;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_COLOCATIONGROUPS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that must share a segment: those that pass each other what may not leave an accelerator. An op that may be copied
// joins its users if they are one group, else it floats: its users depend on what it reads, and it is placed with one
// of them once their segments are known.

#ifndef INLAY_LIB_PARTITION_FORM_COLOCATIONGROUPS_H
#define INLAY_LIB_PARTITION_FORM_COLOCATIONGROUPS_H

#include "Partition/Decide/CloneRules.h"

#include "llvm/ADT/IntEqClasses.h"

namespace inlay {

class ColocationGroups {
public:
  ColocationGroups(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions);

  unsigned size() const { return static_cast<unsigned>(members.size()); }
  /// The group of an op that doesn't float.
  unsigned getGroup(unsigned op) const { return group[op]; }
  llvm::ArrayRef<unsigned> getMembers(unsigned number) const { return members[number]; }
  /// Floats: in no group, and placed with its users.
  bool floats(unsigned op) const { return floating[op]; }
  /// Which ops may be copied into the segments of users that can't read the original, and who these are.
  const CloneRules &getCloneRules() const { return rules; }

  /// ColocationGroups that must run before a group, each once.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned number) const { return predecessors[number]; }
  size_t getEdgeCount() const { return predecessors.itemCount(); }

  /// A topological order of the groups, by the last member where it is free; or groups without which there is one.
  bool order(llvm::SmallVectorImpl<unsigned> &result) const;

private:
  void copyOnlyWhereOfUse(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);
  void formGroups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);
  bool mayBeAlone(const DependencyGraph &graph, unsigned op, unsigned user) const;
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

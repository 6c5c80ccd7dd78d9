// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that must share a segment: those that pass each other what may not leave an accelerator. An op that may be copied
// joins its users if they are one group, else it floats: its users depend on what it reads.

#ifndef INLAY_PARTITION_GROUPS_H
#define INLAY_PARTITION_GROUPS_H

#include "inlay/Partition/NonTensors.h"

#include "llvm/ADT/IntEqClasses.h"

namespace inlay {

class Groups {
public:
  Groups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);

  unsigned size() const { return static_cast<unsigned>(members.size()); }
  /// The group of an op that doesn't float.
  unsigned getGroup(unsigned op) const { return group[op]; }
  llvm::ArrayRef<unsigned> getMembers(unsigned number) const { return members[number]; }
  /// Floats: in no group, and placed with its users.
  bool floats(unsigned op) const { return floating[op]; }
  /// May be copied into the segments of users that can't read the original.
  bool isClonable(unsigned op) const { return clonable[op]; }
  llvm::ArrayRef<unsigned> getBoundUsers(unsigned op) const { return users[op]; }

  /// Groups that must run before a group, each once.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned number) const { return predecessors[number]; }

  /// A topological order of the groups, by the last member where it is free; or the groups of a cycle.
  bool order(llvm::SmallVectorImpl<unsigned> &result) const;

private:
  void formGroups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);
  void addPredecessors(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions);

  std::vector<bool> clonable, floating;
  std::vector<llvm::SmallVector<unsigned, 2>> users;
  std::vector<unsigned> group;
  std::vector<llvm::SmallVector<unsigned, 1>> members;
  std::vector<llvm::SmallVector<unsigned, 3>> predecessors;
};

} // namespace inlay

#endif // INLAY_PARTITION_GROUPS_H

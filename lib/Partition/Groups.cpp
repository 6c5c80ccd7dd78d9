// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Groups.h"

#include <queue>

using namespace mlir;
using namespace inlay;

Groups::Groups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions)
    : clonable(findClonable(graph, decisions)), floating(graph.size()), users(findBoundUsers(graph)) {
  formGroups(graph, targets, decisions);
  addPredecessors(graph, targets, decisions);
}

void Groups::formGroups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions) {
  llvm::IntEqClasses classes(graph.size());
  auto onAccelerator = [&](unsigned op) { return targets.isAccelerator(decisions[op].target); };
  for (unsigned op = graph.size(); op-- > 0;) {
    if (!clonable[op]) {
      for (unsigned user : users[op])
        if (onAccelerator(op) && onAccelerator(user))
          classes.join(op, user);
      continue;
    }
    if (llvm::none_of(users[op], [&](unsigned user) { return onAccelerator(user) || floating[user]; }) ||
        graph.isUsedByTerminator(op))
      continue; // stays where it is; accelerators have copies
    unsigned leader = classes.findLeader(users[op].front());
    if (llvm::all_of(users[op], [&](unsigned user) { return !floating[user] && classes.findLeader(user) == leader; }))
      classes.join(op, leader);
    else
      floating[op] = true;
  }
  classes.compress();
  std::vector<int> renumbered(classes.getNumClasses(), -1);
  group.resize(graph.size());
  for (unsigned op = 0; op < graph.size(); ++op) {
    if (floating[op])
      continue;
    int &number = renumbered[classes[op]];
    if (number < 0) {
      number = static_cast<int>(members.size());
      members.emplace_back();
    }
    group[op] = static_cast<unsigned>(number);
    members[number].push_back(op);
  }
}

void Groups::addPredecessors(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions) {
  predecessors.resize(members.size());
  SmallVector<unsigned> pending;
  for (unsigned op = 0; op < graph.size(); ++op) {
    if (floating[op])
      continue;
    bool copies = targets.isAccelerator(decisions[op].target);
    llvm::append_range(pending, graph.getPredecessors(op));
    while (!pending.empty()) {
      unsigned before = pending.pop_back_val();
      bool isRead = llvm::is_contained(users[before], op) || floating[before];
      bool isCopied = clonable[before] && isRead && (floating[before] || (copies && group[before] != group[op]));
      if (isCopied)
        llvm::append_range(pending, graph.getPredecessors(before));
      else if (group[before] != group[op])
        predecessors[group[op]].push_back(group[before]);
    }
  }
  for (auto &list : predecessors) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }
}

bool Groups::order(SmallVectorImpl<unsigned> &result) const {
  std::vector<unsigned> missing(size());
  std::vector<SmallVector<unsigned, 3>> successors(size());
  using Entry = std::pair<unsigned, unsigned>; // last member, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  for (unsigned number = 0; number < size(); ++number) {
    missing[number] = static_cast<unsigned>(predecessors[number].size());
    for (unsigned before : predecessors[number])
      successors[before].push_back(number);
    if (!missing[number])
      ready.push({members[number].back(), number});
  }
  while (!ready.empty()) {
    unsigned number = ready.top().second;
    ready.pop();
    result.push_back(number);
    for (unsigned after : successors[number])
      if (--missing[after] == 0)
        ready.push({members[after].back(), after});
  }
  if (result.size() == size())
    return true;
  result.clear();
  // Every group that is left has a predecessor that is left: walking back ends in a cycle.
  std::vector<unsigned> seenAt(size());
  SmallVector<unsigned> path;
  unsigned number =
      static_cast<unsigned>(llvm::find_if(missing, [](unsigned count) { return count > 0; }) - missing.begin());
  while (!seenAt[number]) {
    path.push_back(number);
    seenAt[number] = static_cast<unsigned>(path.size());
    number = *llvm::find_if(predecessors[number], [&](unsigned before) { return missing[before] > 0; });
  }
  result.append(path.begin() + (seenAt[number] - 1), path.end());
  return false;
}

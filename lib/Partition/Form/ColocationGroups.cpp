// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms groups of ops that must share a segment, numbers them and finds cycles between them. SegmentPlan.cpp breaks
// these cycles and schedules the groups.

#include "ColocationGroups.h"

#include <queue>

using namespace mlir;
using namespace inlay;

ColocationGroups::ColocationGroups(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions)
    : rules(graph, targets, decisions), floating(graph.size()) {
  dropUselessClones(graph, targets, decisions);
  formGroups(graph, targets, decisions);
  addPredecessors(graph, targets, decisions);
}

/// Drops ops that are cloned everywhere without need. Layout changes of a constant are only cloned if all targets that
/// read them can run them. Lists are only cloned if an op on an accelerator reads or changes them.
void ColocationGroups::dropUselessClones(const DependencyGraph &graph, const TargetList &targets,
                                         const Decisions &decisions) {
  std::vector<TargetSet> needed(graph.size()); // Targets of the ops that read a clone.
  std::vector<bool> hasHome(graph.size());     // True if the segment of some reader may hold the original.
  for (unsigned op = graph.size(); op-- > 0;) {
    if (rules.policies[op] != ClonePolicy::Everywhere || graph.getFacts(op).makesNonTensor)
      continue;
    if (rules.users[op].empty() || graph.isUsedByTerminator(op)) { // The op stays where it is.
      needed[op] = TargetSet(1) << decisions[op].target;
      hasHome[op] = true;
    }
    for (unsigned user : rules.users[op]) {
      bool isCloned = rules.policies[user] == ClonePolicy::Everywhere;
      bool mayBeIsolated = graph.getFacts(user).isControlFlow;
      needed[op] |= isCloned ? needed[user] : TargetSet(1) << decisions[user].target;
      needed[op] |= mayBeIsolated ? TargetSet(1) << targets.getControlFlowTarget() : 0;
      hasHome[op] = hasHome[op] || (isCloned ? hasHome[user] : !mayBeIsolated);
    }
    if (needed[op] & ~rules.runners[op] || !hasHome[op])
      rules.drop(graph, op);
  }
  for (const DependencyGraph::ChangedList &list : graph.getChangedLists()) {
    auto isAccelerated = [&](unsigned op) {
      return targets.isAccelerator(decisions[op].target) || llvm::any_of(rules.users[op], [&](unsigned user) {
               return targets.isAccelerator(decisions[user].target);
             });
    };
    if (isAccelerated(list.maker) || llvm::any_of(list.changes, isAccelerated))
      continue;
    rules.drop(graph, list.maker);
    for (unsigned op : list.changes)
      rules.drop(graph, op);
  }
}

/// Returns true if `user` may be isolated: its segment may then hold a clone of `op`, but not `op`.
bool ColocationGroups::mayBeIsolated(const DependencyGraph &graph, unsigned op, unsigned user) const {
  return graph.getFacts(user).isIsolated ||
         (rules.policies[op] == ClonePolicy::Everywhere && graph.getFacts(user).isControlFlow);
}

/// Returns true if the op can permanently be in the group of its users: they are in one group and on its target.
bool ColocationGroups::mayJoinUsers(const DependencyGraph &graph, const Decisions &decisions, unsigned op) const {
  return llvm::all_of(rules.users[op], [&](unsigned user) {
    return !floating[user] && decisions[user].target == decisions[op].target && !mayBeIsolated(graph, op, user);
  });
}

void ColocationGroups::formGroups(const DependencyGraph &graph, const TargetList &targets, const Decisions &decisions) {
  llvm::IntEqClasses classes(graph.size());
  auto onAccelerator = [&](unsigned op) { return targets.isAccelerator(decisions[op].target); };
  for (unsigned op = graph.size(); op-- > 0;) {
    ArrayRef<unsigned> users = rules.users[op];
    if (!rules.isCloned(op)) {
      for (unsigned user : users)
        if (onAccelerator(op) && onAccelerator(user))
          classes.join(op, user);
      continue;
    }
    bool isNeeded = rules.policies[op] == ClonePolicy::Everywhere ||
                    llvm::any_of(users, [&](unsigned user) { return onAccelerator(user) || floating[user]; });
    bool hasRoom =
        llvm::any_of(users, [&](unsigned user) { return floating[user] || !mayBeIsolated(graph, op, user); });
    if (!hasRoom || !isNeeded || graph.isUsedByTerminator(op))
      continue; // The op stays where it is. Users elsewhere have clones.
    unsigned leader = classes.findLeader(users.front());
    bool isOneGroup = llvm::all_of(users, [&](unsigned user) { return classes.findLeader(user) == leader; });
    if (isOneGroup && mayJoinUsers(graph, decisions, op))
      classes.join(op, leader);
    else
      floating[op] = true;
  }
  numberGroups(classes);
}

void ColocationGroups::numberGroups(llvm::IntEqClasses &classes) {
  classes.compress();
  std::vector<int> renumbered(classes.getNumClasses(), -1);
  std::vector<std::pair<unsigned, unsigned>> pairs;
  pairs.reserve(floating.size());
  unsigned count = 0;
  group.resize(floating.size());
  for (unsigned op = 0; op < group.size(); ++op) {
    if (floating[op])
      continue;
    int &number = renumbered[classes[op]];
    if (number < 0)
      number = static_cast<int>(count++);
    group[op] = static_cast<unsigned>(number);
    pairs.emplace_back(number, op);
  }
  members = CompactLists<unsigned>::group(count, pairs);
}

void ColocationGroups::addPredecessors(const DependencyGraph &graph, const TargetList &targets,
                                       const Decisions &decisions) {
  std::vector<std::pair<unsigned, unsigned>> pairs; // Pairs of a group and one before it.
  pairs.reserve(graph.getEdgeCount());
  SmallVector<unsigned> pending;
  for (unsigned op = 0; op < graph.size(); ++op) {
    if (floating[op])
      continue;
    bool onAccelerator = targets.isAccelerator(decisions[op].target);
    llvm::append_range(pending, graph.getPredecessors(op));
    while (!pending.empty()) {
      unsigned before = pending.pop_back_val();
      // A cloned op only has effects on its result, so every op that must run after it reads this result.
      bool readsClone = floating[before] || (rules.isCloned(before) && group[before] != group[op] &&
                                             (onAccelerator || rules.policies[before] == ClonePolicy::Everywhere));
      if (readsClone)
        llvm::append_range(pending, graph.getPredecessors(before));
      else if (group[before] != group[op])
        pairs.emplace_back(group[op], group[before]);
    }
  }
  for (const DependencyGraph::ChangedList &list : graph.getChangedLists()) {
    // The last change of a cloned list stays behind the earlier readers of the list if no op reads it.
    unsigned last = list.changes.back();
    bool isIdle = rules.users[last].empty();
    for (auto [reader, change] : list.readersBefore) {
      bool isOrdered = !rules.isCloned(list.maker) ||
                       (isIdle && !floating[change] && !floating[reader] && group[change] == group[last]);
      if (isOrdered && group[reader] != group[change])
        pairs.emplace_back(group[change], group[reader]);
    }
  }
  predecessors = CompactLists<unsigned>::group(members.size(), pairs);
}

/// Returns true if the groups are already numbered in the order that `order` would find.
bool ColocationGroups::isOrdered() const {
  for (unsigned number = 0; number < size(); ++number) {
    bool follows = number == 0 || members[number - 1].back() < members[number].back();
    if (!follows || llvm::any_of(predecessors[number], [&](unsigned before) { return before > number; }))
      return false;
  }
  return true;
}

bool ColocationGroups::order(SmallVectorImpl<unsigned> &result, SmallVectorImpl<unsigned> &onCycles) const {
  if (isOrdered()) {
    llvm::append_range(result, llvm::seq(size()));
    return true;
  }
  std::vector<unsigned> missing(size());
  std::vector<std::pair<unsigned, unsigned>> pairs; // Pairs of a group and one after it.
  using Entry = std::pair<unsigned, unsigned>;      // Last member, group.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  for (unsigned number = 0; number < size(); ++number) {
    missing[number] = static_cast<unsigned>(predecessors[number].size());
    for (unsigned before : predecessors[number])
      pairs.emplace_back(before, number);
    if (!missing[number])
      ready.push({members[number].back(), number});
  }
  auto successors = CompactLists<unsigned>::group(size(), pairs);
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
  findCycles(missing, onCycles);
  return false;
}

/// Finds the groups with several members in each strongly connected component of the remaining groups (Tarjan,
/// Depth-first Search and Linear Graph Algorithms, 1972). Single ops have no cycles. All such groups are returned, so
/// the result does not depend on where the walk starts.
void ColocationGroups::findCycles(ArrayRef<unsigned> missing, SmallVectorImpl<unsigned> &result) const {
  constexpr unsigned kUnseen = 0, kDone = ~0u;
  unsigned seen = kUnseen;
  std::vector<unsigned> entered(size(), kUnseen), lowest(size());
  SmallVector<unsigned> open;
  SmallVector<std::pair<unsigned, unsigned>> path; // Group, index of its next predecessor.
  auto enter = [&](unsigned number) {
    entered[number] = lowest[number] = ++seen;
    open.push_back(number);
    path.emplace_back(number, 0);
  };
  for (unsigned first = 0; first < size(); ++first) {
    if (!missing[first] || entered[first] != kUnseen)
      continue;
    enter(first);
    while (!path.empty()) {
      auto &[number, next] = path.back();
      if (next < predecessors[number].size()) {
        unsigned before = predecessors[number][next++];
        if (!missing[before] || entered[before] == kDone)
          continue;
        if (entered[before] == kUnseen)
          enter(before);
        else
          lowest[number] = std::min(lowest[number], entered[before]);
        continue;
      }
      unsigned left = number;
      path.pop_back();
      if (!path.empty())
        lowest[path.back().first] = std::min(lowest[path.back().first], lowest[left]);
      if (lowest[left] != entered[left])
        continue;
      bool isCycle = open.back() != left;
      for (bool isLast = false; !isLast; open.pop_back()) {
        isLast = open.back() == left;
        entered[open.back()] = kDone;
        if (isCycle && members[open.back()].size() > 1)
          result.push_back(open.back());
      }
    }
  }
}

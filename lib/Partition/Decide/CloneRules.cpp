// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which ops are cloned into the segments of their users, and bounds the work. Form/MergeClones.cpp removes
// clones that turned out equal, and Verify/VerifyClones.cpp checks them.

#include "CloneRules.h"
#include "Partition/Analysis/OpKinds.h"

using namespace mlir;
using namespace inlay;

/// Maximum number of ops and operands of a clone with several users. Without a limit, many segments that clone long
/// chains would take quadratic work.
static constexpr unsigned kMaxCloned = 256;

std::vector<bool> inlay::findConstantOnly(const DependencyGraph &graph) {
  std::vector<bool> result(graph.size());
  for (unsigned op = 0; op < graph.size(); ++op)
    result[op] = llvm::all_of(graph.getPredecessors(op), [&](unsigned before) { return result[before]; }) &&
                 llvm::all_of(graph.getOperands(op), [](auto &operand) { return operand.definer.has_value(); });
  return result;
}

CloneRules::CloneRules(const DependencyGraph &graph, TargetList &targets, const Decisions &decisions)
    : policies(graph.size()), runners(graph.size()), users(graph.size()), cost(graph.size(), 1) {
  for (unsigned op = 0; op < graph.size(); ++op) {
    policies[op] = judge(graph, decisions, op);
    if (!isCloned(op))
      continue;
    runners[op] = targets.findRunners(graph.getOps()[op]);
    cost[op] += graph.getOps()[op]->getNumOperands();
    for (const auto &operand : graph.getOperands(op))
      if (std::optional<unsigned> source = graph.getSource(op, operand); source && isCloned(*source)) {
        runners[op] &= runners[*source];
        cost[op] = std::min(cost[op] + cost[*source], 2 * kMaxCloned);
      }
  }
  findUsers(graph);
  limitWork(graph);
  keepListsWhole(graph, ~targets.getAccelerators() & ((TargetSet(2) << (targets.size() - 1)) - 1));
  dropReadersOfOriginals(graph);
}

/// Decides by the kind of the op and the policies of the ops that it reads.
ClonePolicy CloneRules::judge(const DependencyGraph &graph, const Decisions &decisions, unsigned number) {
  const PartitionOpInfo &facts = graph.getFacts(number);
  if (!facts.isCheapToClone || facts.isPinned || facts.isIsolated || decisions[number].isForced())
    return ClonePolicy::Never;
  Operation *op = graph.getOps()[number];
  bool isInChangedList = graph.getChangedList(number).has_value();
  auto isMutated = [&](Value value) {
    if (!graph.getAliases().isMutated(value))
      return false;
    std::optional<unsigned> definer = graph.getDefiner(value);
    return !(definer && graph.getChangedList(*definer) && policies[*definer] == ClonePolicy::Everywhere);
  };
  if (graph.getAliases().hasEffects() &&
      (llvm::any_of(op->getOperands(), isMutated) || (!isInChangedList && llvm::any_of(op->getResults(), isMutated))))
    return ClonePolicy::Never;
  if (facts.makesNonTensor) {
    bool makesTensors = llvm::any_of(op->getResultTypes(), mayCrossBorder);
    bool readsCopied = llvm::all_of(graph.getOperands(number), [&](const auto &operand) {
      std::optional<unsigned> source = graph.getSource(number, operand);
      return graph.mayCross(operand) || (source && isCloned(*source));
    });
    bool isChange = getCollectionUse(op) == CollectionUse::Changes;
    bool holdsOnlyTensors = llvm::all_of(op->getOperands().drop_front(isChange).getTypes(), mayCrossBorder);
    if (makesTensors || !readsCopied || (isChange && !(isInChangedList && holdsOnlyTensors)))
      return ClonePolicy::Never;
    return isInChangedList ? ClonePolicy::Everywhere : ClonePolicy::ToAccelerators;
  }
  bool readsOnlyConstants = llvm::all_of(graph.getOperands(number), [&](const auto &operand) {
    return operand.definer && policies[*operand.definer] == ClonePolicy::Everywhere && graph.mayCross(operand);
  });
  return facts.isLayout && readsOnlyConstants && op->getNumResults() > 0 ? ClonePolicy::Everywhere : ClonePolicy::Never;
}

void CloneRules::findUsers(const DependencyGraph &graph) {
  for (unsigned user = 0; user < graph.size(); ++user)
    for (const auto &operand : graph.getOperands(user))
      if (std::optional<unsigned> source = graph.getSource(user, operand))
        if (policies[*source] == ClonePolicy::Everywhere || !graph.mayCross(operand))
          if (users[*source].empty() || users[*source].back() != user)
            users[*source].push_back(user);
}

void CloneRules::drop(const DependencyGraph &graph, unsigned op) {
  policies[op] = ClonePolicy::Never;
  if (!graph.getFacts(op).makesNonTensor)
    users[op].clear();
}

void CloneRules::limitWork(const DependencyGraph &graph) {
  for (unsigned op = 0; op < graph.size(); ++op)
    if (cost[op] > kMaxCloned && users[op].size() > 1)
      drop(graph, op);
}

/// Ensures that a list is cloned with all of its changes or not at all. Each target with a user gets a clone, so all
/// targets in `shared`, those that are not accelerators, must be able to run the list ops.
void CloneRules::keepListsWhole(const DependencyGraph &graph, TargetSet shared) {
  for (const DependencyGraph::ChangedList &list : graph.getChangedLists()) {
    auto mayBeCopied = [&](unsigned op) { return isCloned(op) && (runners[op] & shared) == shared; };
    if (mayBeCopied(list.maker) && llvm::all_of(list.changes, mayBeCopied))
      continue;
    drop(graph, list.maker);
    for (unsigned op : list.changes)
      drop(graph, op);
  }
}

/// Drops ops that read the original of another op.
void CloneRules::dropReadersOfOriginals(const DependencyGraph &graph) {
  for (unsigned op = 0; op < graph.size(); ++op) {
    if (!isCloned(op))
      continue;
    bool isBound = graph.getFacts(op).makesNonTensor;
    auto readsOriginal = [&](const DependencyGraph::Operand &operand) {
      std::optional<unsigned> source = graph.getSource(op, operand);
      return source && !isCloned(*source) && (!isBound || !graph.mayCross(operand));
    };
    if (llvm::any_of(graph.getOperands(op), readsOriginal))
      drop(graph, op);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/NonTensors.h"
#include "inlay/Partition/OpKinds.h"

using namespace mlir;
using namespace inlay;

static bool makesBound(Operation *op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) { return !mayCrossBorder(type); });
}

std::vector<bool> inlay::findClonable(const DependencyGraph &graph, const Decisions &decisions) {
  std::vector<bool> clonable(graph.size());
  const Aliases &aliases = graph.getAliases();
  for (auto [number, op] : llvm::enumerate(graph.getOps())) {
    auto isMutated = [&](Value value) { return aliases.isMutated(value); };
    clonable[number] = isCheapToClone(op) && makesBound(op) && !decisions[number].isForced() && !isPinned(op) &&
                       llvm::none_of(op->getOperands(), isMutated) && llvm::none_of(op->getResults(), isMutated) &&
                       llvm::all_of(graph.getOperands(number), [&](Value value) {
                         std::optional<unsigned> definer = graph.getDefiner(value);
                         return mayCrossBorder(value.getType()) || (definer && clonable[*definer]);
                       });
  }
  return clonable;
}

std::vector<SmallVector<unsigned, 2>> inlay::findBoundUsers(const DependencyGraph &graph) {
  std::vector<SmallVector<unsigned, 2>> users(graph.size());
  for (unsigned user = 0; user < graph.size(); ++user)
    for (Value value : graph.getOperands(user))
      if (!mayCrossBorder(value.getType()))
        if (std::optional<unsigned> definer = graph.getDefiner(value))
          if (users[*definer].empty() || users[*definer].back() != user)
            users[*definer].push_back(user);
  return users;
}

namespace {
class Closure {
public:
  Closure(const DependencyGraph &graph, TargetList &targets, Decisions &decisions)
      : graph(graph), targets(targets), decisions(decisions), clonable(findClonable(graph, decisions)),
        users(findBoundUsers(graph)) {}

  LogicalResult run() {
    for (unsigned op = 0; op < graph.size(); ++op)
      pending.push_back(op);
    while (!pending.empty()) {
      unsigned op = pending.pop_back_val();
      if (failed(checkOperands(op)) || failed(checkResults(op)))
        return failure();
    }
    for (unsigned op = graph.size(); op-- > 0;)
      if (clonable[op])
        placeClonable(op);
    return success();
  }

private:
  bool isOnAccelerator(unsigned op) const { return targets.isAccelerator(decisions[op].target); }
  Operation *getOp(unsigned op) const { return graph.getOps()[op]; }

  /// Whether `target` can run a copy of the op and of all copies it needs.
  bool canRunCopy(unsigned op, unsigned target) {
    if (!targets.canRun(target, getOp(op)))
      return false;
    return llvm::all_of(graph.getOperands(op), [&](Value value) {
      return mayCrossBorder(value.getType()) || canRunCopy(*graph.getDefiner(value), target);
    });
  }

  LogicalResult checkOperands(unsigned op) {
    for (Value value : graph.getOperands(op)) {
      if (mayCrossBorder(value.getType()))
        continue;
      std::optional<unsigned> definer = graph.getDefiner(value);
      if (!definer) {
        if (isOnAccelerator(op) && failed(sendAway(op, "reads", value.getType(), std::nullopt, "enter")))
          return failure();
      } else if (!clonable[op] && failed(checkPair(*definer, op, value.getType()))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult checkResults(unsigned op) {
    for (unsigned user : users[op])
      if (!clonable[user])
        for (Value value : graph.getOperands(user))
          if (graph.getDefiner(value) == op && !mayCrossBorder(value.getType()) &&
              failed(checkPair(op, user, value.getType())))
            return failure();
    if (!graph.isUsedByTerminator(op) || clonable[op] || !isOnAccelerator(op))
      return success();
    for (Value result : getOp(op)->getResults())
      if (!mayCrossBorder(result.getType()))
        return sendAway(op, "returns", result.getType(), std::nullopt, "leave");
    return success();
  }

  /// A value from `definer` to `user`, which is no op that is copied itself.
  LogicalResult checkPair(unsigned definer, unsigned user, Type type) {
    if (clonable[definer]) {
      if (!isOnAccelerator(user) || canRunCopy(definer, decisions[user].target))
        return success();
      return sendAway(user, "reads", type, definer, "enter");
    }
    if (decisions[definer].target == decisions[user].target || (!isOnAccelerator(definer) && !isOnAccelerator(user)))
      return success();
    if (isOnAccelerator(user))
      return sendAway(user, "reads", type, definer, "enter");
    return sendAway(definer, "makes", type, user, "leave");
  }

  LogicalResult sendAway(unsigned op, StringRef does, Type type, std::optional<unsigned> cause, StringRef verb) {
    std::string text;
    llvm::raw_string_ostream(text) << does << " '" << type << "', which can't " << verb << " '"
                                   << targets.getName(decisions[op].target) << "'";
    std::optional<unsigned> target = targets.findFallback(getOp(op));
    if (isPinned(getOp(op)))
      return reportPinned(op, text, cause);
    if (!target)
      return getOp(op)->emitError("no target can run the op: it ") << text << ", and no other target can run it";
    decisions[op] = {*target, ReasonCode::NonTensor, text, cause ? getLabel(getOp(*cause)).str() : ""};
    pending.push_back(op);
    return success();
  }

  LogicalResult reportPinned(unsigned op, const std::string &text, std::optional<unsigned> cause) {
    InFlightDiagnostic diag = getOp(op)->emitError("op is pinned to '")
                              << targets.getName(decisions[op].target) << "', but " << text;
    if (cause)
      diag.attachNote(getOp(*cause)->getLoc()) << "'" << getLabel(getOp(*cause)) << "' at its other end "
                                               << (isPinned(getOp(*cause)) ? "is pinned to" : "runs on") << " '"
                                               << targets.getName(decisions[*cause].target) << "'";
    return diag;
  }

  /// The original of a clonable op goes where a user that is on no accelerator needs it, else with its first user.
  void placeClonable(unsigned op) {
    std::optional<unsigned> host, first;
    for (unsigned user : users[op]) {
      (isOnAccelerator(user) ? first : host) = user;
      if (host)
        break;
    }
    bool leaves = graph.isUsedByTerminator(op);
    if (!isOnAccelerator(op)) {
      if (!host && first && !leaves && canRunCopy(op, decisions[users[op].front()].target))
        decisions[op] = {decisions[users[op].front()].target, ReasonCode::Supported, "", ""};
      return;
    }
    if (!host && !leaves) {
      if (first)
        decisions[op].target = decisions[users[op].front()].target;
      return;
    }
    std::optional<unsigned> target = targets.findFallback(getOp(op));
    if (!target)
      return;
    std::string text = leaves ? "its result leaves the function" : "its result is needed on no accelerator";
    decisions[op] = {*target, ReasonCode::NonTensor, text, host ? getLabel(getOp(*host)).str() : ""};
  }

  const DependencyGraph &graph;
  TargetList &targets;
  Decisions &decisions;
  std::vector<bool> clonable;
  std::vector<SmallVector<unsigned, 2>> users;
  SmallVector<unsigned> pending;
};
} // namespace

LogicalResult inlay::keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions) {
  return Closure(graph, targets, decisions).run();
}

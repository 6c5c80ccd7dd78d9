// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NonTensors.h"
#include "ArgumentUnpacking.h"
#include "CloneRules.h"

using namespace mlir;
using namespace inlay;

/// The type of the first value that the op makes or changes and that may not cross a border.
static Type getBoundType(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!mayCrossBorder(type))
      return type;
  return op->getOperand(0).getType();
}

namespace {
class Closure {
public:
  Closure(const DependencyGraph &graph, TargetList &targets, Decisions &decisions)
      : graph(graph), targets(targets), decisions(decisions), rules(graph, targets, decisions),
        entry(targets, graph.getAliases()) {}

  LogicalResult run() {
    for (unsigned op = 0; op < graph.size(); ++op)
      pending.push_back(op);
    while (!pending.empty()) {
      unsigned op = pending.pop_back_val();
      if (failed(checkOperands(op)) || failed(checkResults(op)))
        return failure();
    }
    for (unsigned op = graph.size(); op-- > 0;)
      if (isClonable(op) && graph.getFacts(op).makesNonTensor)
        placeClonable(op);
    return success();
  }

private:
  bool isOnAccelerator(unsigned op) const { return targets.isAccelerator(decisions[op].target); }
  Operation *getOp(unsigned op) const { return graph.getOps()[op]; }

  bool isClonable(unsigned op) const { return rules.isCloned(op); }
  /// Whether `target` can run a copy of the op and of all copies it needs.
  bool canRunCopy(unsigned op, unsigned target) const { return rules.runners[op] >> target & 1; }

  LogicalResult checkOperands(unsigned op) {
    for (const DependencyGraph::Operand &operand : graph.getOperands(op)) {
      if (graph.mayCross(operand))
        continue;
      Type type = operand.value.getType();
      std::optional<unsigned> definer = graph.getSource(op, operand);
      if (!definer) {
        if (isOnAccelerator(op) && !(entry.findEnterableTargets(operand.value) >> decisions[op].target & 1) &&
            failed(sendAway(op, "reads", type, std::nullopt, "enter")))
          return failure();
      } else if (isClonable(op)) {
        // What it is copied with must be able to run where it runs itself.
        if (isOnAccelerator(op) && !canRunCopy(op, decisions[op].target) &&
            failed(sendAway(op, "reads", type, definer, "enter")))
          return failure();
      } else if (failed(checkPair(*definer, op, type))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult checkResults(unsigned op) {
    if (!graph.getFacts(op).makesNonTensor)
      return success();
    for (unsigned user : rules.users[op])
      if (!isClonable(user) && failed(checkPair(op, user, getBoundType(getOp(op)))))
        return failure();
    if (!graph.isUsedByTerminator(op) || isClonable(op) || !isOnAccelerator(op))
      return success();
    for (Value result : getOp(op)->getResults())
      if (!mayCrossBorder(result.getType()))
        return sendAway(op, "returns", result.getType(), std::nullopt, "leave");
    return success();
  }

  /// A value from `definer` to `user`, which is no op that is copied itself.
  LogicalResult checkPair(unsigned definer, unsigned user, Type type) {
    if (isClonable(definer)) {
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
    if (graph.getFacts(op).isPinned)
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
                                               << (graph.getFacts(*cause).isPinned ? "is pinned to" : "runs on") << " '"
                                               << targets.getName(decisions[*cause].target) << "'";
    return diag;
  }

  /// The original of a clonable op goes where a user that is on no accelerator needs it, else with its first user.
  void placeClonable(unsigned op) {
    std::optional<unsigned> host, first;
    for (unsigned user : rules.users[op]) {
      (isOnAccelerator(user) ? first : host) = user;
      if (host)
        break;
    }
    bool leaves = graph.isUsedByTerminator(op);
    // A segment of a single op has room for copies alone.
    bool isIdle = !rules.users[op].empty() &&
                  llvm::all_of(rules.users[op], [&](unsigned user) { return graph.getFacts(user).isIsolated; });
    if (!isOnAccelerator(op)) {
      if (!host && first && !leaves && !isIdle && canRunCopy(op, decisions[rules.users[op].front()].target))
        decisions[op] = {decisions[rules.users[op].front()].target, ReasonCode::Supported, "", ""};
      return;
    }
    if (!host && !leaves && !isIdle) {
      if (first)
        decisions[op].target = decisions[rules.users[op].front()].target;
      return;
    }
    std::optional<unsigned> target = targets.findFallback(getOp(op));
    if (!target)
      return;
    std::string text = leaves   ? "its result leaves the function"
                       : isIdle ? "all that read it have copies"
                                : "its result is needed on no accelerator";
    decisions[op] = {*target, ReasonCode::NonTensor, text, host ? getLabel(getOp(*host)).str() : ""};
  }

  const DependencyGraph &graph;
  TargetList &targets;
  Decisions &decisions;
  const CloneRules rules;
  ArgumentTargets entry;
  SmallVector<unsigned> pending;
};
} // namespace

LogicalResult inlay::keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions) {
  return Closure(graph, targets, decisions).run();
}

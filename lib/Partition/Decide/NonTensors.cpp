// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves ops off accelerators until no value of a type other than tensor or scalar crosses a border.
// ArgumentUnpacking.cpp handles lists and tuples among the arguments.

#include "NonTensors.h"
#include "ArgumentUnpacking.h"
#include "CloneRules.h"

using namespace mlir;
using namespace inlay;

/// Returns the type of the first value that the op makes or changes and that may not cross a border.
static Type getBoundType(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!mayCrossBorder(type))
      return type;
  return op->getOperand(0).getType();
}

namespace {
/// Moves ops until the decisions are closed under the rule.
class NonTensorClosure {
public:
  NonTensorClosure(const DependencyGraph &graph, TargetList &targets, Decisions &decisions)
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
  /// Returns true if `target` can run a clone of the op and of all ops cloned along with it.
  bool canRunClone(unsigned op, unsigned target) const { return rules.runners[op] >> target & 1; }

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
        // The ops cloned along with this one must be able to run on its target.
        if (isOnAccelerator(op) && !canRunClone(op, decisions[op].target) &&
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

  /// Checks a value from `definer` to `user`, which is not cloned.
  LogicalResult checkPair(unsigned definer, unsigned user, Type type) {
    if (isClonable(definer)) {
      if (!isOnAccelerator(user) || canRunClone(definer, decisions[user].target))
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
      diag.attachNote(getOp(*cause)->getLoc()) << "the other op, '" << getLabel(getOp(*cause)) << "', "
                                               << (graph.getFacts(*cause).isPinned ? "is pinned to" : "runs on") << " '"
                                               << targets.getName(decisions[*cause].target) << "'";
    return diag;
  }

  /// Places the original of a clonable op with a user that is not on an accelerator if there is one, else with its
  /// first user.
  void placeClonable(unsigned op) {
    std::optional<unsigned> host, first;
    for (unsigned user : rules.users[op]) {
      (isOnAccelerator(user) ? first : host) = user;
      if (host)
        break;
    }
    bool leaves = graph.isUsedByTerminator(op);
    // An isolated op shares its segment only with clones, so the original has no user then.
    bool isIdle = !rules.users[op].empty() &&
                  llvm::all_of(rules.users[op], [&](unsigned user) { return graph.getFacts(user).isIsolated; });
    if (!isOnAccelerator(op)) {
      if (!host && first && !leaves && !isIdle && canRunClone(op, decisions[rules.users[op].front()].target))
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
                       : isIdle ? "every op that reads it has a clone"
                                : "its result is needed outside of accelerators";
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
  return NonTensorClosure(graph, targets, decisions).run();
}

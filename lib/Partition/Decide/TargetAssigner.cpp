// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides the target of each op from verdicts, pins, rules of the user and control flow. Without a cost model the
// decision is final; with one, Form/CostPlan.cpp may choose another target that can run the op.

#include "TargetAssigner.h"
#include "NonTensors.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/IR/RegionKindInterface.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace inlay;

//===-- Functions -----------------------------------------------------------------------------------------------===//

LogicalResult inlay::checkPartitionable(FunctionOpInterface function) {
  if (!mayHaveSSADominance(function.getFunctionBody()))
    return function.emitError("expected a function whose ops run in order, but got a graph region");
  if (!function.getFunctionBody().hasOneBlock())
    return function.emitError("expected a function of one block, but got ")
           << llvm::range_size(function.getFunctionBody());
  WalkResult result = function.walk([&](SegmentOp segment) {
    InFlightDiagnostic diag = function.emitError("expected a function that is not partitioned, but got a segment");
    diag.attachNote(segment.getLoc()) << "segment here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===-- Decisions -----------------------------------------------------------------------------------------------===//

FailureOr<Decision> TargetAssigner::decideUnsupported(Operation *op) {
  if (const Verdict &refusal = targets.ask(0, op); keepUnsupported && !refusal.isSupported())
    return Decision{0, refusal.code, refusal.text, ""};
  InFlightDiagnostic diag = op->emitError("no target can run '") << getReportedName(op) << "'";
  for (unsigned target = 0; target < targets.size(); ++target)
    diag.attachNote() << "'" << targets.getName(target) << "': " << targets.ask(target, op).text;
  return diag;
}

FailureOr<Decision> TargetAssigner::decidePinned(Operation *op, StringRef name) {
  std::optional<unsigned> target = targets.find(name);
  if (!target)
    return op->emitError("expected 'inlay.target' to name a target of the module, but got '")
           << name << "'" << targets.suggestName(name);
  if (Verdict rule = filter.check(op); !rule.isSupported() && targets.isAccelerator(*target))
    return op->emitError("op is pinned to '") << name << "', but is forced away: " << rule.text;
  bool splits = isControlFlow(op) && !targets.isAccelerator(*target);
  auto [blocker, verdict] = splits ? std::pair<Operation *, Verdict>() : findBlocker(op, *target);
  if (blocker)
    return op->emitError("op is pinned to '") << name << "', which can't run it: " << verdict.text;
  return Decision{*target, *target ? ReasonCode::FallbackLocation : ReasonCode::Supported,
                  ("pinned to '" + name + "'").str(), ""};
}

FailureOr<Decision> TargetAssigner::decideForced(Operation *op, Verdict verdict) {
  if (isControlFlow(op))
    return Decision{targets.getControlFlowTarget(), verdict.code, verdict.text, ""};
  for (unsigned target = targets.size(); target-- > 0;)
    if (targets.canRun(target, op))
      return Decision{target, verdict.code, verdict.text, ""};
  return decideUnsupported(op);
}

std::pair<Operation *, Verdict> TargetAssigner::findBlocker(Operation *root, unsigned target) {
  std::pair<Operation *, Verdict> blocker;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    Verdict verdict = targets.ask(target, op);
    if (op != root && verdict.isSupported())
      verdict = filter.check(op);
    if (auto pin = op->getAttrOfType<StringAttr>(InlayDialect::kTargetAttr);
        pin && op != root && pin != targets.getName(target))
      verdict = {ReasonCode::FallbackLocation, ("pinned to '" + pin.getValue() + "'").str()};
    if (op != root && op->hasAttr(InlayDialect::kDoNotMergeAttr))
      verdict = {ReasonCode::ControlFlow, "must be isolated"};
    if (verdict.isSupported())
      return WalkResult::advance();
    blocker = {op, verdict};
    return WalkResult::interrupt();
  });
  return blocker;
}

Decision TargetAssigner::decideControlFlow(Operation *op) {
  unsigned fallback = targets.getControlFlowTarget();
  Decision decision{fallback, ReasonCode::Supported, "", ""};
  for (unsigned target = 0; target < targets.size(); ++target) {
    if (!targets.isAccelerator(target))
      continue;
    auto [blocker, verdict] = findBlocker(op, target);
    if (!blocker)
      return {target, ReasonCode::Supported, "", ""};
    if (target == 0) {
      decision.code = ReasonCode::ControlFlow;
      decision.text = verdict.text;
      if (blocker != op)
        decision.causedBy = getLabel(blocker);
    }
  }
  return decision;
}

/// Emits an error if `inlay.refused` names an unknown target: a misspelled name would have no effect.
static LogicalResult checkRefused(Operation *op, const TargetList &targets) {
  if (auto refused = dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(InlayDialect::kRefusedAttr)))
    for (NamedAttribute entry : refused)
      if (!targets.find(entry.getName()))
        return op->emitError("expected 'inlay.refused' to name targets of the module, but got '")
               << entry.getName().getValue() << "'" << targets.suggestName(entry.getName());
  return success();
}

FailureOr<Decision> TargetAssigner::decide(Operation *op) {
  if (failed(checkRefused(op, targets)))
    return failure();
  if (auto pin = op->getAttrOfType<StringAttr>(InlayDialect::kTargetAttr))
    return decidePinned(op, pin.getValue());
  if (Verdict verdict = filter.check(op); !verdict.isSupported())
    return decideForced(op, std::move(verdict));
  if (isControlFlow(op))
    return decideControlFlow(op);
  ReasonCode code = ReasonCode::Supported;
  std::string text;
  for (unsigned target = 0; target < targets.size(); ++target) {
    const Verdict &verdict = targets.ask(target, op);
    if (verdict.isSupported())
      return Decision{target, code, std::move(text), ""};
    if (target == 0)
      code = verdict.code;
    if (text != verdict.text)
      text += (target ? "; " : "") + verdict.text;
  }
  return decideUnsupported(op);
}

FailureOr<Decisions> TargetAssigner::decideBlock(const DependencyGraph &graph) {
  Decisions decisions;
  decisions.reserve(graph.size());
  bool ok = true;
  for (Operation *op : graph.getOps()) {
    FailureOr<Decision> decision = decide(op);
    ok &= succeeded(decision);
    decisions.push_back(ok ? *decision : Decision());
  }
  if (!ok || failed(keepNonTensorsTogether(graph, targets, decisions)))
    return failure();
  return decisions;
}

LogicalResult TargetAssigner::annotate(Block &block, const Aliases &aliases) {
  DependencyGraph graph(block, aliases);
  FailureOr<Decisions> decisions = decideBlock(graph);
  if (failed(decisions))
    return failure();
  bool ok = true;
  DecisionWriter writer(targets);
  for (auto [op, decision] : llvm::zip(graph.getOps(), *decisions)) {
    writer.write(op, decision);
    if (!isControlFlow(op) || targets.isAccelerator(decision.target))
      continue;
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(annotate(region.front(), aliases)))
        ok = false;
  }
  return success(ok);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `require-full-compilation` and `enabled=false`: checks that the first target runs every op, and reports
// the ops that prevent it.

#include "FullCompilation.h"
#include "NonTensors.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/PartitionOptions.h"

using namespace mlir;
using namespace inlay;

LogicalResult inlay::checkFullCompilationSettings(ModuleOp module, const PartitionInfo &info) {
  if (info.enabled && !info.requireFullCompilation)
    return success();
  std::string whole = info.enabled ? getOptionName(info, &info.requireFullCompilation).str()
                                   : (getOptionName(info, &info.enabled) + "=false").str();
  bool ok = true;
  for (const auto *rules : {&info.fallbackOps, &info.fallbackModules, &info.fallbackLocations})
    if (!rules->empty()) {
      module.emitError("'") << whole << "' contradicts '" << getOptionName(info, rules)
                            << "': the whole graph can't be on one target while '" << rules->front()
                            << "' is forced away";
      ok = false;
    }
  return success(ok);
}

namespace {
/// An op that prevents the graph from running on the first target, and the reason.
struct Blocker {
  Operation *op;
  std::string text;
};
} // namespace

static std::string describe(ReasonCode code, StringRef text) { return (stringifyReasonCode(code) + ": " + text).str(); }

static LogicalResult report(FunctionOpInterface function, const TargetList &targets, ArrayRef<Blocker> blockers) {
  if (blockers.empty())
    return success();
  InFlightDiagnostic diag = function.emitError("expected the whole graph to run on '")
                            << targets.getName(0) << "', but " << blockers.size() << " op"
                            << (blockers.size() == 1 ? "" : "s") << " can't";
  for (const Blocker &blocker : blockers)
    diag.attachNote(blocker.op->getLoc())
        << getLabel(blocker.op) << " (" << getReportedName(blocker.op) << ") " << blocker.text;
  return diag;
}

LogicalResult inlay::checkFullCompilation(FunctionOpInterface function, const TargetList &targets) {
  std::vector<Blocker> blockers;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
    if (!verdict)
      return;
    std::string why = (verdict.getCode() + ": " + verdict.getText()).str();
    if (verdict.getTarget() != targets.getName(0))
      blockers.push_back({op, ("runs on '" + verdict.getTarget() + "': " + why).str()});
    else if (verdict.getCode() != stringifyReasonCode(ReasonCode::Supported))
      blockers.push_back({op, "runs on no target: " + why});
  });
  return report(function, targets, blockers);
}

//===-- Without partitioning ------------------------------------------------------------------------------------===//

/// Returns the reason why the op cannot be in the segment of the whole graph, or an empty string if it can.
static std::string findObstacle(Operation *op, TargetList &targets) {
  auto pin = op->getAttrOfType<StringAttr>(InlayDialect::kTargetAttr);
  if (pin && pin.getValue() != targets.getName(0))
    return "is pinned to '" + pin.str() + "'";
  if (op->hasAttr(InlayDialect::kDoNotMergeAttr))
    return "must be isolated because of 'inlay.do_not_merge'";
  if (isControlFlow(op) && !targets.isAccelerator(0))
    return "can't run there: " + describe(ReasonCode::ControlFlow, "control flow runs on '" + targets.getName(0).str() +
                                                                       "' only where it is split into segments");
  const Verdict &verdict = targets.ask(0, op);
  return verdict.isSupported() ? "" : "can't run there: " + describe(verdict.code, verdict.text);
}

LogicalResult inlay::annotateFullCompilation(FunctionOpInterface function, TargetList &targets) {
  std::vector<Blocker> blockers;
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (std::string obstacle = findObstacle(op, targets); !obstacle.empty())
      blockers.push_back({op, obstacle});
  });
  if (failed(report(function, targets, blockers)))
    return failure();
  Aliases aliases(function);
  DependencyGraph graph(function.front(), aliases);
  Decisions decisions(graph.size());
  if (failed(keepNonTensorsTogether(graph, targets, decisions)))
    return failure();
  for (auto [op, decision] : llvm::zip(graph.getOps(), decisions)) {
    if (decision.target != 0)
      blockers.push_back({op, "can't run there: " + describe(decision.code, decision.text)});
    writeDecision(op, decision, targets);
  }
  return report(function, targets, blockers);
}

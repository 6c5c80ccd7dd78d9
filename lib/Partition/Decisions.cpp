// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Decisions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

FailureOr<Decision> inlay::readDecision(Operation *op, const TargetList &targets) {
  auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
  if (!verdict)
    return op->emitError("expected 'inlay.verdict', but got none: run inlay-partition-annotate-targets first");
  std::optional<unsigned> target = targets.find(verdict.getTarget());
  if (!target)
    return op->emitError("expected a verdict for a target of the module, but got '") << verdict.getTarget() << "'";
  std::string causedBy = verdict.getCausedBy() ? verdict.getCausedBy().getValue().str() : "";
  return Decision{*target, *symbolizeReasonCode(verdict.getCode()), verdict.getText().str(), causedBy};
}

void inlay::writeDecision(Operation *op, const Decision &decision, const TargetList &targets) {
  MLIRContext *context = op->getContext();
  StringAttr causedBy = decision.causedBy.empty() ? nullptr : StringAttr::get(context, decision.causedBy);
  op->setAttr(InlayDialect::kVerdictAttr,
              VerdictAttr::get(context, targets.getName(decision.target), stringifyReasonCode(decision.code),
                               decision.text, causedBy));
}

bool inlay::isPinned(Operation *op) { return op->hasAttr(InlayDialect::kTargetAttr); }

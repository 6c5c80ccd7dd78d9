// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes `inlay.verdict`. TargetAssigner.cpp decides.

#include "Decisions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace inlay;

FailureOr<Decision> inlay::readDecision(Operation *op, const TargetList &targets) {
  auto verdict = dyn_cast_or_null<VerdictAttr>(op->getDiscardableAttr(InlayDialect::kVerdictAttr));
  if (!verdict)
    return op->emitError("expected 'inlay.verdict', but got none: run inlay-partition-annotate-targets first");
  std::optional<unsigned> target = targets.find(verdict.getTarget());
  if (!target)
    return op->emitError("expected a verdict for a target of the module, but got '") << verdict.getTarget() << "'";
  std::string causedBy = verdict.getCausedBy() ? verdict.getCausedBy().getValue().str() : "";
  return Decision{*target, *symbolizeReasonCode(verdict.getCode()), verdict.getText().str(), causedBy};
}

FailureOr<Decisions> inlay::readDecisions(ArrayRef<Operation *> ops, const TargetList &targets) {
  Decisions decisions;
  if (ops.empty())
    return decisions;
  decisions.reserve(ops.size());
  llvm::DenseMap<Attribute, Decision> known; // By verdict, since many ops share one.
  auto name = StringAttr::get(ops.front()->getContext(), InlayDialect::kVerdictAttr);
  for (Operation *op : ops) {
    auto [it, isNew] = known.try_emplace(op->getDiscardableAttr(name));
    if (isNew) {
      FailureOr<Decision> decision = readDecision(op, targets);
      if (failed(decision))
        return failure();
      it->second = std::move(*decision);
    }
    decisions.push_back(it->second);
  }
  return decisions;
}

void inlay::writeDecision(Operation *op, const Decision &decision, const TargetList &targets) {
  DecisionWriter(targets).write(op, decision);
}

VerdictAttr DecisionWriter::getVerdict(MLIRContext *context, const Decision &decision) {
  StringRef target = targets.getName(decision.target), code = stringifyReasonCode(decision.code);
  VerdictAttr &last = verdicts[decision.text];
  StringRef lastCause = last && last.getCausedBy() ? last.getCausedBy().getValue() : "";
  if (!last || last.getTarget() != target || last.getCode() != code || lastCause != decision.causedBy) {
    StringAttr causedBy = decision.causedBy.empty() ? nullptr : StringAttr::get(context, StringRef(decision.causedBy));
    last = VerdictAttr::get(context, target, code, decision.text, causedBy);
  }
  return last;
}

void DecisionWriter::write(Operation *op, const Decision &decision) {
  VerdictAttr verdict = getVerdict(op->getContext(), decision);
  DictionaryAttr &dictionary = dictionaries[{op->getRawDictionaryAttrs(), verdict}];
  if (!dictionary) {
    NamedAttrList attributes(op->getRawDictionaryAttrs());
    attributes.set(InlayDialect::kVerdictAttr, verdict);
    dictionary = attributes.getDictionary(op->getContext());
  }
  op->setDiscardableAttrs(dictionary);
}

bool inlay::isPinned(Operation *op) { return op->getDiscardableAttr(InlayDialect::kTargetAttr) != nullptr; }

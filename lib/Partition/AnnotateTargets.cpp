// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/Annotate.h"
#include "inlay/Partition/OpKinds.h"
#include "inlay/Partition/Passes.h"

namespace inlay {
#define GEN_PASS_DEF_ANNOTATETARGETSPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Reports every op that is not on the first target.
static LogicalResult checkFullCompilation(FunctionOpInterface function, const TargetList &targets) {
  SmallVector<std::pair<Operation *, VerdictAttr>> blockers;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
    if (verdict && verdict.getTarget() != targets.getName(0))
      blockers.emplace_back(op, verdict);
  });
  if (blockers.empty())
    return success();
  InFlightDiagnostic diag = function.emitError("expected the whole graph to run on '")
                            << targets.getName(0) << "', but " << blockers.size() << " op"
                            << (blockers.size() == 1 ? "" : "s") << " can't";
  for (auto [op, verdict] : blockers)
    diag.attachNote(op->getLoc()) << getLabel(op) << " (" << getReportedName(op) << ") runs on '" << verdict.getTarget()
                                  << "': " << verdict.getCode() << ": " << verdict.getText();
  return diag;
}

namespace {
struct AnnotateTargetsPass : inlay::impl::AnnotateTargetsPassBase<AnnotateTargetsPass> {
  using AnnotateTargetsPassBase::AnnotateTargetsPassBase;

  void runOnOperation() override {
    FailureOr<TargetList> targets = TargetList::get(getOperation());
    if (failed(targets))
      return signalPassFailure();
    FailureOr<FallbackFilter> filter =
        FallbackFilter::get(getOperation(), llvm::to_vector(fallbackOps), llvm::to_vector(fallbackModules));
    if (failed(filter))
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal() && failed(annotate(function, *targets, *filter)))
        signalPassFailure();
  }

  LogicalResult annotate(FunctionOpInterface function, TargetList &targets, const FallbackFilter &filter) {
    if (failed(checkPartitionable(function)))
      return failure();
    labelOps(function);
    if (failed(Annotator(targets, filter).annotate(function.front(), Aliases(function))))
      return failure();
    return requireFullCompilation ? checkFullCompilation(function, targets) : success();
  }
};
} // namespace

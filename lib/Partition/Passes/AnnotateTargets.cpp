// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that writes a verdict on each op. Decide/TargetAssigner.cpp decides. FormSegments.cpp is the next pass.

#include "Partition/Analysis/EffectOrder.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/FullCompilation.h"
#include "Partition/Decide/TargetAssigner.h"
#include "PassSettings.h"
#include "inlay/Partition/Labels.h"
#include "inlay/Partition/Passes.h"

namespace inlay {
#define GEN_PASS_DEF_ANNOTATETARGETSPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Emits an error for a pinned op that partitioning does not place: a constant or a terminator.
static LogicalResult checkPins(FunctionOpInterface function) {
  WalkResult result = function.getFunctionBody().walk([](Operation *op) {
    if (!op->hasAttr(InlayDialect::kTargetAttr) || !(isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>()))
      return WalkResult::advance();
    op->emitError("expected 'inlay.target' on an op that partitioning places, but got it on ")
        << (isConstantLike(op) ? "a constant, of which each segment has its own" : "a terminator");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AnnotateTargetsPass : inlay::impl::AnnotateTargetsPassBase<AnnotateTargetsPass> {
  using AnnotateTargetsPassBase::AnnotateTargetsPassBase;

  explicit AnnotateTargetsPass(const PartitionInfo &info) { copySettings(info, CopyToOption()); }

  template <typename Info, typename Copy>
  void copySettings(Info &info, Copy copy) {
    copy(info.enabled, enabled);
    copy(info.requireFullCompilation, requireFullCompilation);
    copy(info.fallbackOps, fallbackOps);
    copy(info.fallbackModules, fallbackModules);
    copy(info.fallbackLocations, fallbackLocations);
    copy(info.allowOps, allowOps);
    copy(info.names, optionNames);
  }

  void runOnOperation() override {
    PartitionInfo info;
    copySettings(info, CopyFromOption());
    if (failed(annotate(info)))
      signalPassFailure();
  }

  LogicalResult annotate(const PartitionInfo &info) {
    if (failed(checkFullCompilationSettings(getOperation(), info)))
      return failure();
    SmallVector<FunctionOpInterface> functions;
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        functions.push_back(function);
    for (auto nested : getOperation().getOps<ModuleOp>())
      nested.emitWarning("functions of a module inside a module aren't partitioned: run the pass on that module");
    for (FunctionOpInterface function : functions) {
      if (failed(checkPartitionable(function)) || failed(checkPins(function)))
        return failure();
      labelOps(function);
    }
    FailureOr<TargetList> targets = TargetList::get(getOperation(), info, &getAnalysis<Verdicts>());
    FailureOr<FallbackFilter> filter = FallbackFilter::get(getOperation(), info);
    if (failed(targets) || failed(filter))
      return failure();
    bool ok = true;
    for (FunctionOpInterface function : functions)
      ok &= succeeded(annotate(function, *targets, *filter, info));
    return success(ok);
  }

  static LogicalResult annotate(FunctionOpInterface function, TargetList &targets, const FallbackFilter &filter,
                                const PartitionInfo &info) {
    Aliases aliases(function);
    recordProgram(function, aliases);
    if (!info.enabled)
      return annotateFullCompilation(function, targets);
    TargetAssigner assigner(targets, filter, /*keepUnsupported=*/info.requireFullCompilation);
    if (failed(assigner.annotate(function.front(), aliases)))
      return failure();
    return info.requireFullCompilation ? checkFullCompilation(function, targets) : success();
  }
};
} // namespace

std::unique_ptr<Pass> inlay::createAnnotateTargetsPass(const PartitionInfo &info) {
  return std::make_unique<AnnotateTargetsPass>(info);
}

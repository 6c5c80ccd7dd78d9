// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms segments from verdicts, block by block. The regions of split control flow come first, so that the values that
// they capture are still in place.

#include "Partition/Analysis/NameRules.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Cost/ModuleCosts.h"
#include "Partition/Decide/TargetAssigner.h"
#include "Partition/Form/SegmentBuilder.h"
#include "Partition/Form/WhatIfAnalysis.h"
#include "Partition/Report/WhatIfAttributes.h"
#include "PassSettings.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/PartitionOptions.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/Report.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

namespace inlay {
#define GEN_PASS_DEF_FORMSEGMENTSPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

static void remarkOnFallback(Operation *op, const Decision &decision, const TargetList &targets) {
  if (decision.code == ReasonCode::Supported || !op->getContext()->getRemarkEngine())
    return;
  auto fallback = remark::missed(op->getLoc(), remark::RemarkOpts::name("Fallback").category("inlay-partition"));
  fallback << remark::reason("{0}: {1}", getReportedName(op).str(), decision.text)
           << remark::metric("target", targets.getName(decision.target).str())
           << remark::metric("code", stringifyReasonCode(decision.code).str());
  if (!decision.causedBy.empty())
    fallback << remark::metric("caused_by", decision.causedBy);
}

static void remarkOnSegment(Operation *op, const PlannedSegment &segment, const TargetList &targets) {
  if (!op->getContext()->getRemarkEngine())
    return;
  remark::passed(op->getLoc(), remark::RemarkOpts::name("Segment").category("inlay-partition"))
      << remark::metric("target", targets.getName(segment.target).str()) << remark::metric("ops", segment.ops.size())
      << remark::metric("clones", segment.clones.size());
}

static DictionaryAttr describeTimes(const PlacementTimes &times, Builder &builder) {
  NamedAttrList entries;
  auto set = [&](StringRef key, double seconds) { entries.set(key, builder.getF64FloatAttr(seconds)); };
  set("chosen", times.chosen);
  set("all_accelerated", times.allAccelerated);
  set("all_host", times.allHost);
  set("min_block_" + std::to_string(times.minSize), times.minSized);
  if (times.lowerBound > 0)
    set("lower_bound", times.lowerBound);
  return entries.getDictionary(builder.getContext());
}

/// Records the figures of a plan for a function's own block, which reports show.
static void writeFigures(Operation *function, const DependencyGraph &graph, const SegmentPlan &plan) {
  Builder builder(function->getContext());
  SmallVector<Attribute> witness;
  for (unsigned op : plan.witness)
    witness.push_back(getLabelAttr(graph.getOps()[op]));
  function->setAttr(InlayDialect::kWitnessAttr, builder.getArrayAttr(witness));
  NamedAttrList figures(function->getAttrOfType<DictionaryAttr>(InlayDialect::kPartitionAttr));
  auto set = [&](StringRef key, uint64_t number) {
    figures.set(key, builder.getI64IntegerAttr(static_cast<int64_t>(number)));
  };
  set(kLowerBoundFigure, plan.lowerBound);
  set(kBytesCarriedFigure, plan.bytesCarried);
  set(kBytesCarriedBeforeFigure, plan.bytesCarriedBefore);
  if (plan.times)
    figures.set(kPlacementsFigure, describeTimes(*plan.times, builder));
  function->setAttr(InlayDialect::kPartitionAttr, figures.getDictionary(function->getContext()));
}

/// Records the what-if analysis and the sweep, if they are wanted, while the function is unchanged.
static LogicalResult writeWhatIfFigures(FunctionOpInterface function, TargetList &targets, const PartitionInfo &info,
                                        const ModuleCosts *costs) {
  function->removeAttr(InlayDialect::kPartitionAttr);
  if (!info.whatIf && !info.sweep)
    return success();
  MLIRContext *context = function->getContext();
  PartitionEstimator estimator(function, targets, costs);
  NamedAttrList answers;
  if (info.whatIf) {
    FailureOr<WhatIf> whatIf = analyzeWhatIf(estimator, info);
    if (failed(whatIf))
      return failure();
    answers.set(kWhatIfFigure, toAttribute(context, *whatIf));
  }
  if (info.sweep) {
    FailureOr<std::vector<SweepRow>> rows = sweepMinBlockSize(estimator, info);
    if (failed(rows))
      return failure();
    answers.set(kSweepFigure, toAttribute(context, *rows));
  }
  function->setAttr(InlayDialect::kPartitionAttr, answers.getDictionary(context));
  return success();
}

namespace {
class SegmentFormer {
public:
  SegmentFormer(TargetList &targets, const Aliases &aliases, const PartitionInfo &info, const ModuleCosts *costs)
      : targets(targets), aliases(aliases), info(info), costs(costs) {}

  LogicalResult form(Block &block) {
    DependencyGraph graph(block, aliases);
    FailureOr<Decisions> decisions = readDecisions(graph.getOps(), targets);
    if (failed(decisions))
      return failure();
    Decisions before = *decisions;
    FailureOr<SegmentPlan> plan = planSegments(graph, targets, *decisions, info, costs);
    if (failed(plan))
      return failure();
    DecisionWriter writer(targets);
    for (auto [number, op] : llvm::enumerate(graph.getOps())) {
      const Decision &decision = (*decisions)[number];
      if (graph.getFacts(static_cast<unsigned>(number)).isControlFlow && failed(formRegions(op, decision)))
        return failure();
      if (!decision.isSameAs(before[number]))
        writer.write(op, decision);
      remarkOnFallback(op, decision, targets);
    }
    if (auto function = dyn_cast<FunctionOpInterface>(block.getParentOp()))
      writeFigures(function, graph, *plan);
    for (const PlannedSegment &segment : plan->segments)
      remarkOnSegment(graph.getOps()[segment.ops.front()], segment, targets);
    buildSegments(graph, *plan, targets);
    return success();
  }

private:
  LogicalResult formRegions(Operation *op, const Decision &decision) {
    if (targets.isAccelerator(decision.target))
      return success();
    FailureOr<Decision> before = readDecision(op, targets);
    FallbackFilter none;
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      // The op was planned as a whole, so the ops in its regions have no verdicts yet.
      if (targets.isAccelerator(before->target) &&
          failed(TargetAssigner(targets, none).annotate(region.front(), aliases)))
        return failure();
      if (failed(form(region.front())))
        return failure();
    }
    return success();
  }

  TargetList &targets;
  const Aliases &aliases;
  const PartitionInfo &info;
  const ModuleCosts *costs;
};

struct FormSegmentsPass : inlay::impl::FormSegmentsPassBase<FormSegmentsPass> {
  using FormSegmentsPassBase::FormSegmentsPassBase;

  explicit FormSegmentsPass(const PartitionInfo &info) { copySettings(info, CopyToOption()); }

  template <typename Info, typename Copy>
  void copySettings(Info &info, Copy copy) {
    copy(info.minBlockSize, minBlockSize);
    copy(info.exemptOps, exemptOps);
    copy(info.allowOps, allowOps);
    copy(info.strategy, strategy);
    copy(info.fewestBytes, fewestBytes);
    copy(info.costModel, costModel);
    copy(info.whatIf, whatIf);
    copy(info.sweep, sweep);
    copy(info.names, optionNames);
  }

  void runOnOperation() override {
    PartitionInfo info;
    copySettings(info, CopyFromOption());
    if (info.minBlockSize < 1) {
      getOperation().emitError("expected ")
          << getOptionName(info, &info.minBlockSize) << " to be at least 1, but got " << info.minBlockSize;
      return signalPassFailure();
    }
    FailureOr<TargetList> targets = TargetList::get(getOperation(), info, &getAnalysis<Verdicts>());
    if (failed(targets) || failed(checkOpNames(getOperation(), info.exemptOps, getOptionName(info, &info.exemptOps))))
      return signalPassFailure();
    FailureOr<std::optional<ModuleCosts>> costs = findCosts(*targets);
    if (failed(costs))
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      Aliases aliases(function);
      const ModuleCosts *model = *costs ? &**costs : nullptr;
      if (failed(checkPartitionable(function)) || failed(writeWhatIfFigures(function, *targets, info, model)) ||
          failed(SegmentFormer(*targets, aliases, info, model).form(function.front())))
        return signalPassFailure();
    }
  }

private:
  /// Returns the requested cost model, after attaching it to the module, or else that of the module. Returns the
  /// default model if the strategy needs one and there is none.
  FailureOr<std::optional<ModuleCosts>> findCosts(const TargetList &targets) {
    std::string file = costModel;
    if (file.empty() && strategy == Strategy::Cost && !getOperation()->hasAttr(InlayDialect::kCostModelAttr))
      file = "default";
    if (file.empty())
      return ModuleCosts::get(getOperation(), targets);
    FailureOr<ModuleCosts> costs = ModuleCosts::read(file, getOperation(), targets);
    if (failed(costs))
      return failure();
    costs->attach(getOperation(), targets);
    return std::optional(std::move(*costs));
  }
};
} // namespace

std::unique_ptr<Pass> inlay::createFormSegmentsPass(const PartitionInfo &info) {
  return std::make_unique<FormSegmentsPass>(info);
}

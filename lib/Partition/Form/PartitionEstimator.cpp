// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans a partition with changed settings or verdicts and counts its segments, bytes and time. WhatIfAnalysis.cpp
// asks the questions.

#include "PartitionEstimator.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/TargetAssigner.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace inlay;

namespace {
/// Counts the bytes that cross the borders of a plan's accelerator segments.
class BorderCounter {
public:
  BorderCounter(const DependencyGraph &graph, const SegmentPlan &plan, const TargetList &targets,
                PartitionSummary &figures)
      : graph(graph), plan(plan), figures(figures), home(graph.size()) {
    for (auto [number, segment] : llvm::enumerate(plan.segments)) {
      accelerated.push_back(targets.isAccelerator(segment.target));
      for (unsigned op : segment.ops)
        home[op] = static_cast<unsigned>(number);
    }
  }

  void run() {
    for (auto [number, segment] : llvm::enumerate(plan.segments)) {
      llvm::SmallDenseSet<unsigned> cloned(segment.clones.begin(), segment.clones.end());
      llvm::SmallDenseSet<Value> read;
      auto visit = [&](unsigned op) {
        for (auto [value, definer] : graph.getOperands(op)) {
          if (definer && (home[*definer] == number || cloned.contains(*definer)))
            continue;
          if (accelerated[number] && read.insert(value).second)
            add(value);
          if (definer && accelerated[home[*definer]] && leaving.insert(value).second)
            add(value);
        }
      };
      llvm::for_each(segment.ops, visit);
      llvm::for_each(segment.clones, visit);
    }
    for (Value value : graph.getBlock().back().getOperands())
      if (std::optional<unsigned> definer = graph.getDefiner(value);
          definer && accelerated[home[*definer]] && leaving.insert(value).second)
        add(value);
  }

private:
  void add(Value value) {
    std::optional<int64_t> bytes = countBytes(value.getType());
    figures.allKnown &= bytes.has_value();
    if (llvm::AddOverflow(figures.borderBytes, bytes.value_or(0), figures.borderBytes)) {
      figures.borderBytes = std::numeric_limits<int64_t>::max();
      figures.allKnown = false;
    }
  }

  const DependencyGraph &graph;
  const SegmentPlan &plan;
  PartitionSummary &figures;
  std::vector<unsigned> home;
  std::vector<bool> accelerated;
  llvm::DenseSet<Value> leaving;
};
} // namespace

PartitionEstimator::PartitionEstimator(FunctionOpInterface function, TargetList &targets, const ModuleCosts *costs)
    : function(function), targets(targets), costs(costs), aliases(function), forced(FallbackFilter::fromVerdicts()) {}

const DependencyGraph &PartitionEstimator::getGraph(Block &block) {
  std::unique_ptr<DependencyGraph> &graph = graphs[&block];
  if (!graph)
    graph = std::make_unique<DependencyGraph>(block, aliases);
  return *graph;
}

FailureOr<Decisions> PartitionEstimator::decide(const DependencyGraph &graph, bool redecide) {
  // The regions of control flow that was planned as a whole have no verdicts.
  bool isAnnotated =
      llvm::all_of(graph.getOps(), [](Operation *op) { return op->hasAttr(InlayDialect::kVerdictAttr); });
  if (redecide || !isAnnotated)
    return TargetAssigner(targets, forced).decideBlock(graph);
  Decisions decisions;
  for (Operation *op : graph.getOps()) {
    FailureOr<Decision> decision = readDecision(op, targets);
    if (failed(decision))
      return failure();
    decisions.push_back(std::move(*decision));
  }
  return decisions;
}

LogicalResult PartitionEstimator::planBlock(Block &block, bool redecide, const PartitionInfo &info,
                                            PartitionSummary &figures) {
  const DependencyGraph &graph = getGraph(block);
  FailureOr<Decisions> decisions = decide(graph, redecide);
  if (failed(decisions))
    return failure();
  FailureOr<SegmentPlan> plan = planSegments(graph, targets, *decisions, info, costs);
  if (failed(plan))
    return failure();
  figures.segments += static_cast<int64_t>(plan->segments.size());
  figures.ops += graph.size();
  if (plan->times && &block == &function.front())
    figures.seconds = plan->times->chosen;
  for (const PlannedSegment &segment : plan->segments)
    if (targets.isAccelerator(segment.target)) {
      ++figures.acceleratedSegments;
      figures.acceleratedOps += static_cast<int64_t>(segment.ops.size());
    }
  BorderCounter(graph, *plan, targets, figures).run();
  for (auto [op, decision] : llvm::zip(graph.getOps(), *decisions))
    if (isControlFlow(op) && !targets.isAccelerator(decision.target) &&
        failed(planRegions(op, redecide, info, figures)))
      return failure();
  return success();
}

LogicalResult PartitionEstimator::planRegions(Operation *op, bool redecide, const PartitionInfo &info,
                                              PartitionSummary &figures) {
  for (Region &region : op->getRegions())
    if (!region.empty() && failed(planBlock(region.front(), redecide, info, figures)))
      return failure();
  return success();
}

FailureOr<PartitionSummary> PartitionEstimator::plan(const PartitionInfo &info) {
  PartitionSummary figures;
  if (failed(planBlock(function.front(), /*redecide=*/false, info, figures)))
    return failure();
  return figures;
}

FailureOr<PartitionSummary> PartitionEstimator::planWith(ArrayRef<std::string> kinds, const PartitionInfo &info) {
  ScopedDiagnosticHandler silence(function->getContext(), [](Diagnostic &) { return success(); });
  PartitionSummary figures;
  targets.assume(kinds);
  LogicalResult planned = planBlock(function.front(), /*redecide=*/true, info, figures);
  targets.assume({});
  if (failed(planned))
    return failure();
  return figures;
}

std::vector<std::pair<std::string, int64_t>> PartitionEstimator::findMissingKinds() {
  std::map<std::string, int64_t> kinds;
  function.getFunctionBody().walk([&](Operation *op) {
    if (op->hasAttr(InlayDialect::kVerdictAttr) && !isPinned(op) && forced.check(op).isSupported() &&
        isMissingCode(targets.ask(0, op).code))
      ++kinds[getReportedName(op).str()];
  });
  return {kinds.begin(), kinds.end()};
}

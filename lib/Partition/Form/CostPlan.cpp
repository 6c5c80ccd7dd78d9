// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the schedule graph of a block with modeled costs, has Scheduling/CostPlacement.cpp place it, and explains
// moves. Cost/ModeledTime.cpp computes the time of a finished partition.

#include "CostPlan.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Partition/OpWork.h"
#include "inlay/Scheduling/MinSizeSchedule.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

/// The default of Torch-TensorRT. It is used for the comparison if no minimum block size is given.
static constexpr int64_t kDefaultMinSize = 5;
/// Maximum number of nodes and values that are visited to explain moves.
static constexpr uint64_t kExplainWork = 4'000'000;

static std::vector<TargetOverheads> getTargetOverheads(const TargetList &targets, const ModuleCosts &model) {
  std::vector<TargetOverheads> costs;
  for (unsigned target = 0; target < targets.size(); ++target)
    costs.push_back({model.of(target).launchSeconds, model.of(target).in, model.of(target).out});
  return costs;
}

static std::vector<TargetIndex> getPlacedTargets(const ScheduleGraph &graph, const Schedule &schedule) {
  std::vector<TargetIndex> placedTargets(graph.size());
  for (const ScheduledSegment &segment : schedule.segments)
    for (NodeId node : segment.nodes)
      placedTargets[node] = segment.target;
  return placedTargets;
}

CostPlan::CostPlan(const DependencyGraph &graph, const ColocationGroups &groups, ArrayRef<unsigned> order,
                   const ScheduleGraph &schedule, const TargetList &targets, const ModuleCosts &model, int64_t minSize)
    : graph(graph), groups(groups), order(order), schedule(schedule), targets(targets), model(model),
      costs(schedule, getTargetOverheads(targets, model)) {
  addCompute();
  addValues();
  times.minSize = minSize > 1 ? minSize : kDefaultMinSize;
  ScheduleGraph accelerated = schedule, large = schedule;
  candidates = {getPlacedTargets(schedule, scheduleWithMinSize(accelerated, Strategy::Levels, 1)),
                placeOnHost(schedule),
                getPlacedTargets(schedule, scheduleWithMinSize(large, Strategy::Levels, times.minSize))};
}

void CostPlan::addCompute() {
  for (NodeId node = 0; node < schedule.size(); ++node)
    for (TargetIndex target = 0; target < targets.size(); ++target)
      if (costs.getAllowed(node) >> target & 1) {
        double seconds = 0;
        for (unsigned op : groups.getMembers(order[node]))
          seconds += model.estimate(graph.getOps()[op], target);
        costs.setCompute(node, target, seconds);
      }
}

void CostPlan::addValues() {
  std::vector<NodeId> nodeOf(groups.size());
  for (auto [node, group] : llvm::enumerate(order))
    nodeOf[group] = static_cast<NodeId>(node);
  // A floating op is cloned to its users, so they read its operands.
  std::vector<SmallVector<NodeId, 1>> nodesOf(graph.size());
  for (unsigned op = graph.size(); op-- > 0;) {
    if (!groups.floats(op)) {
      nodesOf[op].push_back(nodeOf[groups.getGroup(op)]);
      continue;
    }
    for (unsigned user : groups.getCloneRules().users[op])
      llvm::append_range(nodesOf[op], nodesOf[user]);
    llvm::sort(nodesOf[op]);
    nodesOf[op].erase(llvm::unique(nodesOf[op]), nodesOf[op].end());
  }
  llvm::MapVector<Value, std::vector<NodeId>> readers;
  for (unsigned op = 0; op < graph.size(); ++op)
    for (const auto &operand : graph.getOperands(op))
      if (mayCrossBorder(operand.value.getType()))
        llvm::append_range(readers[operand.value], nodesOf[op]);
  llvm::SmallDenseSet<Value> returned;
  for (Value value : graph.getBlock().getTerminator()->getOperands())
    if (mayCrossBorder(value.getType())) {
      returned.insert(value);
      readers.try_emplace(value);
    }
  for (auto &[value, readBy] : readers) {
    std::optional<unsigned> definer = graph.getDefiner(value);
    if (definer && groups.floats(*definer))
      continue;
    NodeId maker = definer ? nodeOf[groups.getGroup(*definer)] : CostGraph::kOutside;
    llvm::sort(readBy);
    readBy.erase(llvm::unique(readBy), readBy.end());
    llvm::erase(readBy, maker);
    costs.addValue(maker, estimateBytes(value.getType()), definer && returned.contains(value), readBy);
  }
}

void CostPlan::place(ScheduleGraph &result) {
  placed = placeByCost(costs, candidates);
  for (NodeId node = 0; node < schedule.size(); ++node) {
    result.nodes[node].target = placed.targets[node];
    result.nodes[node].neutral = false;
  }
}

PlacementTimes CostPlan::estimate(const Schedule &result) {
  std::vector<TargetIndex> placedTargets = getPlacedTargets(schedule, result);
  times.chosen = costs.countCompute(placedTargets) + costs.countTransfers(placedTargets);
  for (const ScheduledSegment &segment : result.segments)
    times.chosen += model.of(segment.target).launchSeconds;
  times.allAccelerated = costs.estimate(candidates[0]);
  times.allHost = costs.estimate(candidates[1]);
  times.minSized = costs.estimate(candidates[2]);
  times.lowerBound = placed.lowerBound;
  return times;
}

//===-- Reasons -------------------------------------------------------------------------------------------------===//

std::optional<double> CostPlan::countBorder(ArrayRef<NodeId> nodes, TargetIndex from) {
  llvm::SmallSetVector<unsigned, 16> values;
  for (NodeId node : nodes)
    values.insert_range(valuesOf[node]);
  for (unsigned value : values)
    work += costs.values[value].lastReader - costs.values[value].firstReader + 1;
  work += schedule.size() + schedule.edgeCount();
  if (work > kExplainWork)
    return std::nullopt;
  auto count = [&] {
    double sum = costs.countLaunches(placed.targets);
    for (unsigned value : values)
      sum += costs.countTransfers(costs.values[value], placed.targets);
    return sum;
  };
  TargetIndex to = placed.targets[nodes.front()];
  double here = count();
  for (NodeId node : nodes)
    placed.targets[node] = from;
  double there = count();
  for (NodeId node : nodes)
    placed.targets[node] = to;
  return there - here;
}

std::string CostPlan::describeMove(ArrayRef<NodeId> nodes) {
  TargetIndex from = schedule.nodes[nodes.front()].target, to = placed.targets[nodes.front()];
  double there = 0, here = 0;
  for (NodeId node : nodes) {
    there += costs.getCompute(node, from);
    here += costs.getCompute(node, to);
  }
  std::string text = targets.getName(to).str() + " " + formatSeconds(here) + " here, " + targets.getName(from).str() +
                     " " + formatSeconds(there);
  std::optional<double> border = countBorder(nodes, from);
  if (!border)
    return text + " + launch and transfers";
  // If moving back would save launches or transfers, the compute time alone is the reason.
  return *border > 0 ? text + " + " + formatSeconds(*border) + " of launch and transfers" : text;
}

/// Finds one explanation for each set of connected nodes with the same move.
void CostPlan::explainMoves() {
  constexpr unsigned kNoMove = ~0u;
  moveOf.assign(schedule.size(), kNoMove);
  auto isSameMove = [&](NodeId a, NodeId b) {
    return placed.targets[a] == placed.targets[b] && schedule.nodes[a].target == schedule.nodes[b].target;
  };
  valuesOf.resize(schedule.size());
  for (auto [number, value] : llvm::enumerate(costs.values)) {
    if (value.maker != CostGraph::kOutside)
      valuesOf[value.maker].push_back(static_cast<unsigned>(number));
    for (uint32_t at = value.firstReader; at < value.lastReader; ++at)
      valuesOf[costs.readers[at]].push_back(static_cast<unsigned>(number));
  }
  for (NodeId start = 0; start < schedule.size(); ++start) {
    if (placed.targets[start] == schedule.nodes[start].target || moveOf[start] != kNoMove)
      continue;
    std::vector<NodeId> nodes = {start};
    moveOf[start] = static_cast<unsigned>(explanations.size());
    for (size_t at = 0; at < nodes.size(); ++at)
      for (ScheduleGraph::Range next : {schedule.preds(nodes[at]), schedule.succs(nodes[at])})
        for (NodeId node : next)
          if (moveOf[node] == kNoMove && isSameMove(node, start)) {
            moveOf[node] = moveOf[start];
            nodes.push_back(node);
          }
    explanations.push_back(describeMove(nodes));
  }
}

const std::string &CostPlan::explain(NodeId node) {
  if (moveOf.empty())
    explainMoves();
  return explanations[moveOf[node]];
}

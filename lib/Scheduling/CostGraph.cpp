// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores the costs of nodes and values and counts the cost of a given placement. CostPlacement.cpp searches the
// cheapest one.

#include "inlay/Scheduling/CostPlacement.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>

using namespace inlay;

CostGraph::CostGraph(const ScheduleGraph &graph, std::vector<TargetOverheads> targets)
    : graph(graph), targets(std::move(targets)), compute(size_t(graph.size()) * this->targets.size()), assigned(graph) {
  for (ScheduleNode &node : assigned.nodes)
    node.neutral = false;
}

void CostGraph::addValue(NodeId maker, double bytes, bool isReturned, const std::vector<NodeId> &readBy) {
  uint32_t first = static_cast<uint32_t>(readers.size());
  readers.insert(readers.end(), readBy.begin(), readBy.end());
  values.push_back({maker, isReturned, bytes, first, static_cast<uint32_t>(readers.size())});
}

TargetSet CostGraph::getAllowed(NodeId node) const {
  const ScheduleNode &info = graph.nodes[node];
  TargetSet ownTarget = TargetSet(1) << info.target;
  return info.pinned ? ownTarget : ownTarget | (info.allowed & ((TargetSet(2) << (targets.size() - 1)) - 1));
}

double CostGraph::countCompute(const std::vector<TargetIndex> &placed) const {
  double sum = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    sum += getCompute(node, placed[node]);
  return sum;
}

double CostGraph::countTransfers(const Value &value, const std::vector<TargetIndex> &placed) const {
  double sum = 0;
  TargetSet read = 0;
  for (uint32_t at = value.firstReader; at < value.lastReader; ++at)
    read |= TargetSet(1) << placed[readers[at]];
  if (value.maker != kOutside) {
    TargetIndex made = placed[value.maker];
    read &= ~(TargetSet(1) << made);
    if (read || value.isReturned)
      sum += targets[made].out.estimate(value.bytes);
  }
  for (TargetIndex target = 0; target < targets.size(); ++target)
    if (read >> target & 1)
      sum += targets[target].in.estimate(value.bytes);
  return sum;
}

double CostGraph::countTransfers(const std::vector<TargetIndex> &placed) const {
  double sum = 0;
  for (const Value &value : values)
    sum += countTransfers(value, placed);
  return sum;
}

double CostGraph::countLaunches(const std::vector<TargetIndex> &placed) const {
  bool anyIsolated = false;
  for (NodeId node = 0; node < graph.size(); ++node) {
    assigned.nodes[node].target = placed[node];
    anyIsolated |= assigned.nodes[node].isolatedOnHost;
  }
  BoundedPlacement levels = placeByLevels(assigned);
  double sum = 0;
  if (!anyIsolated)
    for (TargetIndex target : levels.placement.targets)
      sum += targets[target].launchSeconds;
  else
    for (const ScheduledSegment &segment : finishSchedule(assigned, std::move(levels)).segments)
      sum += targets[segment.target].launchSeconds;
  return sum;
}

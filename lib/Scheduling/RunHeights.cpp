// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes a lower bound of the number of segments for paths. BeamSchedule.cpp uses it to guide its search.

#include "RunHeights.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>

using namespace inlay;

static bool hasOneTarget(TargetSet set) { return (set & (set - 1)) == 0; }

uint32_t RunHeights::maxHeight() const { return height.empty() ? 0 : *std::max_element(height.begin(), height.end()); }

RunHeights inlay::computeRunHeights(const ScheduleGraph &graph, TargetSet counted) {
  RunHeights result{std::vector<uint32_t>(graph.size()), std::vector<TargetSet>(graph.size())};
  for (NodeId node = graph.size(); node-- > 0;) {
    uint32_t height = 0;
    TargetSet firstTargets = 0;
    for (NodeId succ : graph.succs(node)) {
      if (result.height[succ] > height) {
        height = result.height[succ];
        firstTargets = 0;
      }
      if (result.height[succ] == height)
        firstTargets |= result.firstTargets[succ];
    }
    TargetSet ownTarget = TargetSet(1) << graph.nodes[node].target;
    if (isIsolated(graph, node) || !(graph.nodes[node].neutral || (counted & ownTarget))) {
      firstTargets = ~TargetSet(0);
    } else if (!graph.nodes[node].neutral) {
      height += firstTargets != ownTarget; // Some path continues with another target.
      firstTargets = ownTarget;
    }
    result.height[node] = height;
    result.firstTargets[node] = firstTargets;
  }
  return result;
}

/// Returns the number of runs of the longest path, plus one if several paths are that long and start with different
/// targets.
static uint32_t countRuns(const RunHeights &heights) {
  uint32_t longest = heights.maxHeight();
  TargetSet firstTargets = 0;
  for (size_t node = 0; node < heights.height.size(); ++node)
    if (heights.height[node] == longest && hasOneTarget(heights.firstTargets[node]))
      firstTargets |= heights.firstTargets[node];
  return longest + !hasOneTarget(firstTargets);
}

uint32_t inlay::boundSequence(const ScheduleGraph &graph, const RunHeights &heights) {
  constexpr size_t kMaxPairs = 6; // The number of pairs of four targets.
  TargetSet seen = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (!graph.nodes[node].neutral && !isIsolated(graph, node))
      seen |= TargetSet(1) << graph.nodes[node].target;
  uint32_t bound = countRuns(heights), sum = 0;
  std::vector<std::pair<TargetSet, uint32_t>> runs;
  for (TargetIndex target = 0; target < kMaxTargets; ++target)
    if (TargetSet single = TargetSet(1) << target; seen & single) {
      runs.emplace_back(single, computeRunHeights(graph, single).maxHeight());
      sum += runs.back().second;
    }
  bound = std::max(bound, sum);
  if (runs.size() * (runs.size() - 1) / 2 > kMaxPairs)
    return bound;
  for (size_t first = 0; first < runs.size(); ++first)
    for (size_t second = first + 1; second < runs.size(); ++second) {
      uint32_t others = sum - runs[first].second - runs[second].second;
      bound = std::max(bound, others + countRuns(computeRunHeights(graph, runs[first].first | runs[second].first)));
    }
  return bound;
}

uint32_t inlay::countIsolated(const ScheduleGraph &graph) {
  uint32_t count = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    count += isIsolated(graph, node);
  return count;
}

uint32_t inlay::boundSegments(const ScheduleGraph &graph) {
  return boundSequence(graph, computeRunHeights(graph, ~TargetSet(0))) + countIsolated(graph);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunHeights.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>

using namespace inlay;

static bool isOneColour(ColourSet set) { return (set & (set - 1)) == 0; }

uint32_t RunHeights::most() const { return height.empty() ? 0 : *std::max_element(height.begin(), height.end()); }

RunHeights inlay::computeRunHeights(const ScheduleGraph &graph, ColourSet counted) {
  RunHeights result{std::vector<uint32_t>(graph.size()), std::vector<ColourSet>(graph.size())};
  for (NodeId node = graph.size(); node-- > 0;) {
    uint32_t height = 0;
    ColourSet heads = 0;
    for (NodeId succ : graph.succs(node)) {
      if (result.height[succ] > height) {
        height = result.height[succ];
        heads = 0;
      }
      if (result.height[succ] == height)
        heads |= result.heads[succ];
    }
    ColourSet own = ColourSet(1) << graph.nodes[node].colour;
    if (isApart(graph, node) || !(graph.nodes[node].neutral || (counted & own))) {
      heads = ~ColourSet(0);
    } else if (!graph.nodes[node].neutral) {
      height += heads != own; // some path goes on in another colour
      heads = own;
    }
    result.height[node] = height;
    result.heads[node] = heads;
  }
  return result;
}

/// The longest path, and one more where such paths start with different colours.
static uint32_t countRuns(const RunHeights &heights) {
  uint32_t most = heights.most();
  ColourSet heads = 0;
  for (size_t node = 0; node < heights.height.size(); ++node)
    if (heights.height[node] == most && isOneColour(heights.heads[node]))
      heads |= heights.heads[node];
  return most + !isOneColour(heads);
}

uint32_t inlay::boundWord(const ScheduleGraph &graph, const RunHeights &heights) {
  constexpr size_t kMostPairs = 6; // of up to four colours
  ColourSet seen = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (!graph.nodes[node].neutral && !isApart(graph, node))
      seen |= ColourSet(1) << graph.nodes[node].colour;
  uint32_t bound = countRuns(heights), sum = 0;
  std::vector<std::pair<ColourSet, uint32_t>> runs;
  for (Colour colour = 0; colour < 64; ++colour)
    if (ColourSet one = ColourSet(1) << colour; seen & one) {
      runs.emplace_back(one, computeRunHeights(graph, one).most());
      sum += runs.back().second;
    }
  bound = std::max(bound, sum);
  if (runs.size() * (runs.size() - 1) / 2 > kMostPairs)
    return bound;
  for (size_t first = 0; first < runs.size(); ++first)
    for (size_t second = first + 1; second < runs.size(); ++second) {
      uint32_t others = sum - runs[first].second - runs[second].second;
      bound = std::max(bound, others + countRuns(computeRunHeights(graph, runs[first].first | runs[second].first)));
    }
  return bound;
}

uint32_t inlay::countApart(const ScheduleGraph &graph) {
  uint32_t count = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    count += isApart(graph, node);
  return count;
}

uint32_t inlay::boundSegments(const ScheduleGraph &graph) {
  return boundWord(graph, computeRunHeights(graph, ~ColourSet(0))) + countApart(graph);
}

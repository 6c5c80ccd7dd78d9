// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/CostPlacement.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>

using namespace inlay;

CostGraph::CostGraph(const ScheduleGraph &graph, std::vector<ColourCosts> colours)
    : graph(graph), colours(std::move(colours)), compute(size_t(graph.size()) * this->colours.size()), coloured(graph) {
  for (ScheduleNode &node : coloured.nodes)
    node.neutral = false;
}

void CostGraph::addValue(NodeId maker, double bytes, bool isReturned, const std::vector<NodeId> &readBy) {
  uint32_t first = static_cast<uint32_t>(readers.size());
  readers.insert(readers.end(), readBy.begin(), readBy.end());
  values.push_back({maker, isReturned, bytes, first, static_cast<uint32_t>(readers.size())});
}

ColourSet CostGraph::getAllowed(NodeId node) const {
  const ScheduleNode &info = graph.nodes[node];
  ColourSet own = ColourSet(1) << info.colour;
  return info.pinned ? own : own | (info.allowed & ((ColourSet(2) << (colours.size() - 1)) - 1));
}

double CostGraph::countCompute(const std::vector<Colour> &placed) const {
  double sum = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    sum += getCompute(node, placed[node]);
  return sum;
}

double CostGraph::countTransfers(const Value &value, const std::vector<Colour> &placed) const {
  double sum = 0;
  ColourSet read = 0;
  for (uint32_t at = value.firstReader; at < value.lastReader; ++at)
    read |= ColourSet(1) << placed[readers[at]];
  if (value.maker != kOutside) {
    Colour made = placed[value.maker];
    read &= ~(ColourSet(1) << made);
    if (read || value.isReturned)
      sum += colours[made].out.estimate(value.bytes);
  }
  for (Colour colour = 0; colour < colours.size(); ++colour)
    if (read >> colour & 1)
      sum += colours[colour].in.estimate(value.bytes);
  return sum;
}

double CostGraph::countTransfers(const std::vector<Colour> &placed) const {
  double sum = 0;
  for (const Value &value : values)
    sum += countTransfers(value, placed);
  return sum;
}

double CostGraph::countLaunches(const std::vector<Colour> &placed) const {
  bool anyOwn = false;
  for (NodeId node = 0; node < graph.size(); ++node) {
    coloured.nodes[node].colour = placed[node];
    anyOwn |= coloured.nodes[node].own;
  }
  BoundedPlacement levels = placeByLevels(coloured);
  double sum = 0;
  if (!anyOwn)
    for (Colour colour : levels.placement.colours)
      sum += colours[colour].launchSeconds;
  else
    for (const ScheduledSegment &segment : finishSchedule(coloured, std::move(levels)).segments)
      sum += colours[segment.colour].launchSeconds;
  return sum;
}

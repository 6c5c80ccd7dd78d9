// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/LevelSchedule.h"

#include <algorithm>
#include <limits>

using namespace inlay;

namespace {
constexpr NodeId kNone = std::numeric_limits<NodeId>::max();
enum Side : uint8_t { First, Second, Either };

/// The level of each node and the predecessor that attains it. Levels count from 1; level 1 has the starting side.
struct Levels {
  std::vector<uint32_t> level;
  std::vector<NodeId> from;
  /// Whether the path to the node starts on level 2, and so has a run less than levels.
  std::vector<bool> late;
  Side start;
  uint32_t last = 0;
  bool firstIsEmpty = true;

  uint32_t count() const { return last - firstIsEmpty; }
  bool matches(Side side, uint32_t at) const { return side == Either || (side == start) == (at % 2 == 1); }
};
} // namespace

static Levels computeLevels(const ScheduleGraph &graph, const std::vector<Side> &sides, Side start) {
  Levels levels{std::vector<uint32_t>(graph.size()), std::vector<NodeId>(graph.size(), kNone),
                std::vector<bool>(graph.size()), start};
  for (NodeId node = 0; node < graph.size(); ++node) {
    uint32_t at = 1;
    for (NodeId pred : graph.preds(node))
      if (NodeId best = levels.from[node];
          best == kNone || levels.level[pred] > at || (levels.level[pred] == at && levels.late[best])) {
        at = levels.level[pred];
        levels.from[node] = pred;
      }
    bool climbs = !levels.matches(sides[node], at);
    at += climbs;
    levels.late[node] = levels.from[node] == kNone ? climbs : levels.late[levels.from[node]];
    levels.level[node] = at;
    levels.last = std::max(levels.last, at);
    levels.firstIsEmpty &= at > 1;
  }
  return levels;
}

static std::vector<NodeId> findWitness(const Levels &levels) {
  std::vector<NodeId> path;
  NodeId last = kNone;
  for (NodeId node = 0; node < levels.level.size(); ++node)
    if (levels.level[node] == levels.last && (last == kNone || (levels.late[last] && !levels.late[node])))
      last = node;
  for (; last != kNone; last = levels.from[last])
    path.push_back(last);
  std::reverse(path.begin(), path.end());
  return path;
}

static BoundedPlacement toPlacement(const Levels &levels, Colour first, Colour second) {
  BoundedPlacement result;
  for (uint32_t at = 1; at <= levels.last; ++at)
    result.placement.colours.push_back(levels.matches(First, at) ? first : second);
  result.placement.segment = levels.level;
  for (uint32_t &at : result.placement.segment)
    --at;
  result.placement.compact();
  result.lowerBound = static_cast<uint32_t>(result.placement.colours.size());
  result.witness = findWitness(levels);
  return result;
}

//===-- Segments of their own -----------------------------------------------------------------------------------===//

/// Splits the nodes of one segment into runs and single nodes, by the level pass with the single ones as a side of
/// their own. `scratch` is as long as the graph and zero outside of calls.
static void splitSegment(const ScheduleGraph &graph, const std::vector<NodeId> &nodes, Colour colour,
                         std::vector<uint32_t> &scratch, std::vector<ScheduledSegment> &segments) {
  auto walk = [&](bool ownFirst) {
    uint32_t last = 0;
    for (NodeId node : nodes) {
      uint32_t at = 1;
      for (NodeId pred : graph.preds(node))
        at = std::max(at, scratch[pred]);
      at += graph.isOwn(node, colour) != ((at % 2 == 1) == ownFirst);
      scratch[node] = at;
      last = std::max(last, at);
    }
    return last;
  };
  auto reset = [&] {
    for (NodeId node : nodes)
      scratch[node] = 0;
  };
  auto runsOfOthers = [&](bool ownFirst) {
    std::vector<bool> used(walk(ownFirst) + 1);
    for (NodeId node : nodes)
      if (!graph.isOwn(node, colour))
        used[scratch[node]] = true;
    reset();
    return std::count(used.begin(), used.end(), true);
  };
  bool ownFirst = runsOfOthers(true) < runsOfOthers(false);
  std::vector<std::vector<NodeId>> levels(walk(ownFirst) + 1);
  for (NodeId node : nodes)
    levels[scratch[node]].push_back(node);
  reset();
  for (std::vector<NodeId> &level : levels) {
    if (level.empty())
      continue;
    if (!graph.isOwn(level.front(), colour))
      segments.push_back({colour, false, std::move(level)});
    else
      for (NodeId node : level)
        segments.push_back({colour, true, {node}});
  }
}

Schedule inlay::finishSchedule(const ScheduleGraph &graph, BoundedPlacement placed) {
  placed.placement.compact();
  Schedule schedule;
  schedule.lowerBound = placed.lowerBound;
  schedule.witness = std::move(placed.witness);
  std::vector<std::vector<NodeId>> members(placed.placement.colours.size());
  for (NodeId node = 0; node < graph.size(); ++node)
    members[placed.placement.segment[node]].push_back(node);
  bool anyOwn = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                            [](const ScheduleNode &node) { return node.own || node.apart; });
  if (schedule.lowerBound > 0 && anyOwn)
    schedule.lowerBound = std::max(schedule.lowerBound, boundSegments(graph));
  std::vector<uint32_t> scratch(graph.size());
  for (size_t at = 0; at < members.size(); ++at) {
    Colour colour = placed.placement.colours[at];
    bool hasOwn =
        std::any_of(members[at].begin(), members[at].end(), [&](NodeId node) { return graph.isOwn(node, colour); });
    if (hasOwn)
      splitSegment(graph, members[at], colour, scratch, schedule.segments);
    else
      schedule.segments.push_back({colour, false, std::move(members[at])});
  }
  return schedule;
}

//===-- Neutral nodes ------------------------------------------------------------------------------------------===//

void inlay::settleNeutral(const ScheduleGraph &graph, Placement &placement) {
  constexpr uint32_t kReach = 16; // how many segments further on a place is looked for
  auto onAccelerator = [&](uint32_t at) { return graph.isAccelerator(placement.colours[at]); };
  for (NodeId node = graph.size(); node-- > 0;) {
    uint32_t at = placement.segment[node];
    if (!graph.nodes[node].neutral || onAccelerator(at))
      continue;
    uint32_t end = static_cast<uint32_t>(placement.colours.size());
    bool feedsAccelerator = false, continuesHost = false;
    for (NodeId succ : graph.succs(node)) {
      end = std::min(end, placement.segment[succ] + 1);
      feedsAccelerator |= onAccelerator(placement.segment[succ]);
    }
    for (NodeId pred : graph.preds(node))
      continuesHost |= !onAccelerator(placement.segment[pred]);
    if (continuesHost && !feedsAccelerator)
      continue;
    for (uint32_t to = at + 1; to < std::min(end, at + kReach); ++to)
      if (onAccelerator(to) && (graph.nodes[node].allowed >> placement.colours[to] & 1)) {
        placement.segment[node] = to;
        break;
      }
  }
}

//===-- Late nodes ---------------------------------------------------------------------------------------------===//

void inlay::sinkLate(const ScheduleGraph &graph, Placement &placement, uint64_t least) {
  std::vector<uint64_t> weight = placement.weights(graph);
  for (NodeId node = graph.size(); node-- > 0;) {
    const ScheduleNode &info = graph.nodes[node];
    uint32_t at = placement.segment[node];
    bool spared = !graph.isAccelerator(placement.colours[at]) || weight[at] >= least + info.weight;
    if (!info.late || !spared || graph.succs(node).empty())
      continue;
    uint32_t to = static_cast<uint32_t>(placement.colours.size());
    for (NodeId succ : graph.succs(node))
      to = std::min(to, placement.segment[succ]);
    auto takes = [&](Colour colour) {
      return colour == placement.colours[at] || (info.neutral && (info.allowed >> colour & 1));
    };
    while (to > at && !takes(placement.colours[to]))
      --to;
    weight[at] -= info.weight;
    weight[to] += info.weight;
    placement.segment[node] = to;
  }
}

//===-- Entry points -------------------------------------------------------------------------------------------===//

static std::vector<Colour> findColours(const ScheduleGraph &graph) {
  ColourSet seen = 0;
  for (const ScheduleNode &node : graph.nodes)
    seen |= ColourSet(1) << node.colour;
  std::vector<Colour> colours;
  for (Colour colour = 0; colour < 64; ++colour)
    if (seen >> colour & 1)
      colours.push_back(colour);
  return colours;
}

BoundedPlacement inlay::placeByLevels(const ScheduleGraph &graph) {
  std::vector<Colour> colours = findColours(graph);
  if (colours.size() > 2)
    return placeByWords(graph);
  if (colours.size() < 2) {
    std::vector<NodeId> witness;
    if (graph.size())
      witness.push_back(0);
    return {{std::vector<uint32_t>(graph.size()), colours}, static_cast<uint32_t>(colours.size()), witness};
  }
  ColourSet both = ColourSet(1) << colours[0] | ColourSet(1) << colours[1];
  std::vector<Side> sides;
  sides.reserve(graph.size());
  bool hasOwn = false;
  for (const ScheduleNode &node : graph.nodes) {
    sides.push_back(node.neutral && (node.allowed & both) == both ? Either
                    : node.colour == colours[0]                   ? First
                                                                  : Second);
    hasOwn |= node.own || node.apart;
  }
  BoundedPlacement first = toPlacement(computeLevels(graph, sides, First), colours[0], colours[1]);
  BoundedPlacement second = toPlacement(computeLevels(graph, sides, Second), colours[0], colours[1]);
  uint32_t bound = std::min(first.lowerBound, second.lowerBound);
  first.lowerBound = second.lowerBound = bound;
  size_t firstCount = first.placement.colours.size(), secondCount = second.placement.colours.size();
  if (hasOwn) {
    firstCount = finishSchedule(graph, first).segments.size();
    secondCount = finishSchedule(graph, second).segments.size();
  }
  BoundedPlacement &best = firstCount < secondCount ? first : second;
  settleNeutral(graph, best.placement);
  return std::move(best);
}

BoundedPlacement inlay::placeInOrder(const ScheduleGraph &graph) {
  BoundedPlacement result;
  Placement &placement = result.placement;
  for (const ScheduleNode &node : graph.nodes) {
    bool joins = !placement.colours.empty() && (placement.colours.back() == node.colour ||
                                                (node.neutral && (node.allowed >> placement.colours.back() & 1)));
    if (!joins)
      placement.colours.push_back(node.colour);
    placement.segment.push_back(static_cast<uint32_t>(placement.colours.size() - 1));
  }
  return result;
}

Schedule inlay::scheduleByLevels(const ScheduleGraph &graph) { return finishSchedule(graph, placeByLevels(graph)); }

Schedule inlay::scheduleInOrder(const ScheduleGraph &graph) { return finishSchedule(graph, placeInOrder(graph)); }

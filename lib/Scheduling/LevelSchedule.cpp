// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms the fewest segments for nodes with given targets, in passes by level. BeamSchedule.cpp improves it for three
// and more targets. SlackPlacement.cpp then moves nodes to reduce the bytes at borders.

#include "inlay/Scheduling/LevelSchedule.h"

#include "RunHeights.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace inlay;

namespace {
constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
enum Side : uint8_t { First, Second, Either };

/// The level of each node. Levels count from 1. Level 1 has the starting side.
struct Levels {
  std::vector<uint32_t> level;
  /// For each node, true if every longest path to it starts on level 2 and thus has one run less than there are levels.
  std::vector<bool> startsSecond;
  Side start;
  uint32_t last = 0;

  bool matches(Side side, uint32_t at) const { return side == Either || (side == start) == (at % 2 == 1); }
};
} // namespace

/// Returns the predecessor that determines the level of the node, or kNoNode.
static NodeId findCause(const ScheduleGraph &graph, const Levels &levels, NodeId node) {
  NodeId best = kNoNode;
  for (NodeId pred : graph.preds(node))
    if (best == kNoNode || levels.level[pred] > levels.level[best] ||
        (levels.level[pred] == levels.level[best] && levels.startsSecond[best] && !levels.startsSecond[pred]))
      best = pred;
  return best;
}

static Levels computeLevels(const ScheduleGraph &graph, const std::vector<Side> &sides, Side start) {
  Levels levels{std::vector<uint32_t>(graph.size()), std::vector<bool>(graph.size()), start};
  for (NodeId node = 0; node < graph.size(); ++node) {
    NodeId cause = findCause(graph, levels, node);
    uint32_t at = cause == kNoNode ? 1 : levels.level[cause];
    bool climbs = !levels.matches(sides[node], at);
    levels.startsSecond[node] = cause == kNoNode ? climbs : levels.startsSecond[cause];
    levels.level[node] = at + climbs;
    levels.last = std::max(levels.last, at + climbs);
  }
  return levels;
}

static std::vector<NodeId> findWitness(const ScheduleGraph &graph, const Levels &levels) {
  std::vector<NodeId> path;
  NodeId last = kNoNode;
  for (NodeId node = 0; node < levels.level.size(); ++node)
    if (levels.level[node] == levels.last &&
        (last == kNoNode || (levels.startsSecond[last] && !levels.startsSecond[node])))
      last = node;
  for (; last != kNoNode; last = findCause(graph, levels, last))
    path.push_back(last);
  std::reverse(path.begin(), path.end());
  return path;
}

static BoundedPlacement toPlacement(const ScheduleGraph &graph, Levels levels, TargetIndex first, TargetIndex second) {
  BoundedPlacement result;
  result.witness = findWitness(graph, levels);
  for (uint32_t at = 1; at <= levels.last; ++at)
    result.placement.targets.push_back(levels.matches(First, at) ? first : second);
  result.placement.segment = std::move(levels.level);
  for (uint32_t &at : result.placement.segment)
    --at;
  result.placement.compact();
  result.lowerBound = static_cast<uint32_t>(result.placement.targets.size());
  return result;
}

//===-- Isolated nodes ------------------------------------------------------------------------------------------===//

/// Splits the nodes of one segment into runs and isolated nodes, by the level pass with isolated nodes as a separate
/// side. `scratch` is as long as the graph. It is zero before and after the call.
static void splitSegment(const ScheduleGraph &graph, const std::vector<NodeId> &nodes, TargetIndex target,
                         std::vector<uint32_t> &scratch, std::vector<ScheduledSegment> &segments) {
  auto walk = [&](bool isolatedFirst) {
    uint32_t last = 0;
    for (NodeId node : nodes) {
      uint32_t at = 1;
      for (NodeId pred : graph.preds(node))
        at = std::max(at, scratch[pred]);
      at += graph.isIsolatedOn(node, target) != ((at % 2 == 1) == isolatedFirst);
      scratch[node] = at;
      last = std::max(last, at);
    }
    return last;
  };
  auto reset = [&] {
    for (NodeId node : nodes)
      scratch[node] = 0;
  };
  auto runsOfOthers = [&](bool isolatedFirst) {
    std::vector<bool> used(walk(isolatedFirst) + 1);
    for (NodeId node : nodes)
      if (!graph.isIsolatedOn(node, target))
        used[scratch[node]] = true;
    reset();
    return std::count(used.begin(), used.end(), true);
  };
  bool isolatedFirst = runsOfOthers(true) < runsOfOthers(false);
  std::vector<std::vector<NodeId>> levels(walk(isolatedFirst) + 1);
  for (NodeId node : nodes)
    levels[scratch[node]].push_back(node);
  reset();
  for (std::vector<NodeId> &level : levels) {
    if (level.empty())
      continue;
    if (!graph.isIsolatedOn(level.front(), target))
      segments.push_back({target, false, std::move(level)});
    else
      for (NodeId node : level)
        segments.push_back({target, true, {node}});
  }
}

Schedule inlay::finishSchedule(const ScheduleGraph &graph, BoundedPlacement placed) {
  placed.placement.compact();
  Schedule schedule;
  schedule.lowerBound = placed.lowerBound;
  schedule.witness = std::move(placed.witness);
  std::vector<std::vector<NodeId>> members(placed.placement.targets.size());
  std::vector<uint32_t> sizes(members.size());
  for (uint32_t at : placed.placement.segment)
    ++sizes[at];
  for (size_t at = 0; at < members.size(); ++at)
    members[at].reserve(sizes[at]);
  schedule.segments.reserve(members.size());
  for (NodeId node = 0; node < graph.size(); ++node)
    members[placed.placement.segment[node]].push_back(node);
  bool anyIsolated = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const ScheduleNode &node) { return node.isolatedOnHost || node.isolated; });
  if (schedule.lowerBound > 0 && anyIsolated)
    schedule.lowerBound = std::max(schedule.lowerBound, boundSegments(graph));
  std::vector<uint32_t> scratch(graph.size());
  for (size_t at = 0; at < members.size(); ++at) {
    TargetIndex target = placed.placement.targets[at];
    bool hasIsolated = anyIsolated && std::any_of(members[at].begin(), members[at].end(),
                                                  [&](NodeId node) { return graph.isIsolatedOn(node, target); });
    if (hasIsolated)
      splitSegment(graph, members[at], target, scratch, schedule.segments);
    else
      schedule.segments.push_back({target, false, std::move(members[at])});
  }
  return schedule;
}

//===-- Neutral nodes ------------------------------------------------------------------------------------------===//

void inlay::settleNeutral(const ScheduleGraph &graph, Placement &placement) {
  constexpr uint32_t kReach = 16; // Maximum distance, in segments, at which a place is searched.
  auto onAccelerator = [&](uint32_t at) { return graph.isAccelerator(placement.targets[at]); };
  for (NodeId node = graph.size(); node-- > 0;) {
    uint32_t at = placement.segment[node];
    if (!graph.nodes[node].neutral || onAccelerator(at))
      continue;
    uint32_t end = static_cast<uint32_t>(placement.targets.size());
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
      if (onAccelerator(to) && (graph.nodes[node].allowed >> placement.targets[to] & 1)) {
        placement.segment[node] = to;
        break;
      }
  }
}

//===-- Sinkable nodes ------------------------------------------------------------------------------------------===//

void inlay::sinkToUsers(const ScheduleGraph &graph, Placement &placement, uint64_t minSize) {
  std::vector<uint64_t> opCount = placement.opCounts(graph);
  for (NodeId node = graph.size(); node-- > 0;) {
    const ScheduleNode &info = graph.nodes[node];
    uint32_t at = placement.segment[node];
    bool spared = !graph.isAccelerator(placement.targets[at]) || opCount[at] >= minSize + info.opCount;
    if (!info.sinkable || !spared || graph.succs(node).empty())
      continue;
    uint32_t to = static_cast<uint32_t>(placement.targets.size());
    for (NodeId succ : graph.succs(node))
      to = std::min(to, placement.segment[succ]);
    auto takes = [&](TargetIndex target) {
      return target == placement.targets[at] || (info.neutral && (info.allowed >> target & 1));
    };
    while (to > at && !takes(placement.targets[to]))
      --to;
    opCount[at] -= info.opCount;
    opCount[to] += info.opCount;
    placement.segment[node] = to;
  }
}

//===-- Entry points -------------------------------------------------------------------------------------------===//

static std::vector<TargetIndex> findTargetPair(const ScheduleGraph &graph) {
  TargetSet seen = 0;
  for (const ScheduleNode &node : graph.nodes)
    seen |= TargetSet(1) << node.target;
  std::vector<TargetIndex> targets;
  for (TargetIndex target = 0; target < kMaxTargets; ++target)
    if (seen >> target & 1)
      targets.push_back(target);
  return targets;
}

/// Returns a rank, which is lower for better placements. With isolated nodes, the least total is NP-hard to find, so
/// the number of accelerator segments, which is exact, is compared first. Without isolated nodes, one placement has
/// both the fewest segments and the fewest accelerator segments.
static std::pair<size_t, size_t> rank(const ScheduleGraph &graph, const BoundedPlacement &placed, bool hasIsolated) {
  const std::vector<TargetIndex> &targets = placed.placement.targets;
  size_t total = hasIsolated ? finishSchedule(graph, placed).segments.size() : targets.size();
  size_t accelerated = static_cast<size_t>(
      std::count_if(targets.begin(), targets.end(), [&](TargetIndex target) { return graph.isAccelerator(target); }));
  return hasIsolated ? std::pair(accelerated, total) : std::pair(total, accelerated);
}

/// Returns the placements of both starting sides, the better one first. The other one is included only if it is as
/// good.
static std::vector<BoundedPlacement> placeFromEitherSide(const ScheduleGraph &graph, TargetIndex first,
                                                         TargetIndex second) {
  TargetSet both = TargetSet(1) << first | TargetSet(1) << second;
  std::vector<Side> sides;
  sides.reserve(graph.size());
  uint32_t candidates = 0;
  for (const ScheduleNode &node : graph.nodes) {
    sides.push_back(node.neutral && (node.allowed & both) == both ? Either : node.target == first ? First : Second);
    candidates += node.isolatedOnHost || node.isolated;
  }
  std::vector<BoundedPlacement> placed;
  std::vector<std::pair<size_t, size_t>> ranks;
  for (Side start : {Second, First}) {
    placed.push_back(toPlacement(graph, computeLevels(graph, sides, start), first, second));
    ranks.push_back(rank(graph, placed.back(), candidates > 0));
  }
  placed[0].lowerBound = placed[1].lowerBound = std::min(placed[0].lowerBound, placed[1].lowerBound);
  if (ranks[1] < ranks[0]) {
    std::swap(placed[0], placed[1]);
    std::swap(ranks[0], ranks[1]);
  }
  if (ranks[0] != ranks[1])
    placed.pop_back();
  uint32_t isolatedCount = candidates ? countIsolated(graph) : 0;
  if (isolatedCount) {
    BoundedPlacement shorter{{}, placed[0].lowerBound, placed[0].witness};
    uint32_t steps = static_cast<uint32_t>(ranks[0].second) - isolatedCount;
    if (placeByShorterSequence(graph, steps, shorter.placement) && rank(graph, shorter, true) < ranks[0])
      return {shorter};
  }
  return placed;
}

std::vector<BoundedPlacement> inlay::placeByLevelsFromEither(const ScheduleGraph &graph) {
  std::vector<TargetIndex> targets = findTargetPair(graph);
  if (targets.size() > 2)
    return {placeByBeamSearch(graph)};
  if (targets.size() < 2) {
    std::vector<NodeId> witness;
    if (graph.size())
      witness.push_back(0);
    return {{{std::vector<uint32_t>(graph.size()), targets}, static_cast<uint32_t>(targets.size()), witness}};
  }
  std::vector<BoundedPlacement> placed = placeFromEitherSide(graph, targets[0], targets[1]);
  for (BoundedPlacement &each : placed)
    settleNeutral(graph, each.placement);
  return placed;
}

BoundedPlacement inlay::placeByLevels(const ScheduleGraph &graph) {
  return std::move(placeByLevelsFromEither(graph).front());
}

BoundedPlacement inlay::placeInOrder(const ScheduleGraph &graph) {
  BoundedPlacement result;
  Placement &placement = result.placement;
  for (const ScheduleNode &node : graph.nodes) {
    bool joins = !placement.targets.empty() && (placement.targets.back() == node.target ||
                                                (node.neutral && (node.allowed >> placement.targets.back() & 1)));
    if (!joins)
      placement.targets.push_back(node.target);
    placement.segment.push_back(static_cast<uint32_t>(placement.targets.size() - 1));
  }
  return result;
}

BoundedPlacement inlay::placeByTurns(const ScheduleGraph &graph) {
  std::vector<uint32_t> missing(graph.size());
  std::array<std::vector<NodeId>, 2> ready; // Nodes off and on accelerators, in the order in which they became ready.
  auto enqueue = [&](NodeId node) { ready[graph.isAccelerator(graph.nodes[node].target)].push_back(node); };
  for (NodeId node = 0; node < graph.size(); ++node) {
    missing[node] = static_cast<uint32_t>(graph.preds(node).last - graph.preds(node).first);
    if (missing[node] == 0)
      enqueue(node);
  }
  BoundedPlacement result{{std::vector<uint32_t>(graph.size()), {}}, 0, {}};
  std::vector<TargetIndex> &targets = result.placement.targets;
  std::array<size_t, 2> next{};
  for (unsigned side = 0; next[0] < ready[0].size() || next[1] < ready[1].size(); side = 1 - side)
    while (next[side] < ready[side].size()) {
      NodeId node = ready[side][next[side]++];
      if (targets.empty() || targets.back() != graph.nodes[node].target)
        targets.push_back(graph.nodes[node].target);
      result.placement.segment[node] = static_cast<uint32_t>(targets.size() - 1);
      for (NodeId succ : graph.succs(node))
        if (--missing[succ] == 0)
          enqueue(succ);
    }
  return result;
}

Schedule inlay::scheduleByLevels(const ScheduleGraph &graph) { return finishSchedule(graph, placeByLevels(graph)); }

Schedule inlay::scheduleInOrder(const ScheduleGraph &graph) { return finishSchedule(graph, placeInOrder(graph)); }

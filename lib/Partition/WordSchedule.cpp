// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three colours and more: some optimal schedule runs all that is ready in one colour, then all in another, so only
// words of colours are searched. A greedy word by the longest remaining path is linear; a beam of a few words is better
// and is used where it costs little. Neither depends on anything but the graph.

#include "inlay/Partition/LevelSchedule.h"

#include <algorithm>
#include <array>
#include <tuple>

using namespace inlay;

namespace {
constexpr unsigned kColours = 64;
constexpr size_t kBeam = 8;
/// Work (nodes times letters) above which only the greedy word is made.
constexpr uint64_t kBeamWork = 2'000'000;

/// For each node the most runs of colours on a path from it; neutral nodes count for nothing.
struct Heights {
  std::vector<uint32_t> height;
  std::vector<ColourSet> heads; ///< colours that a path of that height may start with
};

class Word {
public:
  Word(const ScheduleGraph &graph, const Heights &heights) : graph(&graph), heights(&heights) {
    missing.resize(graph.size());
    placement.segment.resize(graph.size());
    for (NodeId node = 0; node < graph.size(); ++node) {
      missing[node] = static_cast<uint32_t>(graph.preds(node).last - graph.preds(node).first);
      if (missing[node] == 0)
        enqueue(node);
    }
  }

  bool isDone() const { return done == graph->size(); }
  uint64_t hash() const { return executed; }
  uint32_t doneCount() const { return done; }

  /// Most runs on a path that starts with a ready node and may start with that colour.
  uint32_t remaining(Colour colour) const {
    uint32_t most = 0;
    for (NodeId node : ready[colour])
      most = std::max(most, heights->height[node]);
    for (NodeId node : neutral)
      if (canJoin(node, colour) && (heights->heads[node] >> colour & 1))
        most = std::max(most, heights->height[node]);
    return most;
  }

  /// Runs all that is and becomes ready in that colour.
  void append(Colour colour) {
    placement.colours.push_back(colour);
    std::vector<NodeId> left;
    size_t fixed = 0, free = 0;
    while (fixed < ready[colour].size() || free < neutral.size()) {
      if (fixed < ready[colour].size())
        execute(ready[colour][fixed++]);
      else if (NodeId node = neutral[free++]; canJoin(node, colour))
        execute(node);
      else
        left.push_back(node);
    }
    ready[colour].clear();
    neutral = std::move(left);
  }

  /// Colours that run a node if they come next.
  ColourSet next() const {
    ColourSet result = 0;
    for (Colour colour = 0; colour < kColours; ++colour)
      if (!ready[colour].empty())
        result |= ColourSet(1) << colour;
    for (NodeId node : neutral)
      result |= heights->heads[node] & graph->nodes[node].allowed;
    if (!result)
      for (NodeId node : neutral)
        result |= ColourSet(1) << graph->nodes[node].colour;
    return result;
  }

  Placement placement;

private:
  void enqueue(NodeId node) {
    const ScheduleNode &info = graph->nodes[node];
    (info.neutral ? neutral : ready[info.colour]).push_back(node);
  }

  bool canJoin(NodeId node, Colour colour) const {
    return graph->nodes[node].colour == colour || (graph->nodes[node].allowed >> colour & 1);
  }

  void execute(NodeId node) {
    placement.segment[node] = static_cast<uint32_t>(placement.colours.size() - 1);
    ++done;
    executed ^= (node + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t(node) << 32) * 0xc2b2ae3d27d4eb4full;
    for (NodeId succ : graph->succs(node))
      if (--missing[succ] == 0)
        enqueue(succ);
  }

  const ScheduleGraph *graph;
  const Heights *heights;
  std::vector<uint32_t> missing;
  std::array<std::vector<NodeId>, kColours> ready;
  std::vector<NodeId> neutral;
  uint32_t done = 0;
  uint64_t executed = 0;
};
} // namespace

static bool isApart(const ScheduleGraph &graph, NodeId node) { return graph.isOwn(node, graph.nodes[node].colour); }

/// With `ownApart`, nodes that are segments of their own are runs of their own.
static Heights computeHeights(const ScheduleGraph &graph, bool ownApart) {
  Heights result{std::vector<uint32_t>(graph.size()), std::vector<ColourSet>(graph.size())};
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
    if (ownApart && isApart(graph, node)) {
      ++height;
      heads = 0;
    } else if (!graph.nodes[node].neutral) {
      ColourSet own = ColourSet(1) << graph.nodes[node].colour;
      height += !(heads & own);
      heads = own;
    }
    result.height[node] = height;
    result.heads[node] = heads;
  }
  return result;
}

/// The most runs of `colour` on a path; with `ownApart` without nodes that are segments of their own.
static uint32_t countRuns(const ScheduleGraph &graph, Colour colour, bool ownApart) {
  struct Runs {
    uint32_t open, closed; // runs on the best path whose last fixed node is of the colour, and on any other
  };
  std::vector<Runs> best(graph.size());
  uint32_t most = 0;
  for (NodeId node = 0; node < graph.size(); ++node) {
    Runs before{0, 0};
    for (NodeId pred : graph.preds(node)) {
      before.open = std::max(before.open, best[pred].open);
      before.closed = std::max(before.closed, best[pred].closed);
    }
    if (graph.nodes[node].neutral)
      best[node] = before;
    else if (graph.nodes[node].colour == colour && !(ownApart && isApart(graph, node)))
      best[node] = {std::max(before.open, before.closed + 1), 0};
    else
      best[node] = {0, std::max(before.open, before.closed)};
    most = std::max({most, best[node].open, best[node].closed});
  }
  return most;
}

static Placement placeGreedily(const ScheduleGraph &graph, const Heights &heights) {
  Word word(graph, heights);
  while (!word.isDone()) {
    ColourSet next = word.next();
    Colour chosen = 0;
    uint32_t most = 0;
    for (Colour colour = 0; colour < kColours; ++colour)
      if ((next >> colour & 1) && word.remaining(colour) >= most) {
        chosen = colour;
        most = word.remaining(colour);
      }
    word.append(chosen);
  }
  return std::move(word.placement);
}

/// The shortest word of a beam, if one is shorter than `limit`.
static bool placeByBeam(const ScheduleGraph &graph, const Heights &heights, size_t limit, Placement &placement) {
  std::vector<Word> beam{Word(graph, heights)};
  for (size_t length = 1; length < limit; ++length) {
    std::vector<Word> grown;
    for (const Word &word : beam)
      for (Colour colour = 0; colour < kColours; ++colour)
        if (word.next() >> colour & 1) {
          grown.push_back(word);
          grown.back().append(colour);
          if (grown.back().isDone()) {
            placement = std::move(grown.back().placement);
            return true;
          }
        }
    auto rank = [](const Word &word) {
      uint32_t most = 0, total = 0;
      for (Colour colour = 0; colour < kColours; ++colour) {
        most = std::max(most, word.remaining(colour));
        total += word.remaining(colour);
      }
      return std::tuple(most, total, ~word.doneCount(), word.hash());
    };
    std::vector<std::pair<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>, size_t>> order;
    for (size_t at = 0; at < grown.size(); ++at)
      order.emplace_back(rank(grown[at]), at);
    std::sort(order.begin(), order.end());
    beam.clear();
    for (size_t at = 0; at < order.size() && beam.size() < kBeam; ++at)
      if (at == 0 || std::get<3>(order[at].first) != std::get<3>(order[at - 1].first))
        beam.push_back(std::move(grown[order[at].second]));
  }
  return false;
}

static uint32_t bound(const ScheduleGraph &graph, const Heights &heights, bool ownApart) {
  uint32_t runs = 0, sum = 0;
  for (uint32_t height : heights.height)
    runs = std::max(runs, height);
  ColourSet seen = 0;
  for (NodeId node = 0; node < graph.size(); ++node) {
    sum += ownApart && isApart(graph, node);
    seen |= ColourSet(1) << graph.nodes[node].colour;
  }
  for (Colour colour = 0; colour < kColours; ++colour)
    if (seen >> colour & 1)
      sum += countRuns(graph, colour, ownApart);
  return std::max(runs, sum);
}

uint32_t inlay::boundSegments(const ScheduleGraph &graph) { return bound(graph, computeHeights(graph, true), true); }

BoundedPlacement inlay::placeByWords(const ScheduleGraph &graph) {
  BoundedPlacement result;
  Heights heights = computeHeights(graph, false);
  result.lowerBound = bound(graph, heights, false);
  result.placement = placeGreedily(graph, heights);
  size_t length = result.placement.colours.size();
  if (length > result.lowerBound && graph.size() * length <= kBeamWork)
    placeByBeam(graph, heights, length, result.placement);
  settleNeutral(graph, result.placement);
  return result;
}

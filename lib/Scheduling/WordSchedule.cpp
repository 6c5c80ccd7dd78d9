// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three colours and more, or nodes that are segments of their own: some optimal schedule runs all that is ready in one
// colour, then all in another, so only words of colours are searched. Nodes of their own are no letters: they cost the
// same wherever they run, so they run as soon as they can. A greedy word by the longest remaining path is linear; a
// beam of words is better and is used where it costs little. Neither depends on anything but the numbering of nodes.

#include "inlay/Scheduling/LevelSchedule.h"

#include "RunHeights.h"

#include <algorithm>
#include <array>
#include <tuple>

using namespace inlay;

namespace {
constexpr unsigned kColours = 64;
constexpr size_t kNarrowBeam = 8, kWideBeam = 64;
/// Work (nodes times letters) above which only the greedy word is made, and work times words up to which beams widen.
constexpr uint64_t kBeamWork = 2'000'000, kWideBeamWork = 100'000;

/// What a search goes by.
struct Guide {
  RunHeights heights;
  /// For each node the most accelerator runs on a path from it, if words may not have more accelerator letters than
  /// needed; else empty.
  std::vector<uint32_t> acceleratorRuns;
  uint32_t mostAccelerators = 0;
};

class Word {
public:
  Word(const ScheduleGraph &graph, const Guide &guide) : graph(&graph), guide(&guide) {
    missing.resize(graph.size());
    placement.segment.resize(graph.size());
    for (NodeId node = 0; node < graph.size(); ++node)
      missing[node] = static_cast<uint32_t>(graph.preds(node).last - graph.preds(node).first);
    for (NodeId node = 0; node < graph.size(); ++node)
      if (missing[node] == 0 && graph.preds(node).empty())
        enqueue(node);
    runApart();
  }

  bool isDone() const { return done == graph->size(); }
  uint64_t hash() const { return executed; }
  uint32_t doneCount() const { return done; }
  uint32_t length() const { return letters; }

  /// Most runs on a path that starts with a ready node and may start with that colour.
  uint32_t remaining(Colour colour) const {
    uint32_t most = highest[colour];
    for (NodeId node : neutral)
      if (canJoin(node, colour) && (guide->heights.heads[node] >> colour & 1))
        most = std::max(most, guide->heights.height[node]);
    return most;
  }

  /// The word needs no more accelerator letters than the graph does.
  bool isFrugal() const {
    if (guide->acceleratorRuns.empty())
      return true;
    uint32_t most = 0;
    auto visit = [&](NodeId node) { most = std::max(most, guide->acceleratorRuns[node]); };
    for (const std::vector<NodeId> &nodes : ready)
      std::for_each(nodes.begin(), nodes.end(), visit);
    std::for_each(neutral.begin(), neutral.end(), visit);
    return accelerators + most <= guide->mostAccelerators;
  }

  /// Runs all that is and becomes ready in that colour, then nodes of their own.
  void append(Colour colour) {
    placement.colours.push_back(colour);
    ++letters;
    accelerators += graph->isAccelerator(colour);
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
    highest[colour] = 0;
    neutral = std::move(left);
    runApart();
  }

  /// Colours that run a node if they come next.
  ColourSet next() const {
    ColourSet result = 0;
    for (Colour colour = 0; colour < kColours; ++colour)
      if (!ready[colour].empty())
        result |= ColourSet(1) << colour;
    for (NodeId node : neutral)
      result |= guide->heights.heads[node] & graph->nodes[node].allowed;
    if (!result)
      for (NodeId node : neutral)
        result |= ColourSet(1) << graph->nodes[node].colour;
    return result;
  }

  Placement placement;

private:
  void enqueue(NodeId node) {
    const ScheduleNode &info = graph->nodes[node];
    if (isApart(*graph, node)) {
      apart.push_back(node);
    } else if (info.neutral) {
      neutral.push_back(node);
    } else {
      ready[info.colour].push_back(node);
      highest[info.colour] = std::max(highest[info.colour], guide->heights.height[node]);
    }
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

  void runApart() {
    for (size_t at = 0; at < apart.size(); ++at) {
      Colour colour = graph->nodes[apart[at]].colour;
      if (placement.colours.empty() || placement.colours.back() != colour)
        placement.colours.push_back(colour);
      execute(apart[at]);
    }
    apart.clear();
  }

  const ScheduleGraph *graph;
  const Guide *guide;
  std::vector<uint32_t> missing;
  std::array<std::vector<NodeId>, kColours> ready;
  std::array<uint32_t, kColours> highest{};
  std::vector<NodeId> neutral, apart;
  uint32_t done = 0, letters = 0, accelerators = 0;
  uint64_t executed = 0;
};

struct Rank {
  uint32_t most, total, left;
  uint64_t hash;
  size_t at;

  auto key() const { return std::tuple(most, total, left, hash, at); }
  bool operator<(const Rank &other) const { return key() < other.key(); }
};
} // namespace

static Rank rank(const ScheduleGraph &graph, const Word &word, size_t at) {
  Rank result{0, 0, graph.size() - word.doneCount(), word.hash(), at};
  for (Colour colour = 0; colour < kColours; ++colour) {
    uint32_t remaining = word.remaining(colour);
    result.most = std::max(result.most, remaining);
    result.total += remaining;
  }
  return result;
}

static Word makeGreedily(const ScheduleGraph &graph, const Guide &guide) {
  Word word(graph, guide);
  while (!word.isDone()) {
    ColourSet next = word.next();
    Colour chosen = 0;
    uint32_t most = 0;
    for (Colour colour = 0; colour < kColours; ++colour)
      if (next >> colour & 1)
        if (uint32_t remaining = word.remaining(colour); remaining >= most) {
          chosen = colour;
          most = remaining;
        }
    word.append(chosen);
  }
  return word;
}

/// The best words of one letter more, the best first; those that can't end before `limit` are left out. Words that have
/// run the same nodes are one.
static std::vector<Word> grow(const ScheduleGraph &graph, const std::vector<Word> &beam, uint32_t limit, size_t width) {
  std::vector<Word> grown, kept;
  std::vector<Rank> ranks;
  for (const Word &word : beam)
    for (ColourSet next = word.next(), colour = 0; colour < kColours; ++colour)
      if (next >> colour & 1) {
        grown.push_back(word);
        grown.back().append(static_cast<Colour>(colour));
        Rank place = rank(graph, grown.back(), grown.size() - 1);
        if (grown.back().length() + place.most < limit && grown.back().isFrugal())
          ranks.push_back(place);
        else
          grown.pop_back();
      }
  std::sort(ranks.begin(), ranks.end());
  for (size_t at = 0; at < ranks.size() && kept.size() < width; ++at)
    if (at == 0 || ranks[at].hash != ranks[at - 1].hash)
      kept.push_back(std::move(grown[ranks[at].at]));
  return kept;
}

/// The shortest word of a beam, if one is shorter than `limit`.
static bool placeByBeam(const ScheduleGraph &graph, const Guide &guide, uint32_t limit, Placement &placement) {
  uint64_t work = uint64_t(graph.size()) * limit;
  if (work > kBeamWork)
    return false;
  size_t width = std::clamp<size_t>(kWideBeamWork / std::max<uint64_t>(work, 1), kNarrowBeam, kWideBeam);
  std::vector<Word> beam{Word(graph, guide)};
  while (!beam.empty()) {
    beam = grow(graph, beam, limit, width);
    for (Word &word : beam)
      if (word.isDone()) {
        placement = std::move(word.placement);
        return true;
      }
  }
  return false;
}

BoundedPlacement inlay::placeByWords(const ScheduleGraph &graph) {
  BoundedPlacement result;
  Guide guide{computeRunHeights(graph, ~ColourSet(0)), {}};
  uint32_t bound = boundWord(graph, guide.heights);
  Word greedy = makeGreedily(graph, guide);
  if (greedy.length() == bound || !placeByBeam(graph, guide, greedy.length(), result.placement))
    result.placement = std::move(greedy.placement);
  result.lowerBound = bound + countApart(graph);
  settleNeutral(graph, result.placement);
  return result;
}

bool inlay::placeByShorterWord(const ScheduleGraph &graph, uint32_t limit, Placement &placement) {
  Guide guide{computeRunHeights(graph, ~ColourSet(0)), computeRunHeights(graph, graph.accelerators).height};
  guide.mostAccelerators = *std::max_element(guide.acceleratorRuns.begin(), guide.acceleratorRuns.end());
  return limit > boundWord(graph, guide.heights) && placeByBeam(graph, guide, limit, placement);
}

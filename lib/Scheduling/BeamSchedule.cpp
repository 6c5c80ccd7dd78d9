// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the search for three and more targets, and for two targets with isolated nodes. Some optimal schedule
// repeatedly chooses a target and runs all nodes that are ready on it. The search therefore only considers sequences of
// targets. Isolated nodes are not part of a sequence: each of them needs one segment whenever it runs, so it runs as
// soon as it can. A greedy sequence, which follows the longest remaining path, takes linear time. A beam search gives
// better sequences and is used where it costs little. The results of both depend only on the numbering of nodes.

#include "inlay/Scheduling/LevelSchedule.h"

#include "RunHeights.h"

#include <algorithm>
#include <array>
#include <tuple>

using namespace inlay;

namespace {
constexpr size_t kNarrowBeam = 8, kWideBeam = 64;
/// The work of a search is the number of nodes times the length of the sequence. Above `kBeamWork`, only the greedy
/// sequence is made. The width of a beam is chosen such that work times width is about `kWideBeamWork`.
constexpr uint64_t kBeamWork = 2'000'000, kWideBeamWork = 100'000;

/// Bounds that guide a search.
struct Guide {
  RunHeights heights;
  /// For each node, the maximum number of accelerator runs on a path from it, if sequences may contain accelerators no
  /// more often than necessary. Empty otherwise.
  std::vector<uint32_t> acceleratorRuns;
  uint32_t maxAccelerators = 0;
};

class PartialSchedule {
public:
  PartialSchedule(const ScheduleGraph &graph, const Guide &guide) : graph(&graph), guide(&guide) {
    missing.resize(graph.size());
    placement.segment.resize(graph.size());
    for (NodeId node = 0; node < graph.size(); ++node)
      missing[node] = static_cast<uint32_t>(graph.preds(node).last - graph.preds(node).first);
    for (NodeId node = 0; node < graph.size(); ++node)
      if (missing[node] == 0 && graph.preds(node).empty())
        enqueue(node);
    runIsolated();
  }

  bool isDone() const { return done == graph->size(); }
  uint64_t hash() const { return executed; }
  uint32_t doneCount() const { return done; }
  uint32_t length() const { return steps; }

  /// Returns the maximum number of runs on a path that starts with a ready node and may start with that target.
  uint32_t remaining(TargetIndex target) const {
    uint32_t longest = highest[target];
    for (NodeId node : neutral)
      if (canJoin(node, target) && (guide->heights.firstTargets[node] >> target & 1))
        longest = std::max(longest, guide->heights.height[node]);
    return longest;
  }

  /// Returns true if the sequence can be completed with accelerators in it no more often than the graph requires.
  bool isFrugal() const {
    if (guide->acceleratorRuns.empty())
      return true;
    uint32_t longest = 0;
    auto visit = [&](NodeId node) { longest = std::max(longest, guide->acceleratorRuns[node]); };
    for (const std::vector<NodeId> &nodes : ready)
      std::for_each(nodes.begin(), nodes.end(), visit);
    std::for_each(neutral.begin(), neutral.end(), visit);
    return accelerators + longest <= guide->maxAccelerators;
  }

  /// Appends a target: runs all nodes that are or become ready on that target, then the isolated nodes that are ready.
  void append(TargetIndex target) {
    placement.targets.push_back(target);
    ++steps;
    accelerators += graph->isAccelerator(target);
    std::vector<NodeId> left;
    size_t fixed = 0, free = 0;
    while (fixed < ready[target].size() || free < neutral.size()) {
      if (fixed < ready[target].size())
        execute(ready[target][fixed++]);
      else if (NodeId node = neutral[free++]; canJoin(node, target))
        execute(node);
      else
        left.push_back(node);
    }
    ready[target].clear();
    highest[target] = 0;
    neutral = std::move(left);
    runIsolated();
  }

  /// Returns the targets that could run a node if they came next in the sequence.
  TargetSet next() const {
    TargetSet result = 0;
    for (TargetIndex target = 0; target < kMaxTargets; ++target)
      if (!ready[target].empty())
        result |= TargetSet(1) << target;
    for (NodeId node : neutral)
      result |= guide->heights.firstTargets[node] & graph->nodes[node].allowed;
    if (!result)
      for (NodeId node : neutral)
        result |= TargetSet(1) << graph->nodes[node].target;
    return result;
  }

  Placement placement;

private:
  void enqueue(NodeId node) {
    const ScheduleNode &info = graph->nodes[node];
    if (isIsolated(*graph, node)) {
      isolatedReady.push_back(node);
    } else if (info.neutral) {
      neutral.push_back(node);
    } else {
      ready[info.target].push_back(node);
      highest[info.target] = std::max(highest[info.target], guide->heights.height[node]);
    }
  }

  bool canJoin(NodeId node, TargetIndex target) const {
    return graph->nodes[node].target == target || (graph->nodes[node].allowed >> target & 1);
  }

  void execute(NodeId node) {
    placement.segment[node] = static_cast<uint32_t>(placement.targets.size() - 1);
    ++done;
    executed ^= (node + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t(node) << 32) * 0xc2b2ae3d27d4eb4full;
    for (NodeId succ : graph->succs(node))
      if (--missing[succ] == 0)
        enqueue(succ);
  }

  void runIsolated() {
    for (size_t at = 0; at < isolatedReady.size(); ++at) {
      TargetIndex target = graph->nodes[isolatedReady[at]].target;
      if (placement.targets.empty() || placement.targets.back() != target)
        placement.targets.push_back(target);
      execute(isolatedReady[at]);
    }
    isolatedReady.clear();
  }

  const ScheduleGraph *graph;
  const Guide *guide;
  std::vector<uint32_t> missing;
  std::array<std::vector<NodeId>, kMaxTargets> ready;
  std::array<uint32_t, kMaxTargets> highest{};
  std::vector<NodeId> neutral, isolatedReady;
  uint32_t done = 0, steps = 0, accelerators = 0;
  uint64_t executed = 0;
};

struct Rank {
  uint32_t longest, total, left;
  uint64_t hash;
  size_t at;

  auto key() const { return std::tuple(longest, total, left, hash, at); }
  bool operator<(const Rank &other) const { return key() < other.key(); }
};
} // namespace

static Rank rank(const ScheduleGraph &graph, const PartialSchedule &partial, size_t at) {
  Rank result{0, 0, graph.size() - partial.doneCount(), partial.hash(), at};
  for (TargetIndex target = 0; target < kMaxTargets; ++target) {
    uint32_t remaining = partial.remaining(target);
    result.longest = std::max(result.longest, remaining);
    result.total += remaining;
  }
  return result;
}

static PartialSchedule makeGreedily(const ScheduleGraph &graph, const Guide &guide) {
  PartialSchedule partial(graph, guide);
  while (!partial.isDone()) {
    TargetSet next = partial.next();
    TargetIndex chosen = 0;
    uint32_t longest = 0;
    for (TargetIndex target = 0; target < kMaxTargets; ++target)
      if (next >> target & 1)
        if (uint32_t remaining = partial.remaining(target); remaining >= longest) {
          chosen = target;
          longest = remaining;
        }
    partial.append(chosen);
  }
  return partial;
}

/// Extends each sequence of `beam` by each target that may come next. Returns the `width` best results, the best one
/// first. Drops sequences that cannot become shorter than `limit`. If several sequences have run the same nodes, keeps
/// the best one.
static std::vector<PartialSchedule> grow(const ScheduleGraph &graph, const std::vector<PartialSchedule> &beam,
                                         uint32_t limit, size_t width) {
  std::vector<PartialSchedule> grown, kept;
  std::vector<Rank> ranks;
  for (const PartialSchedule &partial : beam)
    for (TargetSet next = partial.next(), target = 0; target < kMaxTargets; ++target)
      if (next >> target & 1) {
        grown.push_back(partial);
        grown.back().append(static_cast<TargetIndex>(target));
        Rank place = rank(graph, grown.back(), grown.size() - 1);
        if (grown.back().length() + place.longest < limit && grown.back().isFrugal())
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

/// Sets `placement` to that of the shortest sequence of a beam search. Returns false if no sequence is shorter than
/// `limit`, or if the work is too much.
static bool placeByBeam(const ScheduleGraph &graph, const Guide &guide, uint32_t limit, Placement &placement) {
  uint64_t work = uint64_t(graph.size()) * limit;
  if (work > kBeamWork)
    return false;
  size_t width = std::clamp<size_t>(kWideBeamWork / std::max<uint64_t>(work, 1), kNarrowBeam, kWideBeam);
  std::vector<PartialSchedule> beam{PartialSchedule(graph, guide)};
  while (!beam.empty()) {
    beam = grow(graph, beam, limit, width);
    for (PartialSchedule &partial : beam)
      if (partial.isDone()) {
        placement = std::move(partial.placement);
        return true;
      }
  }
  return false;
}

BoundedPlacement inlay::placeByBeamSearch(const ScheduleGraph &graph) {
  BoundedPlacement result;
  Guide guide{computeRunHeights(graph, ~TargetSet(0)), {}};
  uint32_t bound = boundSequence(graph, guide.heights);
  PartialSchedule greedy = makeGreedily(graph, guide);
  if (greedy.length() == bound || !placeByBeam(graph, guide, greedy.length(), result.placement))
    result.placement = std::move(greedy.placement);
  result.lowerBound = bound + countIsolated(graph);
  settleNeutral(graph, result.placement);
  return result;
}

bool inlay::placeByShorterSequence(const ScheduleGraph &graph, uint32_t limit, Placement &placement) {
  Guide guide{computeRunHeights(graph, ~TargetSet(0)), computeRunHeights(graph, graph.accelerators).height};
  guide.maxAccelerators = *std::max_element(guide.acceleratorRuns.begin(), guide.acceleratorRuns.end());
  return limit > boundSequence(graph, guide.heights) && placeByBeam(graph, guide, limit, placement);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact answers for small graphs: dynamic programs over order ideals (the sets of nodes that may run first). They do
// not share assumptions with the library. A state is an ideal and the kind of the last segment. Graphs may have up to
// 16 nodes.

#ifndef UNITTESTS_SCHEDULING_EXACTSCHEDULE_H
#define UNITTESTS_SCHEDULING_EXACTSCHEDULE_H

#include "Scheduling/SlackPlacement.h"

#include <algorithm>
#include <array>
#include <functional>

namespace inlay::testing {

/// Finds the nodes that may run next after an ideal.
class Ideals {
public:
  explicit Ideals(const ScheduleGraph &graph) : preds(graph.size()) {
    for (NodeId node = 0; node < graph.size(); ++node)
      for (NodeId pred : graph.preds(node))
        preds[node] |= 1u << pred;
  }
  uint32_t full() const { return (1u << preds.size()) - 1; }
  bool isReady(NodeId node, uint32_t ideal) const { return !(ideal >> node & 1) && !(preds[node] & ~ideal); }

private:
  std::vector<uint32_t> preds;
};

/// Returns the least sum of the prices of segments. Accelerator segments cost `acceleratorPrice`, others `hostPrice`.
inline unsigned findCheapestSegments(const ScheduleGraph &graph, unsigned acceleratorPrice, unsigned hostPrice) {
  constexpr unsigned kMaxTargets = 4, kIsolated = kMaxTargets, kUnreached = ~0u;
  Ideals ideals(graph);
  std::vector<std::array<unsigned, kMaxTargets + 1>> best(size_t(1) << graph.size());
  for (auto &costs : best)
    costs.fill(kUnreached);
  best[0][kIsolated] = 0;
  auto grow = [&](uint32_t ideal, NodeId node, const std::array<unsigned, kMaxTargets + 1> &costs) {
    const ScheduleNode &info = graph.nodes[node];
    for (TargetIndex target = 0; target < kMaxTargets; ++target) {
      if (target != info.target && !(info.neutral && (info.allowed >> target & 1)))
        continue;
      bool isolated = info.isolatedOnHost && !graph.isAccelerator(target);
      unsigned price = graph.isAccelerator(target) ? acceleratorPrice : hostPrice;
      unsigned &next = best[ideal | 1u << node][isolated ? kIsolated : target];
      for (unsigned last = 0; last <= kMaxTargets; ++last)
        if (costs[last] != kUnreached)
          next = std::min(next, costs[last] + (last == target && !isolated ? 0 : price));
    }
  };
  for (uint32_t ideal = 0; ideal < ideals.full(); ++ideal)
    if (std::array<unsigned, kMaxTargets + 1> costs = best[ideal];
        std::any_of(costs.begin(), costs.end(), [](unsigned cost) { return cost != kUnreached; }))
      for (NodeId node = 0; node < graph.size(); ++node)
        if (ideals.isReady(node, ideal))
          grow(ideal, node, costs);
  return *std::min_element(best.back().begin(), best.back().end());
}

struct FewestSegments {
  unsigned total, acceleratedOfTotal; ///< The fewest segments, and the fewest accelerator segments of such a schedule.
  unsigned accelerated, totalOfAccelerated; ///< The fewest accelerator segments, and the fewest segments with them.
};

/// Finds both pairs of `FewestSegments` with prices whose sum encodes two counts, since there are few segments.
inline FewestSegments findFewestSegments(const ScheduleGraph &graph) {
  constexpr unsigned kBase = 256;
  unsigned byTotal = findCheapestSegments(graph, kBase + 1, kBase);
  unsigned byAccelerated = findCheapestSegments(graph, kBase + 1, 1);
  return {byTotal / kBase, byTotal % kBase, byAccelerated / kBase, byAccelerated % kBase};
}

/// Returns the maximum number of nodes that can stay on the accelerator if its segments have at least `minSize` nodes.
/// The graph has two targets, and each node counts as one op.
inline unsigned findMostKept(const ScheduleGraph &graph, unsigned minSize) {
  // The state is the size of the open run of the accelerator, capped at `minSize`. `minSize` + 1 stands for a run of
  // the host.
  unsigned host = minSize + 1;
  Ideals ideals(graph);
  std::vector<std::vector<int>> maxKept(size_t(1) << graph.size(), std::vector<int>(host + 1, -1));
  maxKept[0][host] = 0;
  for (uint32_t ideal = 0; ideal < ideals.full(); ++ideal)
    for (NodeId node = 0; node < graph.size(); ++node) {
      if (!ideals.isReady(node, ideal))
        continue;
      std::vector<int> &next = maxKept[ideal | 1u << node];
      for (unsigned run = 1; run <= host; ++run) {
        int kept = maxKept[ideal][run];
        if (kept < 0)
          continue;
        if (run >= minSize)
          next[host] = std::max(next[host], kept);
        unsigned grown = run == host ? 1 : std::min(run + 1, minSize);
        if (graph.nodes[node].target == 0)
          next[grown] = std::max(next[grown], kept + 1);
      }
    }
  return static_cast<unsigned>(std::max(maxKept.back()[host], maxKept.back()[minSize]));
}

/// Returns the fewest bytes carried by any assignment of the nodes to segments of their target in `placement`. No
/// accelerator segment may have fewer than `minSize` ops, unless it is empty.
inline uint64_t findFewestBytes(const ScheduleGraph &graph, const Placement &placement, uint64_t minSize = 0) {
  Placement trial = placement;
  uint64_t fewest = ~uint64_t(0);
  std::function<void(NodeId)> assign = [&](NodeId node) {
    if (node == graph.size()) {
      std::vector<uint64_t> opCounts = trial.opCounts(graph);
      for (size_t at = 0; at < opCounts.size(); ++at)
        if (graph.isAccelerator(trial.targets[at]) && opCounts[at] > 0 && opCounts[at] < minSize)
          return;
      fewest = std::min(fewest, countCarriedBytes(graph, trial.segment));
      return;
    }
    uint32_t first = 0;
    for (NodeId pred : graph.preds(node))
      first = std::max(first, trial.segment[pred]);
    for (uint32_t at = first; at < placement.targets.size(); ++at)
      if (placement.targets[at] == placement.targets[placement.segment[node]]) {
        trial.segment[node] = at;
        assign(node + 1);
      }
  };
  assign(0);
  return fewest;
}

} // namespace inlay::testing

#endif // UNITTESTS_SCHEDULING_EXACTSCHEDULE_H

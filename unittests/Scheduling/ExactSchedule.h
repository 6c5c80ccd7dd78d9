// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What small graphs allow at best: dynamic programmes over order ideals (the sets of nodes that may run first), which
// assume nothing of what the library builds on. A state is an ideal and what the last segment is; up to 16 nodes.

#ifndef UNITTESTS_SCHEDULING_EXACTSCHEDULE_H
#define UNITTESTS_SCHEDULING_EXACTSCHEDULE_H

#include "inlay/Scheduling/SlackPlacement.h"

#include <algorithm>
#include <array>
#include <functional>

namespace inlay::testing {

/// The nodes that may run next after an ideal.
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

/// The least sum of prices of segments; an accelerator's and the host's (or a segment's of its own) have each their
/// own.
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
  unsigned total, acceleratedOfTotal; ///< fewest, and fewest accelerator segments among those
  unsigned accelerated, totalOfAccelerated;
};

inline FewestSegments findFewestSegments(const ScheduleGraph &graph) {
  unsigned byTotal = findCheapestSegments(graph, 257, 256), byAccelerated = findCheapestSegments(graph, 257, 1);
  return {byTotal / 256, byTotal % 256, byAccelerated / 256, byAccelerated % 256};
}

/// Two targets, nodes of weight 1: the most that can stay on the accelerator if its segments have at least `least`.
inline unsigned findMostKept(const ScheduleGraph &graph, unsigned minSize) {
  // State: the accelerator's open run, capped at `least`; least + 1 stands for a run of the host.
  unsigned host = minSize + 1;
  Ideals ideals(graph);
  std::vector<std::vector<int>> most(size_t(1) << graph.size(), std::vector<int>(host + 1, -1));
  most[0][host] = 0;
  for (uint32_t ideal = 0; ideal < ideals.full(); ++ideal)
    for (NodeId node = 0; node < graph.size(); ++node) {
      if (!ideals.isReady(node, ideal))
        continue;
      std::vector<int> &next = most[ideal | 1u << node];
      for (unsigned run = 1; run <= host; ++run) {
        int kept = most[ideal][run];
        if (kept < 0)
          continue;
        if (run >= minSize)
          next[host] = std::max(next[host], kept);
        unsigned grown = run == host ? 1 : std::min(run + 1, minSize);
        if (graph.nodes[node].target == 0)
          next[grown] = std::max(next[grown], kept + 1);
      }
    }
  return static_cast<unsigned>(std::max(most.back()[host], most.back()[minSize]));
}

/// The fewest bytes that any assignment of the nodes to the placement's segments, each of its target, carries, with no
/// accelerator segment that holds something below `least`.
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random graphs, and what a search over all orders finds for them. Seeds are fixed.

#ifndef INLAY_UNITTESTS_PARTITION_RANDOMGRAPH_H
#define INLAY_UNITTESTS_PARTITION_RANDOMGRAPH_H

#include "inlay/Partition/ScheduleGraph.h"

#include <functional>
#include <map>
#include <random>

namespace inlay::testing {

struct RandomGraphOptions {
  unsigned nodes = 8;
  unsigned colours = 2;
  double edges = 0.25, neutral = 0, own = 0;
};

/// Colours below the last are accelerators; every node may be demoted.
inline ScheduleGraph makeRandomGraph(std::mt19937 &random, const RandomGraphOptions &options) {
  std::uniform_real_distribution<> chance(0, 1);
  ScheduleGraph graph;
  ColourSet all = (ColourSet(1) << options.colours) - 1;
  graph.accelerators = all >> 1;
  for (unsigned node = 0; node < options.nodes; ++node) {
    ScheduleNode info;
    info.colour = static_cast<Colour>(random() % options.colours);
    info.allowed = all & ~((ColourSet(1) << info.colour) - 1);
    if (chance(random) < options.neutral) {
      info.colour = 0;
      info.allowed = all;
      info.neutral = true;
    } else if (info.colour + 1u == options.colours) {
      info.own = chance(random) < options.own;
    }
    graph.add(info);
  }
  for (NodeId after = 1; after < options.nodes; ++after)
    for (NodeId before = 0; before < after; ++before)
      if (chance(random) < options.edges)
        graph.addEdge(before, after);
  graph.seal();
  return graph;
}

/// The same graph with its nodes numbered in another topological order.
inline ScheduleGraph reorder(const ScheduleGraph &graph, std::mt19937 &random) {
  std::vector<NodeId> ready, number(graph.size());
  std::vector<size_t> missing(graph.size());
  ScheduleGraph result;
  result.accelerators = graph.accelerators;
  for (NodeId node = 0; node < graph.size(); ++node) {
    missing[node] = static_cast<size_t>(graph.preds(node).last - graph.preds(node).first);
    if (!missing[node])
      ready.push_back(node);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    NodeId node = ready.back();
    ready.pop_back();
    number[node] = result.add(graph.nodes[node]);
    for (NodeId succ : graph.succs(node))
      if (--missing[succ] == 0)
        ready.push_back(succ);
  }
  for (NodeId node = 0; node < graph.size(); ++node)
    for (NodeId succ : graph.succs(node))
      result.addEdge(number[node], number[succ]);
  result.seal();
  return result;
}

/// Walks all orders: calls `step(mask, node)` where `node` may run after the set `mask`.
inline void forEachStep(const ScheduleGraph &graph, uint32_t mask, const std::function<void(NodeId)> &step) {
  for (NodeId node = 0; node < graph.size(); ++node) {
    bool ready = !(mask >> node & 1);
    for (NodeId pred : graph.preds(node))
      ready &= mask >> pred & 1;
    if (ready)
      step(node);
  }
}

/// The fewest segments, and the fewest accelerator segments among those.
inline std::pair<unsigned, unsigned> findFewestSegments(const ScheduleGraph &graph) {
  using Best = std::pair<unsigned, unsigned>;
  constexpr unsigned kNoColour = 64; // after a segment of its own nothing joins
  std::vector<std::map<unsigned, Best>> best(size_t(1) << graph.size());
  best[0][kNoColour] = {0, 0};
  for (uint32_t mask = 0; mask + 1 < best.size(); ++mask)
    for (auto [last, cost] : best[mask])
      forEachStep(graph, mask, [&, last = last, cost = cost](NodeId node) {
        const ScheduleNode &info = graph.nodes[node];
        for (unsigned colour = 0; colour < 64; ++colour) {
          if (colour != info.colour && !(info.neutral && (info.allowed >> colour & 1)))
            continue;
          bool own = info.own && !graph.isAccelerator(static_cast<Colour>(colour));
          Best next = cost;
          if (own || colour != last) {
            ++next.first;
            next.second += graph.isAccelerator(static_cast<Colour>(colour));
          }
          auto [it, isNew] = best[mask | 1u << node].try_emplace(own ? kNoColour : colour, next);
          if (!isNew)
            it->second = std::min(it->second, next);
        }
      });
  Best result{~0u, ~0u};
  for (auto [last, cost] : best.back())
    result = std::min(result, cost);
  return result;
}

/// Two colours: the most nodes that can stay on the accelerator if its segments have at least `least`.
inline unsigned findMostKept(const ScheduleGraph &graph, unsigned least) {
  // State: the accelerator's open run, capped at `least`; least + 1 stands for a run of the host.
  unsigned host = least + 1;
  std::vector<std::vector<int>> most(size_t(1) << graph.size(), std::vector<int>(host + 1, -1));
  most[0][host] = 0;
  for (uint32_t mask = 0; mask + 1 < most.size(); ++mask)
    for (unsigned run = 1; run <= host; ++run)
      if (int kept = most[mask][run]; kept >= 0)
        forEachStep(graph, mask, [&](NodeId node) {
          std::vector<int> &next = most[mask | 1u << node];
          if (run >= least)
            next[host] = std::max(next[host], kept);
          if (graph.nodes[node].colour == 0) {
            unsigned grown = run == host ? 1 : std::min(run + 1, least);
            next[grown] = std::max(next[grown], kept + 1);
          }
        });
  return static_cast<unsigned>(std::max(most.back()[host], most.back()[least]));
}

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_RANDOMGRAPH_H

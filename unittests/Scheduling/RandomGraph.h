// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random graphs of several shapes, and the same graphs with their nodes in another order. Seeds are fixed.

#ifndef UNITTESTS_SCHEDULING_RANDOMGRAPH_H
#define UNITTESTS_SCHEDULING_RANDOMGRAPH_H

#include "inlay/Scheduling/ScheduleGraph.h"

#include <array>
#include <random>

namespace inlay::testing {

enum class Shape { Random, Layered, Chains, SeriesParallel };
constexpr std::array<Shape, 4> kShapes{Shape::Random, Shape::Layered, Shape::Chains, Shape::SeriesParallel};

struct RandomGraphOptions {
  unsigned nodes = 8;
  unsigned targets = 2;
  double edges = 0.25, neutral = 0, isolated = 0, pinned = 0;
  Shape shape = Shape::Random;
  bool sized = false; ///< True if nodes have results of random sizes, some of them empty.
};

/// Returns a random node. All targets but the last are accelerators. Every node may be demoted unless it is pinned.
inline ScheduleNode makeRandomNode(std::mt19937 &random, const RandomGraphOptions &options) {
  std::uniform_real_distribution<> chance(0, 1);
  TargetSet all = (TargetSet(1) << options.targets) - 1;
  ScheduleNode info;
  info.target = static_cast<TargetIndex>(random() % options.targets);
  info.allowed = all & ~((TargetSet(1) << info.target) - 1);
  if (chance(random) < options.neutral) {
    info.target = 0;
    info.allowed = all;
    info.neutral = true;
  } else if (info.target + 1u == options.targets) {
    info.isolatedOnHost = chance(random) < options.isolated;
  }
  info.pinned = !info.neutral && chance(random) < options.pinned;
  if (options.sized)
    info.bytes = random() % 4 ? 1 + random() % 64 : 0;
  return info;
}

/// Adds random edges. The probability of each edge depends on the shape.
inline void addScatteredEdges(ScheduleGraph &graph, std::mt19937 &random, const RandomGraphOptions &options) {
  std::uniform_real_distribution<> chance(0, 1);
  unsigned width = options.shape == Shape::Random ? options.nodes : 2 + random() % 3;
  bool isChain = options.shape == Shape::Chains;
  for (NodeId after = 1; after < options.nodes; ++after)
    for (NodeId before = 0; before < after; ++before) {
      bool isNext = isChain ? before + width == after : after / width == before / width + 1;
      double share = options.shape == Shape::Random ? options.edges
                     : isNext                       ? (isChain ? 1 : 0.5)
                                                    : (isChain ? 0.03 : 0);
      if (chance(random) < share)
        graph.addEdge(before, after);
    }
}

/// Adds nested branches, each of which is joined again, for the nodes [first, end): from a fork at the first node to a
/// join at the last one.
inline void addForks(ScheduleGraph &graph, std::mt19937 &random, NodeId first, NodeId end) {
  if (end - first < 2)
    return;
  if (end - first < 4 || random() % 3 == 0) {
    NodeId middle = first + 1 + random() % (end - first - 1);
    addForks(graph, random, first, middle);
    addForks(graph, random, middle, end);
    graph.addEdge(middle - 1, middle);
    return;
  }
  NodeId middle = first + 2 + random() % (end - first - 3);
  for (auto [from, to] : {std::pair(first + 1, middle), {middle, end - 1}}) {
    addForks(graph, random, from, to);
    graph.addEdge(first, from);
    graph.addEdge(to - 1, end - 1);
  }
}

inline ScheduleGraph makeRandomGraph(std::mt19937 &random, const RandomGraphOptions &options) {
  ScheduleGraph graph;
  graph.accelerators = ((TargetSet(1) << options.targets) - 1) >> 1;
  for (unsigned node = 0; node < options.nodes; ++node)
    graph.add(makeRandomNode(random, options));
  if (options.shape == Shape::SeriesParallel)
    addForks(graph, random, 0, options.nodes);
  else
    addScatteredEdges(graph, random, options);
  graph.seal();
  return graph;
}

/// Returns the same graph with its nodes numbered in another topological order.
inline ScheduleGraph reorder(const ScheduleGraph &graph, std::mt19937 &random) {
  std::vector<NodeId> ready, number(graph.size());
  std::vector<size_t> missing(graph.size());
  ScheduleGraph result;
  result.accelerators = graph.accelerators;
  result.fewestBytes = graph.fewestBytes;
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

} // namespace inlay::testing

#endif // UNITTESTS_SCHEDULING_RANDOMGRAPH_H

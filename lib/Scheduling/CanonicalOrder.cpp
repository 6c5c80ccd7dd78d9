// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the nodes of a graph by their neighborhoods alone. It does not schedule.

#include "CanonicalOrder.h"

#include <algorithm>
#include <functional>

using namespace inlay;

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

static uint64_t combine(uint64_t seed, uint64_t value) { return mix(seed + 0x9e3779b97f4a7c15ull + mix(value)); }

static uint64_t hashNode(const ScheduleNode &node) {
  uint64_t flags = node.target | node.neutral << 8 | node.isolatedOnHost << 9 | node.pinned << 10 |
                   node.sinkable << 11 | node.isolated << 12;
  return combine(combine(flags | uint64_t(node.opCount) << 32, node.allowed), node.bytes);
}

namespace {
/// Hashes of nodes and their neighborhoods. Each sweep follows all edges forwards, then backwards.
class Hashes {
public:
  explicit Hashes(const ScheduleGraph &graph) : graph(graph) {
    constexpr unsigned kSweeps = 2;
    for (const ScheduleNode &node : graph.nodes)
      hashes.push_back(hashNode(node));
    for (unsigned sweep = 0; sweep < kSweeps; ++sweep) {
      for (NodeId node = 0; node < graph.size(); ++node)
        refine(node, graph.preds(node), 1);
      for (NodeId node = graph.size(); node-- > 0;)
        refine(node, graph.succs(node), 2);
    }
  }

  bool operator()(NodeId a, NodeId b) const { return hashes[a] < hashes[b]; }

private:
  /// Combines the hash of `node` with the hashes of `neighbors`. They are added up, so that their order does not
  /// matter.
  void refine(NodeId node, ScheduleGraph::Range neighbors, uint64_t side) {
    uint64_t sum = side;
    for (NodeId other : neighbors)
      sum += mix(hashes[other] + side);
    hashes[node] = combine(hashes[node], sum);
  }

  const ScheduleGraph &graph;
  std::vector<uint64_t> hashes;
};

/// A walk that goes from each numbered node to its successors. Before it numbers a successor, it numbers the
/// predecessors of that successor. Neighbors thus get numbers close to each other. A choice between two nodes with
/// equal hashes then also orders their neighbors.
class Walk {
public:
  explicit Walk(const ScheduleGraph &graph) : graph(graph), isEarlier(graph), visited(graph.size()) {
    order.reserve(graph.size());
  }

  std::vector<NodeId> run() {
    std::vector<NodeId> roots;
    for (NodeId node = 0; node < graph.size(); ++node)
      if (graph.preds(node).empty())
        roots.push_back(node);
    std::sort(roots.begin(), roots.end(), std::cref(isEarlier));
    size_t next = 0; // Position in `order` of the first node whose successors were not visited.
    std::vector<NodeId> succs;
    for (NodeId root : roots) {
      complete(root);
      for (; next < order.size(); ++next) {
        sort(graph.succs(order[next]), succs);
        for (NodeId succ : succs)
          complete(succ);
      }
    }
    return std::move(order);
  }

private:
  /// Sets `result` to the nodes that were not visited, sorted by hash.
  void sort(ScheduleGraph::Range nodes, std::vector<NodeId> &result) const {
    result.clear();
    for (NodeId node : nodes)
      if (!visited[node])
        result.push_back(node);
    std::sort(result.begin(), result.end(), std::cref(isEarlier));
  }

  /// Numbers the node after all nodes that it depends on.
  void complete(NodeId node) {
    if (visited[node])
      return;
    stack.push_back({node, false});
    while (!stack.empty()) {
      auto [at, isReady] = stack.back();
      stack.pop_back();
      if (isReady) {
        order.push_back(at);
        continue;
      }
      if (visited[at])
        continue;
      visited[at] = true;
      stack.push_back({at, true});
      sort(graph.preds(at), preds);
      for (auto it = preds.rbegin(); it != preds.rend(); ++it)
        stack.push_back({*it, false});
    }
  }

  const ScheduleGraph &graph;
  Hashes isEarlier;
  std::vector<bool> visited;
  std::vector<std::pair<NodeId, bool>> stack;
  std::vector<NodeId> preds;
  std::vector<NodeId> order;
};
} // namespace

std::vector<NodeId> inlay::orderCanonically(const ScheduleGraph &graph) { return Walk(graph).run(); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves of nodes between the segments of a placement that fill or empty small accelerator segments.

#ifndef INLAY_LIB_SCHEDULING_MINSIZEFILLER_H
#define INLAY_LIB_SCHEDULING_MINSIZEFILLER_H

#include "inlay/Scheduling/ScheduleGraph.h"

#include <algorithm>
#include <optional>

namespace inlay {

/// Fills the small accelerator segments of a placement from other segments of their target, and moves nodes out of the
/// segments that stay small. Every move keeps the order of dependencies.
class MinSizeFiller {
public:
  MinSizeFiller(const ScheduleGraph &graph, Placement &placement, uint64_t minSize)
      : graph(graph), placement(placement), minSize(minSize), opCount(placement.opCounts(graph)),
        members(placement.targets.size()) {
    for (NodeId node = 0; node < graph.size(); ++node)
      members[placement.segment[node]].push_back(node);
  }

  bool isSmall(uint32_t at) const {
    return canBeSmall(at) && opCount[at] > 0 && opCount[at] < minSize && isDemotable(at);
  }

  /// Returns the small segments, the fullest first.
  std::vector<uint32_t> findSmall() const {
    std::vector<uint32_t> result;
    for (uint32_t at = 0; at < opCount.size(); ++at)
      if (isSmall(at))
        result.push_back(at);
    std::stable_sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) { return opCount[a] > opCount[b]; });
    return result;
  }

  void fill() {
    for (uint32_t at : findSmall())
      if (isSmall(at))
        fill(at);
  }

  /// Returns the nodes of the segment that cannot move to a segment that is large enough.
  std::vector<NodeId> findStuck(uint32_t at) {
    std::vector<NodeId> stuck;
    for (NodeId node : current(at))
      if (!findPlace(node))
        stuck.push_back(node);
    return stuck;
  }

  /// Moves all nodes out of the segment that can move. Successors move first to make room for their predecessors, then
  /// predecessors for their successors.
  void disperse(uint32_t at) {
    std::vector<NodeId> nodes = current(at);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (std::optional<uint32_t> to = findPlace(*it))
        move(*it, *to);
    for (NodeId node : current(at))
      if (std::optional<uint32_t> to = findPlace(node))
        move(node, *to);
  }

  /// Number of nodes and edges visited so far, approximately. The caller compares it with a budget.
  uint64_t work = 0;

private:
  /// Maximum distance, in segments, at which a new segment for a node is searched.
  static constexpr uint32_t kReach = 16;

  bool canBeSmall(uint32_t at) const { return graph.isAccelerator(placement.targets[at]); }

  bool isDemotable(uint32_t at) const {
    return std::all_of(members[at].begin(), members[at].end(), [&](NodeId node) {
      return placement.segment[node] != at || graph.demoted(node, placement.targets[at]) != placement.targets[at];
    });
  }

  /// Returns the members of a segment in topological order.
  const std::vector<NodeId> &current(uint32_t at) {
    std::vector<NodeId> &nodes = members[at];
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](NodeId node) { return placement.segment[node] != at; }),
                nodes.end());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    work += nodes.size();
    return nodes;
  }

  bool takes(uint32_t at, NodeId node) const {
    const ScheduleNode &info = graph.nodes[node];
    TargetIndex target = placement.targets[at];
    return info.target == target || (info.neutral && (info.allowed >> target & 1));
  }

  /// Returns the first and the last segment that the neighbors of the node allow for it.
  std::pair<uint32_t, uint32_t> interval(NodeId node) {
    uint32_t first = 0, last = static_cast<uint32_t>(placement.targets.size() - 1);
    for (NodeId pred : graph.preds(node))
      first = std::max(first, placement.segment[pred]);
    for (NodeId succ : graph.succs(node))
      last = std::min(last, placement.segment[succ]);
    work += 2 + (graph.preds(node).last - graph.preds(node).first);
    return {first, last};
  }

  std::optional<uint32_t> findPlace(NodeId node) {
    auto [first, last] = interval(node);
    uint32_t at = placement.segment[node];
    for (uint32_t step = 1; step <= kReach; ++step) {
      if (at + step <= last && takes(at + step, node) && opCount[at + step] >= minSize)
        return at + step;
      if (at >= first + step && takes(at - step, node) && opCount[at - step] >= minSize)
        return at - step;
    }
    return std::nullopt;
  }

  void move(NodeId node, uint32_t to) {
    opCount[placement.segment[node]] -= graph.nodes[node].opCount;
    opCount[to] += graph.nodes[node].opCount;
    placement.segment[node] = to;
    members[to].push_back(node);
  }

  /// Moves the node to segment `to` if its segment can spare it and its neighbors allow this. Returns true if it moved.
  bool pull(NodeId node, uint32_t to) {
    uint32_t from = placement.segment[node];
    bool spared = !canBeSmall(from) || opCount[from] < minSize || opCount[from] >= minSize + graph.nodes[node].opCount;
    if (!spared || !takes(to, node))
      return false;
    auto [first, last] = interval(node);
    if (first > to || last < to)
      return false;
    move(node, to);
    return true;
  }

  void fill(uint32_t at) {
    std::vector<std::pair<NodeId, uint32_t>> pulled;
    auto pullAll = [&](uint32_t from, bool backwards) {
      std::vector<NodeId> nodes = current(from);
      if (backwards)
        std::reverse(nodes.begin(), nodes.end());
      for (NodeId node : nodes)
        if (opCount[at] < minSize && pull(node, at))
          pulled.emplace_back(node, from);
    };
    uint32_t count = static_cast<uint32_t>(opCount.size());
    for (uint32_t step = 1; step <= kReach && opCount[at] < minSize; ++step) {
      if (at >= step)
        pullAll(at - step, true);
      if (at + step < count)
        pullAll(at + step, false);
    }
    if (opCount[at] < minSize)
      for (auto it = pulled.rbegin(); it != pulled.rend(); ++it)
        move(it->first, it->second);
  }

  const ScheduleGraph &graph;
  Placement &placement;
  uint64_t minSize;
  std::vector<uint64_t> opCount;
  std::vector<std::vector<NodeId>> members;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_MINSIZEFILLER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the data structures of scheduling, and the check that a schedule respects its graph. The algorithms are
// in the other files of this folder.

#include "inlay/Scheduling/ScheduleGraph.h"

#include <algorithm>

using namespace inlay;

/// Sorts the `value` ends of the edges by their `key` ends into `list`. The values of key k start at `start[k]`.
template <typename Key, typename Value>
static void bucket(const std::vector<std::pair<NodeId, NodeId>> &edges, NodeId nodes, Key key, Value value,
                   std::vector<uint32_t> &start, std::vector<NodeId> &list) {
  start.assign(nodes + 1, 0);
  for (const auto &edge : edges)
    ++start[key(edge) + 1];
  for (NodeId node = 0; node < nodes; ++node)
    start[node + 1] += start[node];
  list.resize(edges.size());
  std::vector<uint32_t> next(start.begin(), start.end() - 1);
  for (const auto &edge : edges)
    list[next[key(edge)]++] = value(edge);
}

void ScheduleGraph::seal() {
  auto from = [](const auto &edge) { return edge.first; };
  auto to = [](const auto &edge) { return edge.second; };
  bucket(edges, size(), to, from, predStart, predList);
  bucket(edges, size(), from, to, succStart, succList);
  std::vector<std::pair<NodeId, NodeId>>().swap(edges);
}

TargetIndex ScheduleGraph::demoted(NodeId node, TargetIndex from) const {
  if (!nodes[node].pinned)
    for (unsigned target = from + 1u; target < kMaxTargets; ++target)
      if (nodes[node].allowed >> target & 1)
        return static_cast<TargetIndex>(target);
  return from;
}

ScheduleGraph ScheduleGraph::reversed() const {
  ScheduleGraph result;
  result.nodes.assign(nodes.rbegin(), nodes.rend());
  result.accelerators = accelerators;
  result.fewestBytes = fewestBytes;
  result.edges.reserve(edgeCount());
  for (NodeId node = size(); node-- > 0;)
    for (NodeId pred : preds(node))
      result.addEdge(size() - 1 - node, size() - 1 - pred);
  result.seal();
  return result;
}

ScheduleGraph ScheduleGraph::reordered(const std::vector<NodeId> &order) const {
  ScheduleGraph result;
  result.accelerators = accelerators;
  result.fewestBytes = fewestBytes;
  result.reserve(size(), edgeCount());
  std::vector<NodeId> number(size());
  for (NodeId node : order)
    number[node] = result.add(nodes[node]);
  std::vector<NodeId> before;
  for (NodeId node : order) {
    before.clear();
    for (NodeId pred : preds(node))
      before.push_back(number[pred]);
    std::sort(before.begin(), before.end());
    for (NodeId pred : before)
      result.addEdge(pred, number[node]);
  }
  result.seal();
  return result;
}

void Placement::compact() {
  std::vector<bool> used(targets.size());
  for (uint32_t at : segment)
    used[at] = true;
  std::vector<uint32_t> renumbered(targets.size());
  std::vector<TargetIndex> kept;
  for (size_t at = 0; at < targets.size(); ++at) {
    if (used[at] && (kept.empty() || kept.back() != targets[at]))
      kept.push_back(targets[at]);
    renumbered[at] = kept.empty() ? 0 : static_cast<uint32_t>(kept.size() - 1);
  }
  for (uint32_t &at : segment)
    at = renumbered[at];
  targets = std::move(kept);
}

std::vector<uint64_t> Placement::opCounts(const ScheduleGraph &graph) const {
  std::vector<uint64_t> result(targets.size());
  for (NodeId node = 0; node < graph.size(); ++node)
    result[segment[node]] += graph.nodes[node].opCount;
  return result;
}

uint32_t Schedule::countOf(const ScheduleGraph &graph, bool accelerated) const {
  return static_cast<uint32_t>(std::count_if(segments.begin(), segments.end(), [&](const ScheduledSegment &segment) {
    return graph.isAccelerator(segment.target) == accelerated;
  }));
}

uint64_t Schedule::accelerated(const ScheduleGraph &graph) const {
  uint64_t opCount = 0;
  for (const ScheduledSegment &segment : segments)
    if (graph.isAccelerator(segment.target))
      for (NodeId node : segment.nodes)
        opCount += graph.nodes[node].opCount;
  return opCount;
}

std::string inlay::checkSchedule(const ScheduleGraph &graph, const Schedule &schedule) {
  std::vector<int64_t> rank(graph.size(), -1);
  int64_t next = 0;
  for (const ScheduledSegment &segment : schedule.segments) {
    if (segment.nodes.empty())
      return "expected no empty segment";
    for (NodeId id : segment.nodes) {
      const ScheduleNode &node = graph.nodes[id];
      if (rank[id] >= 0)
        return "node " + std::to_string(id) + " is in two segments";
      if (segment.target != node.target && !(node.allowed >> segment.target & 1))
        return "node " + std::to_string(id) + " can't have target " + std::to_string(segment.target);
      if (graph.isIsolatedOn(id, segment.target) && (!segment.isIsolated || segment.nodes.size() != 1))
        return "node " + std::to_string(id) + " is isolated but shares a segment";
      rank[id] = next++;
    }
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (rank[id] < 0)
      return "node " + std::to_string(id) + " is in no segment";
    for (NodeId pred : graph.preds(id))
      if (rank[pred] > rank[id])
        return "node " + std::to_string(id) + " runs before node " + std::to_string(pred);
  }
  return "";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms segments as Torch-TensorRT does, for comparison and as a bound that MinSizeSchedule.cpp keeps. It is not the
// default strategy.

#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace inlay;

namespace {
constexpr TargetIndex kClosed = kMaxTargets;

/// One open list of nodes per target. No other open list depends on it.
class OpenLists {
public:
  OpenLists(ScheduleGraph &graph, uint64_t minSize) : graph(graph), minSize(minSize), openIn(graph.size(), kClosed) {}

  void add(NodeId node, TargetIndex target) {
    lists[target].push_back(node);
    openIn[node] = target;
  }

  /// Returns true if the node reads the result of a node in the list.
  bool isRead(TargetIndex target, NodeId node) const {
    ScheduleGraph::Range preds = graph.preds(node);
    return std::any_of(preds.begin(), preds.end(), [&](NodeId pred) { return openIn[pred] == target; });
  }

  std::vector<NodeId> close(TargetIndex target) {
    for (NodeId node : lists[target])
      openIn[node] = kClosed;
    return std::exchange(lists[target], {});
  }

  bool isEmpty(TargetIndex target) const { return lists[target].empty(); }

  /// Returns true if the list must be demoted: it is on an accelerator, its op count is too small, and all of its nodes
  /// can be demoted.
  bool isSmall(TargetIndex target) const {
    uint64_t opCount = 0;
    for (NodeId node : lists[target])
      opCount += graph.nodes[node].opCount;
    return graph.isAccelerator(target) && opCount < minSize &&
           std::all_of(
               lists[target].begin(), lists[target].end(),
               [&](NodeId node) { return graph.demoted(node, target) != target; });
  }

  void demote(NodeId node) {
    ScheduleNode &info = graph.nodes[node];
    info.target = graph.demoted(node, info.target);
    info.neutral = false;
  }

private:
  ScheduleGraph &graph;
  uint64_t minSize;
  std::array<std::vector<NodeId>, kMaxTargets> lists;
  std::vector<TargetIndex> openIn;
};
} // namespace

/// Demotes runs whose op count is too small. A run ends at a node that depends on it. Returns true if any run was
/// demoted.
static bool demoteSmallRuns(ScheduleGraph &graph, uint64_t minSize) {
  OpenLists runs(graph, minSize);
  bool changed = false;
  auto judge = [&](TargetIndex target) {
    bool isSmall = runs.isSmall(target);
    for (NodeId node : runs.close(target))
      if (isSmall) {
        runs.demote(node);
        changed = true;
      }
  };
  for (NodeId node = 0; node < graph.size(); ++node) {
    TargetIndex target = graph.nodes[node].target;
    for (TargetIndex other = 0; other < kMaxTargets; ++other)
      if (other != target && !runs.isEmpty(other) && runs.isRead(other, node))
        judge(other);
    if (graph.isAccelerator(target))
      runs.add(node, target);
  }
  for (TargetIndex target = 0; target < kMaxTargets; ++target)
    judge(target);
  return changed;
}

namespace {
class Walk {
public:
  Walk(ScheduleGraph &graph, uint64_t minSize) : graph(graph), open(graph, minSize) {}

  Schedule run() {
    for (NodeId node = 0; node < graph.size(); ++node)
      place(node);
    // The nodes of small lists join a later list, so accelerators come first.
    for (TargetIndex target = 0; target < kMaxTargets; ++target)
      close(target);
    for (ScheduledSegment &segment : schedule.segments)
      std::sort(segment.nodes.begin(), segment.nodes.end());
    return std::move(schedule);
  }

private:
  void place(NodeId node) {
    TargetIndex target = graph.nodes[node].target;
    if (graph.isIsolatedOn(node, target) && graph.isAccelerator(target))
      close(target);
    for (TargetIndex other = 0; other < kMaxTargets; ++other)
      if (other != target && !open.isEmpty(other) && open.isRead(other, node))
        close(other);
    if (!graph.isIsolatedOn(node, target))
      return open.add(node, target);
    emit(target, false, open.close(target));
    emit(target, true, {node});
  }

  /// Emits a list. If the list is small, demotes its nodes and adds them to the lists of their new targets instead.
  void close(TargetIndex target) {
    bool isSmall = open.isSmall(target);
    std::vector<NodeId> nodes = open.close(target);
    if (!isSmall)
      return emit(target, false, std::move(nodes));
    for (NodeId node : nodes) {
      open.demote(node);
      place(node);
    }
  }

  /// Appends a segment, or extends the last segment if it has the same target.
  void emit(TargetIndex target, bool isIsolated, std::vector<NodeId> nodes) {
    if (nodes.empty())
      return;
    std::vector<ScheduledSegment> &segments = schedule.segments;
    bool joins = !isIsolated && !segments.empty() && !segments.back().isIsolated && segments.back().target == target;
    if (!joins)
      segments.push_back({target, isIsolated, {}});
    segments.back().nodes.insert(segments.back().nodes.end(), nodes.begin(), nodes.end());
  }

  ScheduleGraph &graph;
  OpenLists open;
  Schedule schedule;
};
} // namespace

Schedule inlay::scheduleLikeTorchTensorRT(ScheduleGraph &graph, int64_t minSize) {
  uint64_t size = static_cast<uint64_t>(std::max<int64_t>(minSize, 1));
  while (size > 1 && demoteSmallRuns(graph, size)) {
  }
  return Walk(graph, size).run();
}

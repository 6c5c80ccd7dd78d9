// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace inlay;

namespace {
constexpr unsigned kColours = 64;
constexpr Colour kClosed = kColours;

/// One list of nodes per colour that no other open list depends on.
class OpenLists {
public:
  OpenLists(ScheduleGraph &graph, uint64_t least) : graph(graph), least(least), openIn(graph.size(), kClosed) {}

  void add(NodeId node, Colour colour) {
    lists[colour].push_back(node);
    openIn[node] = colour;
  }

  /// True if the node uses what a node in the list made.
  bool isRead(Colour colour, NodeId node) const {
    ScheduleGraph::Range preds = graph.preds(node);
    return std::any_of(preds.begin(), preds.end(), [&](NodeId pred) { return openIn[pred] == colour; });
  }

  std::vector<NodeId> close(Colour colour) {
    for (NodeId node : lists[colour])
      openIn[node] = kClosed;
    return std::exchange(lists[colour], {});
  }

  bool isEmpty(Colour colour) const { return lists[colour].empty(); }

  /// The list is to be demoted: on an accelerator, too small, and every node has somewhere to go.
  bool isSmall(Colour colour) const {
    uint64_t weight = 0;
    for (NodeId node : lists[colour])
      weight += graph.nodes[node].weight;
    return graph.isAccelerator(colour) && weight < least &&
           std::all_of(
               lists[colour].begin(), lists[colour].end(),
               [&](NodeId node) { return graph.demoted(node, colour) != colour; });
  }

  void demote(NodeId node) {
    ScheduleNode &info = graph.nodes[node];
    info.colour = graph.demoted(node, info.colour);
    info.neutral = false;
  }

private:
  ScheduleGraph &graph;
  uint64_t least;
  std::array<std::vector<NodeId>, kColours> lists;
  std::vector<Colour> openIn;
};
} // namespace

/// Demotes runs that are too small. Only a node that depends on a run ends it. Returns whether any was.
static bool demoteSmallRuns(ScheduleGraph &graph, uint64_t least) {
  OpenLists runs(graph, least);
  bool changed = false;
  auto judge = [&](Colour colour) {
    bool isSmall = runs.isSmall(colour);
    for (NodeId node : runs.close(colour))
      if (isSmall) {
        runs.demote(node);
        changed = true;
      }
  };
  for (NodeId node = 0; node < graph.size(); ++node) {
    Colour colour = graph.nodes[node].colour;
    for (Colour other = 0; other < kColours; ++other)
      if (other != colour && !runs.isEmpty(other) && runs.isRead(other, node))
        judge(other);
    if (graph.isAccelerator(colour))
      runs.add(node, colour);
  }
  for (Colour colour = 0; colour < kColours; ++colour)
    judge(colour);
  return changed;
}

namespace {
class Walk {
public:
  Walk(ScheduleGraph &graph, uint64_t least) : graph(graph), open(graph, least) {}

  Schedule run() {
    for (NodeId node = 0; node < graph.size(); ++node)
      place(node);
    // What is small joins a later list, so that accelerators come first.
    for (Colour colour = 0; colour < kColours; ++colour)
      close(colour);
    for (ScheduledSegment &segment : schedule.segments)
      std::sort(segment.nodes.begin(), segment.nodes.end());
    return std::move(schedule);
  }

private:
  void place(NodeId node) {
    Colour colour = graph.nodes[node].colour;
    if (graph.isOwn(node, colour) && graph.isAccelerator(colour))
      close(colour);
    for (Colour other = 0; other < kColours; ++other)
      if (other != colour && !open.isEmpty(other) && open.isRead(other, node))
        close(other);
    if (!graph.isOwn(node, colour))
      return open.add(node, colour);
    emit(colour, false, open.close(colour));
    emit(colour, true, {node});
  }

  /// Emits a list, or places its nodes anew where they are demoted to: after what is open there.
  void close(Colour colour) {
    bool isSmall = open.isSmall(colour);
    std::vector<NodeId> nodes = open.close(colour);
    if (!isSmall)
      return emit(colour, false, std::move(nodes));
    for (NodeId node : nodes) {
      open.demote(node);
      place(node);
    }
  }

  /// Neighbours of one colour become one.
  void emit(Colour colour, bool own, std::vector<NodeId> nodes) {
    if (nodes.empty())
      return;
    std::vector<ScheduledSegment> &segments = schedule.segments;
    bool joins = !own && !segments.empty() && !segments.back().own && segments.back().colour == colour;
    if (!joins)
      segments.push_back({colour, own, {}});
    segments.back().nodes.insert(segments.back().nodes.end(), nodes.begin(), nodes.end());
  }

  ScheduleGraph &graph;
  OpenLists open;
  Schedule schedule;
};
} // namespace

Schedule inlay::scheduleLikeTorchTensorRT(ScheduleGraph &graph, int64_t least) {
  uint64_t size = static_cast<uint64_t>(std::max<int64_t>(least, 1));
  while (size > 1 && demoteSmallRuns(graph, size)) {
  }
  return Walk(graph, size).run();
}

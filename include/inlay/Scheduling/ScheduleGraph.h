// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What scheduling sees of a block: nodes with targets, and what must run before what. No IR: a target is the number of
// a target in priority order, a node is an op or a group of ops that must stay together.

#ifndef INLAY_SCHEDULING_SCHEDULEGRAPH_H
#define INLAY_SCHEDULING_SCHEDULEGRAPH_H

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

using NodeId = uint32_t;
using TargetIndex = uint8_t;
/// A set of targets; targets are below 64.
using TargetSet = uint64_t;

struct ScheduleNode {
  /// Colours the node may take: where it is demoted to, and what a neutral node may join.
  TargetSet allowed = 0;
  /// What it makes for others, in bytes.
  uint64_t bytes = 0;
  /// What it counts towards the least size of a segment.
  uint32_t opCount = 1;
  TargetIndex target = 0;
  /// May join a segment of any allowed target.
  bool neutral = false;
  /// Is a segment of its own unless on an accelerator.
  bool isolatedOnHost = false;
  /// Is a segment of its own on an accelerator too.
  bool isolated = false;
  /// Is never demoted.
  bool pinned = false;
  /// Runs as late as it may: what it makes is held until it is used, and what it reads is there anyway.
  bool sinkable = false;
};

/// An acyclic graph whose nodes are numbered in a topological order. 32 bytes per node and 8 per edge, once sealed.
class ScheduleGraph {
public:
  struct Range {
    const NodeId *first, *last;
    const NodeId *begin() const { return first; }
    const NodeId *end() const { return last; }
    bool empty() const { return first == last; }
  };

  std::vector<ScheduleNode> nodes;
  TargetSet accelerators = 0;
  bool fewestBytes = false; ///< nodes may move between segments to carry fewer bytes

  NodeId size() const { return static_cast<NodeId>(nodes.size()); }
  void reserve(size_t nodeCount, size_t edgeCount) {
    nodes.reserve(nodeCount);
    edges.reserve(edgeCount);
  }
  NodeId add(ScheduleNode node) {
    nodes.push_back(node);
    return size() - 1;
  }
  /// `before` < `after`, both added already. Edges count once `seal` was called, after which none are added.
  void addEdge(NodeId before, NodeId after) { edges.emplace_back(before, after); }
  void seal();

  Range preds(NodeId node) const { return range(predStart, predList, node); }
  Range succs(NodeId node) const { return range(succStart, succList, node); }
  size_t edgeCount() const { return predList.size(); }

  bool isAccelerator(TargetIndex target) const { return accelerators >> target & 1; }
  /// Whether the node is a segment of its own if it has that target.
  bool isIsolatedOn(NodeId node, TargetIndex target) const {
    return nodes[node].isolated || (nodes[node].isolatedOnHost && !isAccelerator(target));
  }
  /// The target the node takes when demoted: the next allowed one after `from`, or `from` if there is none or the node
  /// is pinned.
  TargetIndex demoted(NodeId node, TargetIndex from) const;

  /// The same graph with every edge turned round; node v becomes size() - 1 - v.
  ScheduleGraph reversed() const;

  /// The same graph with its nodes in that topological order, and neighbours in ascending order.
  ScheduleGraph reordered(const std::vector<NodeId> &order) const;

private:
  static Range range(const std::vector<uint32_t> &start, const std::vector<NodeId> &list, NodeId node) {
    return {list.data() + start[node], list.data() + start[node + 1]};
  }

  std::vector<std::pair<NodeId, NodeId>> edges;
  std::vector<uint32_t> predStart, succStart;
  std::vector<NodeId> predList, succList;
};

/// Which segment each node is in, and each segment's target; segments are numbered in execution order.
struct Placement {
  std::vector<uint32_t> segment;
  std::vector<TargetIndex> targets;

  /// Drops empty segments and joins neighbours of one target.
  void compact();
  /// Weight of each segment.
  std::vector<uint64_t> opCounts(const ScheduleGraph &graph) const;
};

struct ScheduledSegment {
  TargetIndex target;
  bool isIsolated;
  std::vector<NodeId> nodes; ///< in topological order
};

struct Schedule {
  std::vector<ScheduledSegment> segments; ///< in execution order
  /// No schedule of the same targets has fewer segments.
  uint32_t lowerBound = 0;
  /// A path that proves `lowerBound`: on it the targets change as often as the segments do. Empty if nothing is proven.
  std::vector<NodeId> witness;
  /// Bytes times borders that values are carried over, and what they were before nodes were moved for their sake.
  uint64_t bytesCarried = 0, bytesCarriedBefore = 0;

  uint32_t countOf(const ScheduleGraph &graph, bool accelerated) const;
  /// Weight of the nodes that are on an accelerator.
  uint64_t accelerated(const ScheduleGraph &graph) const;
};

/// What is wrong with the schedule: a node missing or twice, a target it may not have, an edge against the order, a
/// node that must be on its own. Empty if nothing is. Independent of how schedules are made.
std::string checkSchedule(const ScheduleGraph &graph, const Schedule &schedule);

} // namespace inlay

#endif // INLAY_SCHEDULING_SCHEDULEGRAPH_H

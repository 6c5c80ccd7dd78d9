// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input and output of scheduling: a graph of nodes with targets, and a schedule of segments. There is no IR here. A
// target is its index in priority order. A node is an op, or a group of ops that must stay together.

#ifndef INLAY_SCHEDULING_SCHEDULEGRAPH_H
#define INLAY_SCHEDULING_SCHEDULEGRAPH_H

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

using NodeId = uint32_t;
using TargetIndex = uint8_t;
/// A set of targets as bits, one per target index.
using TargetSet = uint64_t;
/// Number of targets that a TargetSet can hold.
inline constexpr unsigned kMaxTargets = 64;

struct ScheduleNode {
  /// The targets that the node may take when it is demoted, or when it is neutral and joins a segment.
  TargetSet allowed = 0;
  /// Size of the results that other nodes read, in bytes.
  uint64_t bytes = 0;
  /// Number of ops that the node counts as towards the minimum block size.
  uint32_t opCount = 1;
  TargetIndex target = 0;
  /// True if the node has no fixed target: it may join a segment of any allowed target.
  bool neutral = false;
  /// True if the node shares no segment with other nodes, unless it runs on an accelerator.
  bool isolatedOnHost = false;
  /// True if the node shares no segment with other nodes on any target.
  bool isolated = false;
  /// True if the node is never demoted.
  bool pinned = false;
  /// True if the node should run as late as possible, because its results take memory until they are used, while its
  /// operands stay in memory anyway.
  bool sinkable = false;
};

/// An acyclic graph whose nodes are numbered in a topological order. It takes 32 bytes per node and 8 bytes per edge
/// once it is sealed.
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
  bool fewestBytes = false; ///< True if nodes may move between segments so that fewer bytes are carried.

  NodeId size() const { return static_cast<NodeId>(nodes.size()); }
  void reserve(size_t nodeCount, size_t edgeCount) {
    nodes.reserve(nodeCount);
    edges.reserve(edgeCount);
  }
  NodeId add(ScheduleNode node) {
    nodes.push_back(node);
    return size() - 1;
  }
  /// Adds an edge. `before` must be less than `after`, and both must have been added. Edges take effect when `seal` is
  /// called, after which none may be added.
  void addEdge(NodeId before, NodeId after) { edges.emplace_back(before, after); }
  void seal();

  Range preds(NodeId node) const { return range(predStart, predList, node); }
  Range succs(NodeId node) const { return range(succStart, succList, node); }
  size_t edgeCount() const { return predList.size(); }

  bool isAccelerator(TargetIndex target) const { return accelerators >> target & 1; }
  /// Returns true if the node may share no segment with other nodes when it runs on `target`.
  bool isIsolatedOn(NodeId node, TargetIndex target) const {
    return nodes[node].isolated || (nodes[node].isolatedOnHost && !isAccelerator(target));
  }
  /// Returns the target that the node takes when it is demoted from `from`: the next allowed target, or `from` if there
  /// is none or the node is pinned.
  TargetIndex demoted(NodeId node, TargetIndex from) const;

  /// Returns the same graph with every edge reversed. Node v becomes size() - 1 - v.
  ScheduleGraph reversed() const;

  /// Returns the same graph with its nodes in the topological order `order`. The neighbors of each node are in
  /// ascending order.
  ScheduleGraph reordered(const std::vector<NodeId> &order) const;

private:
  static Range range(const std::vector<uint32_t> &start, const std::vector<NodeId> &list, NodeId node) {
    return {list.data() + start[node], list.data() + start[node + 1]};
  }

  std::vector<std::pair<NodeId, NodeId>> edges;
  std::vector<uint32_t> predStart, succStart;
  std::vector<NodeId> predList, succList;
};

/// The segment of each node, and the target of each segment. Segments are numbered in execution order.
struct Placement {
  std::vector<uint32_t> segment;
  std::vector<TargetIndex> targets;

  /// Drops empty segments and joins adjacent segments of the same target.
  void compact();
  /// Returns the op count of each segment.
  std::vector<uint64_t> opCounts(const ScheduleGraph &graph) const;
};

struct ScheduledSegment {
  TargetIndex target;
  bool isIsolated;
  std::vector<NodeId> nodes; ///< In topological order.
};

struct Schedule {
  std::vector<ScheduledSegment> segments; ///< In execution order.
  /// No schedule of the same targets has fewer segments. 0 if no bound is proven.
  uint32_t lowerBound = 0;
  /// A path that proves `lowerBound`: its nodes need that many segments because their targets alternate. Empty if
  /// nothing is proven.
  std::vector<NodeId> witness;
  /// Sum, over all values, of the bytes times the number of borders that the value is carried over.
  /// `bytesCarriedBefore` is this sum before nodes were moved to reduce it.
  uint64_t bytesCarried = 0, bytesCarriedBefore = 0;

  /// Returns the number of segments that run on accelerators, or on other targets if `accelerated` is false.
  uint32_t countOf(const ScheduleGraph &graph, bool accelerated) const;
  /// Returns the op count of all accelerator segments.
  uint64_t accelerated(const ScheduleGraph &graph) const;
};

/// Returns a message that describes what is wrong with the schedule, or an empty string: a node that is missing or
/// occurs twice, a target that the node may not have, an edge against the execution order, or an isolated node that
/// shares a segment. The check is independent of the algorithms that make schedules.
std::string checkSchedule(const ScheduleGraph &graph, const Schedule &schedule);

} // namespace inlay

#endif // INLAY_SCHEDULING_SCHEDULEGRAPH_H

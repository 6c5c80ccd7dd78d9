// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that other partitioners keep on accelerators for a minimum segment size, as their documentation describes
// them.

#ifndef UNITTESTS_SCHEDULING_ANCESTORS_H
#define UNITTESTS_SCHEDULING_ANCESTORS_H

#include "inlay/Scheduling/LevelSchedule.h"
#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace inlay::testing {

/// Returns the op count of the accelerator segments that are large enough. The others go to the host as a whole.
inline uint64_t countLarge(const ScheduleGraph &graph, const Placement &placement, uint64_t minSize) {
  std::vector<uint64_t> opCounts = placement.opCounts(graph);
  uint64_t kept = 0;
  for (size_t at = 0; at < opCounts.size(); ++at)
    if (graph.isAccelerator(placement.targets[at]) && opCounts[at] >= minSize)
      kept += opCounts[at];
  return kept;
}

/// Returns the op count that the splitter of torch.fx keeps; for several accelerators, the hierarchical partitioner of
/// Torch-TensorRT.
inline uint64_t keepBySplitter(ScheduleGraph graph, uint64_t minSize) {
  for (ScheduleNode &node : graph.nodes)
    node.neutral = false;
  return countLarge(graph, placeByTurns(graph).placement, minSize);
}

/// Returns the op count that the TorchScript front end of Torch-TensorRT keeps.
inline uint64_t keepByTorchTensorRT(ScheduleGraph graph, uint64_t minSize) {
  ScheduleGraph demoted = graph;
  for (ScheduleNode &node : demoted.nodes)
    node.neutral = false;
  return scheduleLikeTorchTensorRT(demoted, static_cast<int64_t>(minSize)).accelerated(graph);
}

/// The CapabilityBasedPartitioner of torch.fx. From the last node to the first, each node joins every partition that it
/// can without a cycle between partitions. Small partitions are dropped afterwards.
class CapabilityBased {
public:
  explicit CapabilityBased(const ScheduleGraph &graph) : graph(graph), owner(graph.size()) {
    std::iota(owner.begin(), owner.end(), 0u);
    std::vector<NodeId> partitions;
    for (NodeId node = graph.size(); node-- > 0;) {
      if (!graph.isAccelerator(graph.nodes[node].target))
        continue;
      std::vector<NodeId> kept{node};
      for (auto it = partitions.rbegin(); it != partitions.rend(); ++it)
        if (!tryMerge(*it, node))
          kept.push_back(*it);
      partitions.assign(kept.rbegin(), kept.rend());
    }
  }

  uint64_t keep(uint64_t minSize) const {
    std::map<NodeId, uint64_t> opCounts;
    for (NodeId node = 0; node < graph.size(); ++node)
      if (graph.isAccelerator(graph.nodes[node].target))
        opCounts[owner[node]] += graph.nodes[node].opCount;
    uint64_t kept = 0;
    for (auto [id, opCount] : opCounts)
      kept += opCount >= minSize ? opCount : 0;
    return kept;
  }

private:
  bool tryMerge(NodeId from, NodeId to) {
    if (graph.nodes[from].target != graph.nodes[to].target)
      return false;
    std::vector<NodeId> before = owner;
    for (NodeId &id : owner)
      if (id == from)
        id = to;
    if (isAcyclic())
      return true;
    owner = std::move(before);
    return false;
  }

  bool isAcyclic() const {
    std::vector<unsigned> missing(graph.size());
    std::vector<std::vector<NodeId>> succs(graph.size());
    unsigned left = 0;
    for (NodeId node = 0; node < graph.size(); ++node) {
      left += owner[node] == node;
      for (NodeId succ : graph.succs(node))
        if (owner[succ] != owner[node]) {
          succs[owner[node]].push_back(owner[succ]);
          ++missing[owner[succ]];
        }
    }
    std::vector<NodeId> ready;
    for (NodeId node = 0; node < graph.size(); ++node)
      if (owner[node] == node && !missing[node])
        ready.push_back(node);
    for (; !ready.empty(); --left) {
      NodeId node = ready.back();
      ready.pop_back();
      for (NodeId succ : succs[node])
        if (--missing[succ] == 0)
          ready.push_back(succ);
    }
    return left == 0;
  }

  const ScheduleGraph &graph;
  std::vector<NodeId> owner;
};

} // namespace inlay::testing

#endif // UNITTESTS_SCHEDULING_ANCESTORS_H

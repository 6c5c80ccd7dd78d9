// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses a target for each node so that compute, transfers and launches together take the least time.
//
// With two targets, a minimum cut gives the least time of compute and transfers without launches (Stone,
// "Multiprocessor scheduling with the aid of network flow algorithms", TSE 1977). A value with several readers adds two
// auxiliary nodes, since it is transferred at most once in each direction (as in Hu et al., "Dynamic adaptive DNN
// surgery", INFOCOM 2019). More targets are handled by alpha-expansion (Boykov, Veksler, Zabih, PAMI 2001). The number
// of launches depends on the schedule as a whole. Each border is therefore charged a share of a launch, the cut is
// computed for several shares, and the placement with the least estimated time is chosen.

#ifndef INLAY_SCHEDULING_COSTPLACEMENT_H
#define INLAY_SCHEDULING_COSTPLACEMENT_H

#include "inlay/Scheduling/ScheduleGraph.h"
#include "inlay/Support/TargetCosts.h"

namespace inlay {

/// The overheads of a target besides compute.
struct TargetOverheads {
  double launchSeconds = 0;
  Transfer in, out;
};

/// The compute time of each node on each target, and the values that nodes exchange.
class CostGraph {
public:
  /// The `maker` of values that are in host memory before the graph runs.
  static constexpr NodeId kOutside = ~NodeId(0);

  struct Value {
    NodeId maker;
    bool isReturned; ///< True if the host needs the value after the graph has run.
    double bytes;
    uint32_t firstReader, lastReader; ///< Half-open range in `readers`.
  };

  CostGraph(const ScheduleGraph &graph, std::vector<TargetOverheads> targets);

  /// Sets the compute time of a node on a target, in seconds. It is 0 until set.
  void setCompute(NodeId node, TargetIndex target, double seconds) {
    compute[node * targets.size() + target] = seconds;
  }
  double getCompute(NodeId node, TargetIndex target) const { return compute[node * targets.size() + target]; }
  /// Adds a value. `readers` must be distinct and must not contain the maker.
  void addValue(NodeId maker, double bytes, bool isReturned, const std::vector<NodeId> &readers);

  /// Returns the targets that the node may take.
  TargetSet getAllowed(NodeId node) const;
  /// Returns the seconds of compute of all nodes.
  double countCompute(const std::vector<TargetIndex> &placed) const;
  /// Returns the seconds of the transfers of a value: once from the memory of its maker to the host, and from there
  /// once to each other target that has a reader.
  double countTransfers(const Value &value, const std::vector<TargetIndex> &placed) const;
  double countTransfers(const std::vector<TargetIndex> &placed) const;
  /// Returns the seconds of the launches, for the fewest segments that the placement allows.
  double countLaunches(const std::vector<TargetIndex> &placed) const;
  double estimate(const std::vector<TargetIndex> &placed) const {
    return countCompute(placed) + countTransfers(placed) + countLaunches(placed);
  }

  const ScheduleGraph &graph;
  std::vector<TargetOverheads> targets;
  std::vector<Value> values;
  std::vector<NodeId> readers;

private:
  std::vector<double> compute;
  mutable ScheduleGraph assigned; ///< A copy of `graph` with the targets of a placement; segments are counted with it.
};

struct CostedPlacement {
  std::vector<TargetIndex> targets; ///< Target of each node.
  double seconds = 0;               ///< Compute, transfers and launches.
  double lowerBound = 0;            ///< No placement takes fewer seconds.
  std::vector<double> candidates;   ///< Seconds of each candidate.
};

/// Returns a placement that moves each node from an accelerator to the last of its allowed targets that is not one.
/// Pinned nodes and nodes without such a target keep their target.
std::vector<TargetIndex> placeOnHost(const ScheduleGraph &graph);

/// Returns the placement that takes the least time among the candidates, the cheapest target of each node by itself,
/// and the results of the cuts. The targets of each candidate must be allowed.
CostedPlacement placeByCost(const CostGraph &costs, const std::vector<std::vector<TargetIndex>> &candidates);

} // namespace inlay

#endif // INLAY_SCHEDULING_COSTPLACEMENT_H

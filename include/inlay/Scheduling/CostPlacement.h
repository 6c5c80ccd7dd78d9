// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where nodes run so that compute, transfers and launches take the least time together.
//
// Compute and transfers alone are a minimum cut for two targets (Stone, "Multiprocessor scheduling with the aid of
// network flow algorithms", TSE 1977), with two auxiliary nodes for a value of several readers, since it is shipped
// once in each direction (as in Hu et al., "Dynamic adaptive DNN surgery", INFOCOM 2019); more targets take turns by
// alpha-expansion (Boykov, Veksler, Zabih, PAMI 2001). Launches depend on the schedule as a whole: each border gets a
// part of a launch as its price, the cut is made at several prices, and what each placement takes in truth decides.

#ifndef INLAY_SCHEDULING_COSTPLACEMENT_H
#define INLAY_SCHEDULING_COSTPLACEMENT_H

#include "inlay/Scheduling/ScheduleGraph.h"
#include "inlay/Support/TargetCosts.h"

namespace inlay {

struct TargetOverheads {
  double launchSeconds = 0;
  Transfer in, out;
};

/// What the nodes of a graph take on each target, and the values between them.
class CostGraph {
public:
  /// The maker of what is there before the graph runs, in the host's memory.
  static constexpr NodeId kOutside = ~NodeId(0);

  struct Value {
    NodeId maker;
    bool isReturned; ///< the host needs it after the graph ran
    double bytes;
    uint32_t firstReader, lastReader; ///< in `readers`, the last not included
  };

  CostGraph(const ScheduleGraph &graph, std::vector<TargetOverheads> targets);

  /// Seconds; 0 until set.
  void setCompute(NodeId node, TargetIndex target, double seconds) {
    compute[node * targets.size() + target] = seconds;
  }
  double getCompute(NodeId node, TargetIndex target) const { return compute[node * targets.size() + target]; }
  /// Readers are distinct and not the maker.
  void addValue(NodeId maker, double bytes, bool isReturned, const std::vector<NodeId> &readers);

  /// The targets that the node may take.
  TargetSet getAllowed(NodeId node) const;
  double countCompute(const std::vector<TargetIndex> &placed) const;
  /// A value goes from its maker's memory to the host's once, and from there once to each other that has a reader.
  double countTransfers(const Value &value, const std::vector<TargetIndex> &placed) const;
  double countTransfers(const std::vector<TargetIndex> &placed) const;
  /// The launches of the fewest segments of the placement.
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
  mutable ScheduleGraph assigned; ///< to count segments of
};

struct CostedPlacement {
  std::vector<TargetIndex> targets; ///< of each node
  double seconds = 0;               ///< compute, transfers and launches
  double lowerBound = 0;            ///< no placement takes less
  std::vector<double> candidates;   ///< what each candidate takes
};

/// Everything that may run there on the last of its allowed targets that is no accelerator.
std::vector<TargetIndex> placeOnHost(const ScheduleGraph &graph);

/// The best of the candidates, of the cheapest target for each node by itself, and of what cuts find. Candidates are
/// placements in allowed targets.
CostedPlacement placeByCost(const CostGraph &costs, const std::vector<std::vector<TargetIndex>> &candidates);

} // namespace inlay

#endif // INLAY_SCHEDULING_COSTPLACEMENT_H

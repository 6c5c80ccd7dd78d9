// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule graph of a block under a cost model: the costs of its nodes and values, the best placement, and texts
// that explain it.

#ifndef INLAY_LIB_PARTITION_FORM_COSTPLAN_H
#define INLAY_LIB_PARTITION_FORM_COSTPLAN_H

#include "ColocationGroups.h"
#include "Partition/Cost/ModuleCosts.h"
#include "SegmentPlan.h"
#include "inlay/Scheduling/CostPlacement.h"

namespace inlay {

class CostPlan {
public:
  /// `order[node]` is the colocation group that `node` of `schedule` stands for. All arguments must outlive the plan.
  CostPlan(const DependencyGraph &graph, const ColocationGroups &groups, llvm::ArrayRef<unsigned> order,
           const ScheduleGraph &schedule, const TargetList &targets, const ModuleCosts &model, int64_t minSize);

  /// Gives the nodes of `schedule`, a copy of the graph, the targets that take the least time.
  void place(ScheduleGraph &schedule);
  /// Returns the reason, with numbers, why `place` moved the node from the first target that can run it.
  const std::string &explain(NodeId node);

  /// Returns the time of the schedule and of the placements that it is compared with.
  PlacementTimes estimate(const Schedule &result);

private:
  void addCompute();
  void addValues();
  void explainMoves();
  std::string describeMove(llvm::ArrayRef<NodeId> nodes);
  /// Returns the additional seconds of launches and transfers if the nodes moved back, or std::nullopt if the budget of
  /// work for explanations is spent.
  std::optional<double> countBorder(llvm::ArrayRef<NodeId> nodes, TargetIndex from);

  const DependencyGraph &graph;
  const ColocationGroups &groups;
  llvm::ArrayRef<unsigned> order;
  const ScheduleGraph &schedule;
  const TargetList &targets;
  const ModuleCosts &model;
  PlacementTimes times;
  CostGraph costs;
  std::vector<std::vector<TargetIndex>>
      candidates; ///< All on accelerators, all on the host, and with a minimum segment size.
  CostedPlacement placed;
  std::vector<unsigned> moveOf; ///< Per node: the number of its explanation.
  std::vector<std::string> explanations;
  std::vector<llvm::SmallVector<unsigned, 2>> valuesOf; ///< Per node: the values that it makes or reads.
  uint64_t work = 0;                                    ///< Work spent on explanations.
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_COSTPLAN_H

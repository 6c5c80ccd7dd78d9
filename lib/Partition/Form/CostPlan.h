// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's schedule graph under a cost model: what its nodes and values cost, where they run best, and in what words.

#ifndef INLAY_LIB_PARTITION_FORM_COSTPLAN_H
#define INLAY_LIB_PARTITION_FORM_COSTPLAN_H

#include "ColocationGroups.h"
#include "Partition/Cost/ModuleCosts.h"
#include "SegmentPlan.h"
#include "inlay/Scheduling/CostPlacement.h"

namespace inlay {

class CostPlan {
public:
  /// `order[node]` is the group that is a node of `schedule`. All must outlive the plan.
  CostPlan(const DependencyGraph &graph, const ColocationGroups &groups, llvm::ArrayRef<unsigned> order,
           const ScheduleGraph &schedule, const TargetList &targets, const ModuleCosts &model, int64_t minSize);

  /// Gives the nodes of a copy of the schedule the colours that take the least time.
  void place(ScheduleGraph &schedule);
  /// Why a node that `place` moved is not where it could run first, with the numbers.
  const std::string &explain(NodeId node);

  /// What the schedule takes, beside the placements it is compared with.
  PlacementTimes estimate(const Schedule &result);

private:
  void addCompute();
  void addValues();
  void explainMoves();
  std::string describeMove(llvm::ArrayRef<NodeId> nodes);
  /// What it would take more in launches and transfers to have the nodes back; nothing once that was asked too often.
  std::optional<double> countBorder(llvm::ArrayRef<NodeId> nodes, TargetIndex from);

  const DependencyGraph &graph;
  const ColocationGroups &groups;
  llvm::ArrayRef<unsigned> order;
  const ScheduleGraph &schedule;
  const TargetList &targets;
  const ModuleCosts &model;
  PlacementTimes times;
  CostGraph costs;
  std::vector<std::vector<TargetIndex>> candidates; ///< all accelerated, all on the host, segments of a least size
  CostedPlacement placed;
  std::vector<unsigned> moveOf; ///< per node: the number of its sentence
  std::vector<std::string> sentences;
  std::vector<llvm::SmallVector<unsigned, 2>> touching; ///< per node: the values it makes or reads
  uint64_t work = 0;                                    ///< spent on reasons
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_COSTPLAN_H

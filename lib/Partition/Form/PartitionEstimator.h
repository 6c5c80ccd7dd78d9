// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans partitions without changing the IR: with other settings, or if the first target could run ops that it has no
// code for.

#ifndef INLAY_LIB_PARTITION_FORM_PARTITIONESTIMATOR_H
#define INLAY_LIB_PARTITION_FORM_PARTITIONESTIMATOR_H

#include "Partition/Decide/Fallback.h"
#include "SegmentPlan.h"
#include "inlay/Partition/WhatIf.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

class PartitionEstimator {
public:
  /// The ops of the function must have verdicts and must not be in segments. The function must not change while the
  /// estimator is used.
  PartitionEstimator(mlir::FunctionOpInterface function, TargetList &targets, const ModuleCosts *costs);

  /// Plans with the existing verdicts.
  mlir::FailureOr<PartitionSummary> plan(const PartitionInfo &info);
  /// Plans after deciding again all ops that are not forced, as if the first target could run `kinds` (names as in
  /// reports). Fails without a diagnostic if no target can then run one of the ops.
  mlir::FailureOr<PartitionSummary> planWith(llvm::ArrayRef<std::string> kinds, const PartitionInfo &info);

  /// Returns the kinds of ops that the first target has no code for, and their number of ops, by name.
  std::vector<std::pair<std::string, int64_t>> findMissingKinds();

  const TargetList &getTargets() const { return targets; }

private:
  mlir::LogicalResult planBlock(mlir::Block &block, bool redecide, const PartitionInfo &info,
                                PartitionSummary &figures);
  mlir::LogicalResult planRegions(mlir::Operation *op, bool redecide, const PartitionInfo &info,
                                  PartitionSummary &figures);
  mlir::FailureOr<Decisions> decide(const DependencyGraph &graph, bool redecide);
  const DependencyGraph &getGraph(mlir::Block &block);

  mlir::FunctionOpInterface function;
  TargetList &targets;
  const ModuleCosts *costs;
  Aliases aliases;
  FallbackFilter forced;
  llvm::DenseMap<mlir::Block *, std::unique_ptr<DependencyGraph>> graphs;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_PARTITIONESTIMATOR_H

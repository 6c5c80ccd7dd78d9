// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a partition would come to, planned without changing anything: under other settings, or if the first target ran
// ops that it has no code for.

#ifndef INLAY_LIB_PARTITION_FORM_PARTITIONESTIMATOR_H
#define INLAY_LIB_PARTITION_FORM_PARTITIONESTIMATOR_H

#include "Partition/Decide/Fallback.h"
#include "SegmentPlan.h"
#include "inlay/Partition/WhatIf.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

class PartitionEstimator {
public:
  /// The function's ops have verdicts and are in no segments yet; it stays as it is while the forecaster is used.
  PartitionEstimator(mlir::FunctionOpInterface function, TargetList &targets, const ModuleCosts *costs);

  /// By the verdicts that are there.
  mlir::FailureOr<PartitionSummary> plan(const PartitionInfo &info);
  /// With all but forced ops decided anew, as if the first target could run `kinds` (names as in reports). Failure, and
  /// no diagnostic, where that leaves an op that no target can run.
  mlir::FailureOr<PartitionSummary> planWith(llvm::ArrayRef<std::string> kinds, const PartitionInfo &info);

  /// Kinds of ops that the first target has no code for, with how many there are, by name.
  std::vector<std::pair<std::string, int64_t>> findMissingKinds();

  const TargetList &getTargets() const { return targets; }

private:
  mlir::LogicalResult planBlock(mlir::Block &block, bool anew, const PartitionInfo &info, PartitionSummary &figures);
  mlir::LogicalResult planRegions(mlir::Operation *op, bool anew, const PartitionInfo &info, PartitionSummary &figures);
  mlir::FailureOr<Decisions> decide(const DependencyGraph &graph, bool anew);
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

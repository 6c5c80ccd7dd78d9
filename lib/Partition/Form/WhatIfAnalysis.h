// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The what-if analysis of `WhatIf.h`, by planning partitions.

#ifndef INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H
#define INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H

#include "PartitionEstimator.h"
#include "inlay/Partition/WhatIf.h"

namespace inlay {

/// Returns true if `a` is better than `b`: it takes less modeled time, or else has fewer segments, more ops on
/// accelerators, or fewer bytes across borders, in this order.
bool isBetter(const PartitionSummary &a, const PartitionSummary &b);

/// Plans partitions in which the first target runs more kinds of ops.
mlir::FailureOr<WhatIf> analyzeWhatIf(PartitionEstimator &estimator, const PartitionInfo &info);

/// Plans partitions with a minimum block size of 1, 2, 3, 5, 8, ... until no segment is on an accelerator.
mlir::FailureOr<std::vector<SweepRow>> sweepMinBlockSize(PartitionEstimator &estimator, PartitionInfo info);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers the questions of `WhatIf.h` by planning partitions.

#ifndef INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H
#define INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H

#include "PartitionEstimator.h"
#include "inlay/Partition/WhatIf.h"

namespace inlay {

/// True if `a` is better than `b`: less time, where it is modelled, then fewer segments, then more ops on accelerators,
/// then fewer bytes across borders.
bool isBetter(const PartitionSummary &a, const PartitionSummary &b);

mlir::FailureOr<WhatIf> analyzeWhatIf(PartitionEstimator &forecaster, const PartitionInfo &info);

/// For sizes 1, 2, 3, 5, 8, ... until no accelerator has a segment.
mlir::FailureOr<std::vector<SweepRow>> sweepMinBlockSize(PartitionEstimator &forecaster, PartitionInfo info);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_WHATIFANALYSIS_H

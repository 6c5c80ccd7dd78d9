// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about a partition that a report answers: which ops are worth code on the first target, alone and together,
// and which least size of segments pays.

#ifndef INLAY_PARTITION_WHATIF_H
#define INLAY_PARTITION_WHATIF_H

#include "inlay/Partition/Forecast.h"

namespace inlay {

/// The partition if the first target ran all ops of these kinds.
struct WhatIfRow {
  std::vector<std::string> kinds; ///< sorted
  int64_t ops = 0;                ///< how many there are
  PartitionFigures figures;
};

struct WhatIf {
  std::string target;              ///< the first
  PartitionFigures now;            ///< as it is
  std::vector<WhatIfRow> kinds;    ///< each by itself, the best first
  std::vector<WhatIfRow> together; ///< the best kind, then with each step the one that adds most
  std::vector<WhatIfRow> pairs;    ///< the best pairs
  int64_t pairsTried = 0, pairsThereAre = 0;
};

struct SweepRow {
  int64_t minBlockSize = 1;
  PartitionFigures figures;
};

/// True if `a` is better than `b`: less time, where it is modelled, then fewer segments, then more ops on accelerators,
/// then fewer bytes across borders.
bool isBetter(const PartitionFigures &a, const PartitionFigures &b);

mlir::FailureOr<WhatIf> askWhatIf(Forecaster &forecaster, const PartitionInfo &info);

/// For sizes 1, 2, 3, 5, 8, ... until no accelerator has a segment.
mlir::FailureOr<std::vector<SweepRow>> sweepMinBlockSize(Forecaster &forecaster, PartitionInfo info);

/// As entries of a function's `inlay.partition`, and read from there; nothing for what isn't there or isn't whole.
mlir::Attribute toAttribute(mlir::MLIRContext *context, const WhatIf &whatIf);
mlir::Attribute toAttribute(mlir::MLIRContext *context, llvm::ArrayRef<SweepRow> rows);
std::optional<WhatIf> readWhatIf(mlir::Attribute attribute);
std::vector<SweepRow> readSweep(mlir::Attribute attribute);

} // namespace inlay

#endif // INLAY_PARTITION_WHATIF_H

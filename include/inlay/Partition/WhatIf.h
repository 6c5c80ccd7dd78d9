// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The what-if analysis and the sweep in a report. They show which ops are worth code on the first target, alone and
// together, and which minimum block size pays off.

#ifndef INLAY_PARTITION_WHATIF_H
#define INLAY_PARTITION_WHATIF_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inlay {

/// The figures of a partition, regions included.
struct PartitionSummary {
  int64_t segments = 0, acceleratedSegments = 0, ops = 0, acceleratedOps = 0;
  int64_t borderBytes = 0; ///< Bytes that enter and leave accelerators, as far as sizes are known.
  bool allKnown = true;    ///< True if all these sizes are known.
  /// Modeled time of the function's own block, with control flow as a whole. Absent if no cost model is in effect.
  std::optional<double> seconds;
};

/// The partition if the first target could run all ops of these kinds.
struct WhatIfRow {
  std::vector<std::string> kinds; ///< Sorted.
  int64_t ops = 0;                ///< Number of ops of these kinds.
  PartitionSummary figures;
};

struct WhatIf {
  std::string target;              ///< The first target.
  PartitionSummary now;            ///< The current partition.
  std::vector<WhatIfRow> kinds;    ///< Each kind by itself, the best first.
  std::vector<WhatIfRow> together; ///< The best kind, then in each row one more kind: the one that helps most.
  std::vector<WhatIfRow> pairs;    ///< The best pairs of kinds.
  int64_t pairsTried = 0, pairsThereAre = 0;
};

struct SweepRow {
  int64_t minBlockSize = 1;
  PartitionSummary figures;
};

} // namespace inlay

#endif // INLAY_PARTITION_WHATIF_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about a partition that a report answers: which ops are worth code on the first target, alone and together,
// and which least size of segments pays.

#ifndef INLAY_PARTITION_WHATIF_H
#define INLAY_PARTITION_WHATIF_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inlay {

/// What the summary of a report would count, regions included.
struct PartitionSummary {
  int64_t segments = 0, acceleratedSegments = 0, ops = 0, acceleratedOps = 0;
  int64_t borderBytes = 0; ///< that enter and leave accelerators, as far as sizes are known
  bool allKnown = true;    ///< whether they all are
  /// Under the cost model in effect, the function's own block with control flow as a whole; nothing without a model.
  std::optional<double> seconds;
};

/// The partition if the first target ran all ops of these kinds.
struct WhatIfRow {
  std::vector<std::string> kinds; ///< sorted
  int64_t ops = 0;                ///< how many there are
  PartitionSummary figures;
};

struct WhatIf {
  std::string target;              ///< the first
  PartitionSummary now;            ///< as it is
  std::vector<WhatIfRow> kinds;    ///< each by itself, the best first
  std::vector<WhatIfRow> together; ///< the best kind, then with each step the one that adds most
  std::vector<WhatIfRow> pairs;    ///< the best pairs
  int64_t pairsTried = 0, pairsThereAre = 0;
};

struct SweepRow {
  int64_t minBlockSize = 1;
  PartitionSummary figures;
};

} // namespace inlay

#endif // INLAY_PARTITION_WHATIF_H

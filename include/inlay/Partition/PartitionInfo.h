// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings of the partition phase, for callers of `Partitioning.h`. Plain data, no IR.

#ifndef INLAY_PARTITION_PARTITIONINFO_H
#define INLAY_PARTITION_PARTITIONINFO_H

#include "inlay/Scheduling/Strategy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

/// The names by which users know the options: `fallback-ops` on command lines, the keyword `torch_executed_ops` in
/// Python and C++.
enum class OptionNames { Flags, Keywords };

struct PartitionInfo {
  /// If false, nothing is partitioned: the first target runs the whole graph as one segment, or an error lists every op
  /// that prevents this.
  bool enabled = true;
  /// Minimum number of ops of an accelerator segment. Smaller segments go to the next target; with `Strategy::Cost`,
  /// only if this takes less time.
  int64_t minBlockSize = 1;
  /// Ops by name (`aten::add`, `aten.add.Tensor`, `inlay.relu`) that are forced to the last target that can run them. A
  /// name that matches nothing is an error.
  std::vector<std::string> fallbackOps;
  /// Modules by class name or instance path (globs) whose ops are forced in the same way.
  std::vector<std::string> fallbackModules;
  /// Ops by label (globs) or by `file:line` that are forced in the same way.
  std::vector<std::string> fallbackLocations;
  /// The ops that accelerators may run: `aten::add` on any, `aten::add@npu` on one. An accelerator with at least one
  /// entry runs no other ops.
  std::vector<std::string> allowOps;
  /// Ops by name whose segments may be smaller than `minBlockSize`.
  std::vector<std::string> exemptOps;
  /// If true, the whole graph must run on the first target, in as many segments as control flow needs. An error lists
  /// every op that does not run there.
  bool requireFullCompilation = false;
  Strategy strategy = Strategy::Levels;
  /// If true, ops may run later than they could, so that fewer bytes are carried from segment to segment. The number of
  /// segments does not change. Ops whose move saves nothing stay.
  bool fewestBytes = true;
  /// A placement file whose segments are formed instead of new ones; empty for none.
  std::string placement;
  /// File for the placement; empty for none, "-" for standard output.
  std::string savePlacement;
  /// File of the cost model, or "default" for the costs that the targets state. If empty, the model of the module is
  /// used, if it has one.
  std::string costModel;
  /// True if the report shows the partitions for more ops on the first target (`whatIf`), or for other minimum block
  /// sizes (`sweep`).
  bool whatIf = false, sweep = false;
  /// File for the report, whose format follows from the extension (.json, .txt, .html); empty for none, "-" for
  /// standard output.
  std::string report;
  /// The names of options in errors and reasons.
  OptionNames names = OptionNames::Flags;
};

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONINFO_H

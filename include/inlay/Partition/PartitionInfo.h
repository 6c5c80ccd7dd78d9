// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings of the partition phase: what a caller of `Partitioning.h` fills in. Plain data, no IR.

#ifndef INLAY_PARTITION_PARTITIONINFO_H
#define INLAY_PARTITION_PARTITIONINFO_H

#include "inlay/Scheduling/Strategy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

struct PartitionInfo {
  /// False: nothing is partitioned. The first target runs the whole graph as one segment, else an error lists every
  /// blocker.
  bool enabled = true;
  /// Accelerator segments of fewer ops than this go to the next target; with `Strategy::Cost` only if that takes less.
  int64_t minBlockSize = 1;
  /// Ops by name (`aten::add`, `aten.add.Tensor`, `inlay.relu`) forced to the last target that can run them. A name
  /// that matches nothing is an error.
  std::vector<std::string> fallbackOps;
  /// Modules by class name or instance path (globs) whose ops are forced likewise.
  std::vector<std::string> fallbackModules;
  /// Ops by label (globs) or by `file:line`, forced likewise.
  std::vector<std::string> fallbackLocations;
  /// Ops that accelerators may run: `aten::add` on any, `aten::add@npu` on that one. An accelerator that some entry is
  /// for runs no others.
  std::vector<std::string> allowOps;
  /// Ops by name that are worth a segment however small: one that holds such an op is never below `minBlockSize`.
  std::vector<std::string> exemptOps;
  /// All of the graph must go to the first target, in as many segments as control flow needs: an error lists every op
  /// that doesn't.
  bool requireFullCompilation = false;
  Strategy strategy = Strategy::Levels;
  /// Ops may run later than they could, to carry fewer bytes from segment to segment. The number of segments stays, and
  /// so does every op that would save nothing.
  bool fewestBytes = true;
  /// A placement file whose segments to form, instead of deciding anew; empty for none.
  std::string placement;
  /// File for the placement; empty for none, "-" for standard output.
  std::string savePlacement;
  /// File of the cost model, or "default" for round figures per kind of device; empty for the module's, if it has one.
  std::string costModel;
  /// Whether the report says what the partition would be if the first target ran ops that it has no code for, and with
  /// other least sizes of segments.
  bool whatIf = false, sweep = false;
  /// File for the report, its form by the name's end (.json, .txt, .html); empty for none, "-" for standard output.
  std::string report;
};

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONINFO_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings of the partition phase: what a caller of `Partitioning.h` fills in. Plain data, no IR.

#ifndef INLAY_PARTITION_PARTITIONINFO_H
#define INLAY_PARTITION_PARTITIONINFO_H

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

/// How segments are formed.
enum class Strategy {
  Levels,        ///< fewest segments, whatever order the ops are written in
  InOrder,       ///< a new segment whenever the next op in program order has another target; for comparison
  TorchTensorRT, ///< an open segment per target, closed by what depends on it, in program order; for comparison
};

struct PartitionInfo {
  /// Accelerator segments of fewer ops than this go to the next target.
  int64_t minBlockSize = 1;
  /// Ops by name (`aten::add`, `aten.add.Tensor`, `inlay.relu`) forced to the last target that can run them. A name
  /// that matches nothing is an error.
  std::vector<std::string> fallbackOps;
  /// Modules by class name or instance path (globs) whose ops are forced likewise.
  std::vector<std::string> fallbackModules;
  /// The whole graph must run on the first target: an error lists every blocker.
  bool requireFullCompilation = false;
  Strategy strategy = Strategy::Levels;
  /// Ops may run later than they could, to carry fewer bytes from segment to segment. The number of segments stays.
  bool fewestBytes = false;
  /// File for the JSON report; empty for none, "-" for standard output.
  std::string report;
};

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONINFO_H

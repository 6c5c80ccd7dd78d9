// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The measurements of the partition suite on one graph.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_PARTITIONSTEPS_H
#define TOOLS_INLAY_BENCH_GRAPHS_PARTITIONSTEPS_H

#include "Measure/Figures.h"
#include "SyntheticGraph.h"

#include "inlay/Partition/PartitionInfo.h"

#include <string>

namespace inlay::bench {

struct NamedStrategy {
  const char *name;
  Strategy strategy;
};
inline constexpr NamedStrategy kMeasuredStrategies[] = {
    {"levels", Strategy::Levels}, {"in-order", Strategy::InOrder}, {"torch-tensorrt", Strategy::TorchTensorRT}};

/// The whole phase on IR. Each pass is timed separately.
Table makePhaseTable();
rt::StatusOr<llvm::json::Object> measurePhase(const SyntheticGraph &graph, Strategy strategy);

/// The whole phase on a module that a framework exported as MLIR text. The accelerator lacks the same kinds of ops as
/// for synthetic graphs.
Table makeExportTable();
rt::StatusOr<llvm::json::Object> measureExport(const std::string &file, Strategy strategy);

/// The algorithm that finds the segments, on a graph without IR.
Table makeAlgorithmTable();
rt::StatusOr<llvm::json::Object> measureAlgorithm(const SyntheticGraph &graph, Strategy strategy);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_PARTITIONSTEPS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the partition suite measures of one graph.

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

/// The whole phase on IR, each pass by itself.
Table makePhaseTable();
rt::StatusOr<llvm::json::Object> measurePhase(const SyntheticGraph &graph, Strategy strategy);

/// The same on a module that was exported from a framework, read from a file of MLIR text. Its ops are those that it
/// has; the accelerator lacks the kinds that it lacks for synthetic graphs.
Table makeExportTable();
rt::StatusOr<llvm::json::Object> measureExport(const std::string &file, Strategy strategy);

/// The algorithm that finds the segments, without IR.
Table makeAlgorithmTable();
rt::StatusOr<llvm::json::Object> measureAlgorithm(const SyntheticGraph &graph, Strategy strategy);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_PARTITIONSTEPS_H

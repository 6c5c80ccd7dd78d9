// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases in order. Only this library knows it.

#ifndef INLAY_PIPELINE_PIPELINE_H
#define INLAY_PIPELINE_PIPELINE_H

#include "inlay/Partition/Partitioning.h"
#include "inlay/Pipeline/Options.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>

namespace inlay {

/// Adds the passes of one phase, closed by its check.
void buildPhase(mlir::OpPassManager &pm, Phase phase, const Options &options);

/// Each phase as one pass on a module, closed by its check: for pass managers that are filled by hand.
/// Partition's is `createPartitionPass` in Partition/Partitioning.h; Rewrite's is `createRewritePass` in
/// Rewrite/Passes.h, which takes patterns, with upstream's CSE after it.
std::unique_ptr<mlir::Pass> createImportPass();
std::unique_ptr<mlir::Pass> createShapePass();
std::unique_ptr<mlir::Pass> createConvertPass();
std::unique_ptr<mlir::Pass> createStitchPass();

/// Adds phases `options.from` to `options.to`, on a module.
void buildPipeline(mlir::OpPassManager &pm, const Options &options);

/// Told how `runPipeline` gets on; each may be empty.
struct PipelineObserver {
  /// A phase starts: its number among those to run, and their count. Phases may start again.
  std::function<void(Phase, unsigned number, unsigned count)> started;
  /// A phase ended well and left this.
  std::function<void(Phase, mlir::ModuleOp)> finished;
};

/// Runs phases `options.from` to `options.to` on `module`, one pass manager each, and writes the dumps that
/// `options.dumpDirectory` asks for. If a target fails to convert ops that it said it can run, the graph is partitioned
/// again without giving it these ops; their reason says so.
mlir::LogicalResult runPipeline(mlir::ModuleOp module, const Options &options, const PipelineObserver &observer = {});

} // namespace inlay

#endif // INLAY_PIPELINE_PIPELINE_H

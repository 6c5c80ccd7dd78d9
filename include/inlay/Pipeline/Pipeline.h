// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the phases in order. Only this library knows the order.

#ifndef INLAY_PIPELINE_PIPELINE_H
#define INLAY_PIPELINE_PIPELINE_H

#include "inlay/Partition/Partitioning.h"
#include "inlay/Pipeline/Options.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>

namespace inlay {

/// Adds the passes of one phase, including its final check.
void buildPhase(mlir::OpPassManager &pm, Phase phase, const Options &options);

/// These functions each create a pass on modules that runs a whole phase with its final check. They are for callers
/// that add passes one by one. The pass of Partition is `createPartitionPass` in Partition/Partitioning.h. Rewrite has
/// no such pass: add `createRewritePass` of Rewrite/Passes.h, which takes patterns, and then MLIR's CSE.
std::unique_ptr<mlir::Pass> createImportPass();
std::unique_ptr<mlir::Pass> createShapePass();
std::unique_ptr<mlir::Pass> createConvertPass();
std::unique_ptr<mlir::Pass> createStitchPass();

/// Adds phases `options.from` to `options.to` to a pass manager for modules.
void buildPipeline(mlir::OpPassManager &pm, const Options &options);

/// Callbacks for the progress of `runPipeline`; each may be empty.
struct PipelineObserver {
  /// Called when a phase starts, with its number among the phases to run and their count. Phases may start again.
  std::function<void(Phase, unsigned number, unsigned count)> started;
  /// Called when a phase has succeeded, with the resulting module.
  std::function<void(Phase, mlir::ModuleOp)> finished;
};

/// Runs phases `options.from` to `options.to` on `module`, each with its own pass manager, and writes the dumps to
/// `options.dumpDirectory`. If a target fails to convert ops that it claimed to support, the graph is partitioned again
/// and the target no longer gets these ops. Their verdict contains the reason.
mlir::LogicalResult runPipeline(mlir::ModuleOp module, const Options &options, const PipelineObserver &observer = {});

} // namespace inlay

#endif // INLAY_PIPELINE_PIPELINE_H

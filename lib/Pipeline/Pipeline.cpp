// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the passes of each phase, runs them in order, writes dumps, and partitions again after a target refused an
// op.

#include "inlay/Pipeline/Pipeline.h"
#include "RefusedOps.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Import/Passes.h"
#include "inlay/Partition/Labels.h"
#include "inlay/Partition/Partitioning.h"
#include "inlay/Shape/Passes.h"
#include "inlay/Stitch/Passes.h"
#include "inlay/Support/PipelinePass.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace inlay;

void inlay::buildPhase(OpPassManager &pm, Phase phase, const Options &options) {
  switch (phase) {
  case Phase::Import:
    pm.addPass(createImportVerifyPass());
    return;
  case Phase::Rewrite:
    pm.addPass(createCSEPass());
    // Dims must be known before Partition, because targets may support an op only for known sizes.
    pm.addPass(createShapeInferPass());
    return;
  case Phase::Partition:
    buildPartitionPipeline(pm, options.partition);
    return;
  case Phase::Shape:
    buildShapePipeline(pm);
    return;
  case Phase::Convert:
    pm.addPass(createOutlineSegmentsPass());
    pm.addPass(createConvertSegmentsPass({options.recovery}));
    pm.addPass(createConvertVerifyPass());
    return;
  case Phase::Stitch:
    pm.addPass(createAssembleProgramPass());
    pm.addPass(createStitchVerifyPass());
    return;
  }
}

static std::unique_ptr<Pass> createPhasePass(llvm::StringRef name, Phase phase) {
  return createPipelinePass(name, [phase](OpPassManager &manager) { buildPhase(manager, phase, Options()); });
}

std::unique_ptr<Pass> inlay::createImportPass() { return createPhasePass("Import", Phase::Import); }
std::unique_ptr<Pass> inlay::createShapePass() { return createPhasePass("Shape", Phase::Shape); }
std::unique_ptr<Pass> inlay::createConvertPass() { return createPhasePass("Convert", Phase::Convert); }
std::unique_ptr<Pass> inlay::createStitchPass() { return createPhasePass("Stitch", Phase::Stitch); }

void inlay::buildPipeline(OpPassManager &pm, const Options &options) {
  for (int phase = static_cast<int>(options.from); phase <= static_cast<int>(options.to); ++phase)
    buildPhase(pm, static_cast<Phase>(phase), options);
}

/// Writes `module` without weights to `directory` as NN-phase.mlir.
static LogicalResult dump(ModuleOp module, const std::string &directory, int number, Phase phase) {
  SmallString<128> path(directory);
  if (std::error_code error = llvm::sys::fs::create_directories(path))
    return module.emitError("can't create the folder '") << directory << "' for dumps: " << error.message();
  llvm::sys::path::append(path, llvm::formatv("{0:d2}-{1}.mlir", number, stringifyPhase(phase)).str());
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return module.emitError("can't write '") << path << "': " << error.message();
  module->print(stream, OpPrintingFlags().elideLargeResourceString(0).enableDebugInfo());
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error ? module.emitError("can't write '") << path << "': " << error.message() : success();
}

namespace {
class Runner {
public:
  Runner(ModuleOp module, const Options &options, const PipelineObserver &observer)
      : module(module), options(options), observer(observer) {}

  LogicalResult run() {
    // A graph that is already partitioned is converted as it is.
    bool mayRepeat = options.from <= Phase::Partition && options.to >= Phase::Convert;
    for (int number = static_cast<int>(options.from); number <= static_cast<int>(options.to); ++number) {
      bool repeats = mayRepeat && number == static_cast<int>(Phase::Partition);
      if (failed(repeats ? runUntilConverted() : run(static_cast<Phase>(number))))
        return failure();
      if (repeats)
        number = static_cast<int>(Phase::Convert);
    }
    return success();
  }

private:
  LogicalResult run(Phase phase) {
    PassManager pm(module.getContext());
    buildPhase(pm, phase, options);
    return run(phase, pm);
  }

  LogicalResult run(Phase phase, PassManager &pm) {
    int from = static_cast<int>(options.from), number = static_cast<int>(phase);
    if (observer.started)
      observer.started(phase, number - from, static_cast<int>(options.to) - from + 1);
    if (failed(pm.run(module)))
      return failure();
    if (!options.dumpDirectory.empty() && failed(dump(module, options.dumpDirectory, number, phase)))
      return failure();
    if (observer.finished)
      observer.finished(phase, module);
    return success();
  }

  /// Runs Partition (without its output files), Shape and Convert. Returns true if all segments were converted. Stores
  /// the errors of Convert in `errors`.
  FailureOr<bool> tryOnce() {
    PassManager partition(module.getContext());
    buildPartitionPasses(partition, options.partition);
    if (failed(run(Phase::Partition, partition)))
      return failure();
    partitioned = writesFiles(options.partition) ? module.clone() : ModuleOp();
    if (failed(run(Phase::Shape)))
      return failure();
    errors.clear();
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      errors.push_back(std::move(diagnostic));
      return success();
    });
    return succeeded(run(Phase::Convert));
  }

  LogicalResult runUntilConverted() {
    // Each round withholds more ops from a target. If a few rounds are not enough, the target cannot predict its own
    // conversion.
    constexpr unsigned kMaxRounds = 8;
    for (auto function : module.getOps<FunctionOpInterface>())
      labelOps(function);
    OwningOpRef<ModuleOp> graph = module.clone();
    for (unsigned round = 1;; ++round) {
      FailureOr<bool> converted = tryOnce();
      if (failed(converted))
        return failure();
      if (*converted)
        return writeFiles();
      if (round == kMaxRounds || !copyRefusedMarks(module, *graph))
        return reportErrors(round);
      OwningOpRef<ModuleOp> again = graph->clone();
      module.getBodyRegion().takeBody(again->getBodyRegion());
    }
  }

  /// Writes the output files of the last partition.
  LogicalResult writeFiles() {
    if (!partitioned)
      return success();
    PassManager pm(module.getContext());
    buildPartitionOutputs(pm, options.partition);
    return pm.run(*partitioned);
  }

  LogicalResult reportErrors(unsigned rounds) {
    if (failed(writeFiles()))
      return failure();
    for (Diagnostic &error : errors)
      module.getContext()->getDiagEngine().emit(std::move(error));
    if (rounds > 1)
      module.emitError("segments still can't be converted after the graph was partitioned ") << rounds << " times";
    else if (errors.empty())
      module.emitError("conversion failed without a diagnostic");
    return failure();
  }

  ModuleOp module;
  const Options &options;
  const PipelineObserver &observer;
  OwningOpRef<ModuleOp> partitioned;
  std::vector<Diagnostic> errors; ///< Errors of the last conversion.
};
} // namespace

LogicalResult inlay::runPipeline(ModuleOp module, const Options &options, const PipelineObserver &observer) {
  return Runner(module, options, observer).run();
}

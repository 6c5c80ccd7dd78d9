// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Pipeline/Pipeline.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Import/Passes.h"
#include "inlay/Partition/Partitioning.h"
#include "inlay/Shape/Passes.h"
#include "inlay/Stitch/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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
    return;
  case Phase::Partition:
    buildPartitionPipeline(pm, options.partition);
    return;
  case Phase::Shape:
    buildShapePipeline(pm);
    return;
  case Phase::Convert:
    pm.addPass(createOutlineSegmentsPass());
    pm.addPass(createConvertSegmentsPass());
    pm.addPass(createConvertVerifyPass());
    return;
  case Phase::Stitch:
    pm.addPass(createAssembleProgramPass());
    pm.addPass(createStitchVerifyPass());
    return;
  }
}

void inlay::buildPipeline(OpPassManager &pm, const Options &options) {
  for (int phase = static_cast<int>(options.from); phase <= static_cast<int>(options.to); ++phase)
    buildPhase(pm, static_cast<Phase>(phase), options);
}

/// Writes `module` to `directory` as NN-phase.mlir, weights left out.
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

LogicalResult inlay::runPipeline(ModuleOp module, const Options &options,
                                 std::function<void(Phase, unsigned, unsigned)> started) {
  int from = static_cast<int>(options.from), to = static_cast<int>(options.to);
  for (int number = from; number <= to; ++number) {
    Phase phase = static_cast<Phase>(number);
    if (started)
      started(phase, number - from, to - from + 1);
    PassManager pm(module.getContext());
    buildPhase(pm, phase, options);
    if (failed(pm.run(module)))
      return failure();
    if (!options.dumpDirectory.empty() && failed(dump(module, options.dumpDirectory, number, phase)))
      return failure();
  }
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Partitioning.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/Report.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

using namespace mlir;
using namespace inlay;

namespace {
struct PartitionPipelineOptions : PassPipelineOptions<PartitionPipelineOptions> {
  Option<int64_t> minBlockSize{*this, "min-block-size",
                               llvm::cl::desc("accelerator segments of fewer ops go to the next target"),
                               llvm::cl::init(1)};
  ListOption<std::string> fallbackOps{*this, "fallback-ops",
                                      llvm::cl::desc("ops by name that go to the last target that can run them")};
  ListOption<std::string> fallbackModules{
      *this, "fallback-modules", llvm::cl::desc("modules by instance path or class (globs) whose ops go there too")};
  Option<bool> requireFullCompilation{*this, "require-full-compilation",
                                      llvm::cl::desc("every op must run on the first target"), llvm::cl::init(false)};
  Option<Strategy> strategy{
      *this, "strategy", llvm::cl::desc("how segments are formed"), llvm::cl::init(Strategy::Levels),
      llvm::cl::values(
          clEnumValN(Strategy::Levels, "levels", "the fewest segments"),
          clEnumValN(Strategy::InOrder, "in-order", "a new segment whenever the next op has another target"),
          clEnumValN(Strategy::TorchTensorRT, "torch-tensorrt", "the walk of Torch-TensorRT's TorchScript front end"))};
  Option<bool> fewestBytes{*this, "fewest-bytes",
                           llvm::cl::desc("ops may run later than they could, to carry fewer bytes between segments"),
                           llvm::cl::init(false)};
  Option<std::string> report{*this, "report", llvm::cl::desc("file for the report; - is standard output"),
                             llvm::cl::init("")};
};
} // namespace

void inlay::buildPartitionPipeline(OpPassManager &manager, const PartitionInfo &info) {
  AnnotateTargetsPassOptions annotate;
  annotate.fallbackOps.assign(info.fallbackOps.begin(), info.fallbackOps.end());
  annotate.fallbackModules.assign(info.fallbackModules.begin(), info.fallbackModules.end());
  annotate.requireFullCompilation = info.requireFullCompilation;
  manager.addPass(createAnnotateTargetsPass(annotate));
  FormSegmentsPassOptions form;
  // All of the graph runs on the first target: how little that is doesn't matter.
  form.minBlockSize = info.requireFullCompilation ? 1 : info.minBlockSize;
  form.strategy = info.strategy;
  form.fewestBytes = info.fewestBytes;
  manager.addPass(createFormSegmentsPass(form));
  manager.addPass(createPartitionVerifyPass());
  if (info.report.empty())
    return;
  PartitionReportPassOptions report;
  report.output = info.report;
  manager.addPass(createPartitionReportPass(report));
}

LogicalResult inlay::partition(ModuleOp module, const PartitionInfo &info) {
  PassManager manager(module.getContext());
  buildPartitionPipeline(manager, info);
  return manager.run(module);
}

std::vector<SegmentedBlock> inlay::getSegmentedBlocks(FunctionOpInterface function) {
  return makeReport(function).segments;
}

void inlay::registerPartitionPasses() {
  registerInlayPartitionPasses();
  PassPipelineRegistration<PartitionPipelineOptions>(
      "inlay-partition", "Split each function into segments per target",
      [](OpPassManager &manager, const PartitionPipelineOptions &options) {
        PartitionInfo info;
        info.minBlockSize = options.minBlockSize;
        info.fallbackOps.assign(options.fallbackOps.begin(), options.fallbackOps.end());
        info.fallbackModules.assign(options.fallbackModules.begin(), options.fallbackModules.end());
        info.requireFullCompilation = options.requireFullCompilation;
        info.strategy = options.strategy;
        info.fewestBytes = options.fewestBytes;
        info.report = options.report;
        buildPartitionPipeline(manager, info);
      });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Partitioning.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/Report.h"
#include "inlay/Support/PipelinePass.h"
#include "inlay/Support/Suggest.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace inlay;

namespace {
struct PartitionPipelineOptions : PassPipelineOptions<PartitionPipelineOptions> {
  Option<int64_t> minBlockSize{
      *this, "min-block-size",
      llvm::cl::desc("minimum number of ops of an accelerator segment; smaller ones go to the next target"),
      llvm::cl::init(1)};
  ListOption<std::string> fallbackOps{*this, "fallback-ops",
                                      llvm::cl::desc("ops by name that go to the last target that can run them")};
  ListOption<std::string> fallbackModules{
      *this, "fallback-modules",
      llvm::cl::desc("modules by instance path or class (globs) whose ops go to the last target too")};
  ListOption<std::string> fallbackLocations{
      *this, "fallback-locations", llvm::cl::desc("ops by label (globs) or file:line that go to the last target too")};
  ListOption<std::string> allowOps{
      *this, "allow-ops",
      llvm::cl::desc("the only ops that accelerators may run: op for all of them, or op@target for one")};
  ListOption<std::string> exemptOps{*this, "exempt-ops",
                                    llvm::cl::desc("ops by name whose segments may be smaller than min-block-size")};
  Option<bool> enabled{*this, "enabled",
                       llvm::cl::desc("if false, the first target must run the whole graph as one segment"),
                       llvm::cl::init(true)};
  Option<bool> requireFullCompilation{*this, "require-full-compilation",
                                      llvm::cl::desc("every op must run on the first target"), llvm::cl::init(false)};
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc(
          "how segments are formed: levels (the fewest), cost (the least time under the cost model), in-order "
          "(a new one whenever the next op has another target), torch-tensorrt (the walk of its TorchScript "
          "front end)"),
      llvm::cl::init("levels")};
  Option<bool> fewestBytes{*this, "fewest-bytes",
                           llvm::cl::desc("ops may run later than they could, to carry fewer bytes between segments"),
                           llvm::cl::init(true)};
  Option<std::string> placement{*this, "placement",
                                llvm::cl::desc("placement file whose segments are formed instead of new ones"),
                                llvm::cl::init("")};
  Option<std::string> savePlacement{*this, "save-placement",
                                    llvm::cl::desc("file for the placement; - is standard output"), llvm::cl::init("")};
  Option<std::string> costModel{
      *this, "cost-model", llvm::cl::desc("file of the cost model, or `default` for round figures per kind of device"),
      llvm::cl::init("")};
  Option<bool> whatIf{*this, "what-if", llvm::cl::desc("report the partitions if the first target could run more ops"),
                      llvm::cl::init(false)};
  Option<bool> sweep{*this, "sweep", llvm::cl::desc("report the partitions with other values of min-block-size"),
                     llvm::cl::init(false)};
  Option<std::string> report{*this, "report",
                             llvm::cl::desc("file for the report (.json, .txt, .html); - is standard output"),
                             llvm::cl::init("")};

  std::vector<std::string> getNames() const {
    std::vector<std::string> names;
    for (const auto &entry : OptionsMap)
      names.push_back(entry.first.str());
    llvm::sort(names);
    return names;
  }
};
} // namespace

/// Returns the given settings that decide where ops go, which a placement contradicts.
static std::vector<std::string> findContradictingSettings(const PartitionInfo &info) {
  const std::pair<const char *, bool> given[] = {{"fallback-ops", !info.fallbackOps.empty()},
                                                 {"fallback-modules", !info.fallbackModules.empty()},
                                                 {"fallback-locations", !info.fallbackLocations.empty()},
                                                 {"allow-ops", !info.allowOps.empty()},
                                                 {"exempt-ops", !info.exemptOps.empty()},
                                                 {"min-block-size", info.minBlockSize != 1},
                                                 {"enabled=false", !info.enabled},
                                                 {"require-full-compilation", info.requireFullCompilation},
                                                 {"strategy", info.strategy != Strategy::Levels},
                                                 {"fewest-bytes=false", !info.fewestBytes}};
  std::vector<std::string> names;
  for (auto [name, isGiven] : given)
    if (isGiven)
      names.push_back(name);
  return names;
}

void inlay::buildPartitionPasses(OpPassManager &manager, const PartitionInfo &info) {
  if (!info.placement.empty()) {
    ReplayPlacementPassOptions replay;
    replay.file = info.placement;
    for (std::string &name : findContradictingSettings(info))
      replay.besides.push_back(std::move(name));
    manager.addPass(createReplayPlacementPass(replay));
    manager.addPass(createPartitionVerifyPass());
    return;
  }
  AnnotateTargetsPassOptions annotate;
  annotate.fallbackOps.assign(info.fallbackOps.begin(), info.fallbackOps.end());
  annotate.fallbackModules.assign(info.fallbackModules.begin(), info.fallbackModules.end());
  annotate.fallbackLocations.assign(info.fallbackLocations.begin(), info.fallbackLocations.end());
  annotate.allowOps.assign(info.allowOps.begin(), info.allowOps.end());
  annotate.enabled = info.enabled;
  annotate.requireFullCompilation = info.requireFullCompilation;
  manager.addPass(createAnnotateTargetsPass(annotate));
  FormSegmentsPassOptions form;
  // The whole graph runs on the first target, whatever its size.
  form.minBlockSize = info.requireFullCompilation || !info.enabled ? 1 : info.minBlockSize;
  form.exemptOps.assign(info.exemptOps.begin(), info.exemptOps.end());
  form.allowOps.assign(info.allowOps.begin(), info.allowOps.end());
  form.strategy = (info.requireFullCompilation || !info.enabled) && info.strategy == Strategy::Cost ? Strategy::Levels
                                                                                                    : info.strategy;
  form.fewestBytes = info.fewestBytes;
  form.costModel = info.costModel;
  form.whatIf = info.whatIf;
  form.sweep = info.sweep;
  manager.addPass(createFormSegmentsPass(form));
  PartitionVerifyPassOptions verify;
  verify.minBlockSize = form.strategy == Strategy::Cost ? 1 : form.minBlockSize;
  verify.exemptOps.assign(info.exemptOps.begin(), info.exemptOps.end());
  verify.fallbackOps.assign(info.fallbackOps.begin(), info.fallbackOps.end());
  manager.addPass(createPartitionVerifyPass(verify));
}

bool inlay::writesFiles(const PartitionInfo &info) { return !info.report.empty() || !info.savePlacement.empty(); }

void inlay::buildPartitionOutputs(OpPassManager &manager, const PartitionInfo &info) {
  if (!info.savePlacement.empty())
    manager.addPass(createSavePlacementPass({info.savePlacement}));
  if (!info.report.empty()) {
    PartitionReportPassOptions report;
    report.output = info.report;
    manager.addPass(createPartitionReportPass(report));
  }
}

void inlay::buildPartitionPipeline(OpPassManager &manager, const PartitionInfo &info) {
  buildPartitionPasses(manager, info);
  buildPartitionOutputs(manager, info);
}

std::unique_ptr<Pass> inlay::createPartitionPass(const PartitionInfo &info) {
  return createPipelinePass("Partition", [info](OpPassManager &manager) { buildPartitionPipeline(manager, info); });
}

LogicalResult inlay::partition(ModuleOp module, const PartitionInfo &info) {
  PassManager manager(module.getContext());
  buildPartitionPipeline(manager, info);
  return manager.run(module);
}

std::vector<SegmentedBlock> inlay::getSegmentedBlocks(FunctionOpInterface function) {
  return makeReport(function).segments;
}

/// Returns the message for a setting that cannot be read, with the most similar option.
static std::string describeUnknown(StringRef message, ArrayRef<std::string> names) {
  StringRef name = message.trim();
  if (!name.consume_front("<Pass-Options-Parser>: no such option "))
    return message.trim().str();
  return "inlay-partition has no option '" + name.str() + "'" + suggest(name, names);
}

static LogicalResult buildFromText(OpPassManager &manager, StringRef text,
                                   function_ref<LogicalResult(const Twine &)> fail) {
  PartitionPipelineOptions options;
  std::string message;
  llvm::raw_string_ostream os(message);
  if (failed(options.parseFromString(text, os)))
    return message.empty()
               ? failure()
               : fail(describeUnknown(message, options.getNames())); // An empty message was already reported.
  PartitionInfo info;
  info.minBlockSize = options.minBlockSize;
  info.fallbackOps.assign(options.fallbackOps.begin(), options.fallbackOps.end());
  info.fallbackModules.assign(options.fallbackModules.begin(), options.fallbackModules.end());
  info.fallbackLocations.assign(options.fallbackLocations.begin(), options.fallbackLocations.end());
  info.allowOps.assign(options.allowOps.begin(), options.allowOps.end());
  info.exemptOps.assign(options.exemptOps.begin(), options.exemptOps.end());
  info.enabled = options.enabled;
  info.requireFullCompilation = options.requireFullCompilation;
  info.fewestBytes = options.fewestBytes;
  info.placement = options.placement;
  info.savePlacement = options.savePlacement;
  info.costModel = options.costModel;
  info.whatIf = options.whatIf;
  info.sweep = options.sweep;
  info.report = options.report;
  std::vector<std::string> strategies;
  for (auto [name, strategy] : kStrategies) {
    strategies.emplace_back(name);
    if (options.strategy == strategies.back()) {
      info.strategy = strategy;
      buildPartitionPipeline(manager, info);
      return success();
    }
  }
  return fail("expected strategy to be " + llvm::join(llvm::drop_end(strategies), ", ") + " or " + strategies.back() +
              ", but got '" + options.strategy + "'" + suggest(options.strategy, strategies));
}

void inlay::registerPartitionPasses() {
  registerInlayPartitionPasses();
  registerPassPipeline(
      "inlay-partition", "Split each function into segments per target", buildFromText,
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(PartitionPipelineOptions()); });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the pipeline `inlay-partition` from its options, rejects options that contradict each other, and implements
// the entry points of Partitioning.h.

#include "inlay/Partition/PartitionOptions.h"
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
/// The options of the pipeline `inlay-partition`: one for each option of the phase.
struct PartitionPipelineOptions : PassPipelineOptions<PartitionPipelineOptions> {
  PartitionPipelineOptions() {
    PartitionInfo defaults;
    for (const PartitionOption &option : getPartitionOptions())
      std::visit([&](const auto *value) { add(option, *value); }, option.find(defaults));
  }

  /// Returns the settings, without the strategy.
  PartitionInfo getInfo() const {
    PartitionInfo info;
    for (const auto &copy : copies)
      copy(info);
    return info;
  }

  std::shared_ptr<Option<std::string>> strategy;

private:
  template <typename T>
  void add(const PartitionOption &option, const T &initial) {
    auto value = std::make_shared<Option<T>>(*this, option.flag, llvm::cl::desc(option.text), llvm::cl::init(initial));
    copies.push_back([&option, value](PartitionInfo &info) { *std::get<T *>(option.find(info)) = value->getValue(); });
  }
  void add(const PartitionOption &option, const std::vector<std::string> &) {
    auto names = std::make_shared<ListOption<std::string>>(*this, option.flag, llvm::cl::desc(option.text));
    copies.push_back([&option, names](PartitionInfo &info) {
      std::get<std::vector<std::string> *>(option.find(info))->assign(names->begin(), names->end());
    });
  }
  void add(const PartitionOption &option, Strategy initial) {
    strategy = std::make_shared<Option<std::string>>(*this, option.flag, llvm::cl::desc(option.text),
                                                     llvm::cl::init(stringifyStrategy(initial).data()));
  }

  std::vector<std::function<void(PartitionInfo &)>> copies;
};
} // namespace

/// Returns the given settings that decide where ops go, which a placement contradicts.
static std::vector<std::string> findContradictingSettings(const PartitionInfo &info) {
  std::vector<std::string> names;
  auto add = [&](bool isGiven, const void *member, StringRef value = "") {
    if (isGiven)
      names.push_back((getOptionName(info, member) + value).str());
  };
  for (const auto *list :
       {&info.fallbackOps, &info.fallbackModules, &info.fallbackLocations, &info.allowOps, &info.exemptOps})
    add(!list->empty(), list);
  add(info.minBlockSize != 1, &info.minBlockSize);
  add(!info.enabled, &info.enabled, "=false");
  add(info.requireFullCompilation, &info.requireFullCompilation);
  add(info.strategy != Strategy::Levels, &info.strategy);
  add(!info.fewestBytes, &info.fewestBytes, "=false");
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
  PartitionInfo used = info;
  // A whole graph runs on the first target, whatever its size and its cost.
  if (info.requireFullCompilation || !info.enabled) {
    used.minBlockSize = 1;
    used.strategy = info.strategy == Strategy::Cost ? Strategy::Levels : info.strategy;
  }
  manager.addPass(createAnnotateTargetsPass(used));
  manager.addPass(createFormSegmentsPass(used));
  if (used.strategy == Strategy::Cost)
    used.minBlockSize = 1;
  manager.addPass(createPartitionVerifyPass(used));
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

/// Returns the message for options that cannot be read, with the option that is most similar to an unknown one.
static std::string describeMalformed(StringRef text, StringRef message) {
  StringRef name = message.trim();
  if (name.empty()) // The parser of the value has printed the reason.
    return "malformed options of inlay-partition: '" + text.str() + "'";
  if (!name.consume_front("<Pass-Options-Parser>: no such option "))
    return name.str();
  std::vector<std::string> known;
  for (const PartitionOption &option : getPartitionOptions())
    known.push_back(option.flag);
  return "inlay-partition has no option '" + name.str() + "'" + suggest(name, known);
}

static LogicalResult buildFromText(OpPassManager &manager, StringRef text,
                                   function_ref<LogicalResult(const Twine &)> fail) {
  PartitionPipelineOptions options;
  std::string message;
  llvm::raw_string_ostream os(message);
  if (failed(options.parseFromString(text, os)))
    return fail(describeMalformed(text, message));
  PartitionInfo info = options.getInfo();
  const std::string &name = options.strategy->getValue();
  if (std::optional<Strategy> strategy = symbolizeStrategy(name)) {
    info.strategy = *strategy;
    buildPartitionPipeline(manager, info);
    return success();
  }
  std::vector<std::string> known;
  for (auto [strategy, _] : kStrategies)
    known.emplace_back(strategy);
  return fail("expected strategy to be " + llvm::join(llvm::drop_end(known), ", ") + " or " + known.back() +
              ", but got '" + name + "'" + suggest(name, known));
}

void inlay::registerPartitionPasses() {
  registerInlayPartitionPasses();
  registerPassPipeline(
      "inlay-partition", "Split each function into segments per target", buildFromText,
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(PartitionPipelineOptions()); });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures one graph of the partition suite: each pass, and the algorithms alone. Suites/PartitionSuite.cpp lists
// the graphs.

#include "PartitionSteps.h"
#include "Measure/Measure.h"
#include "SyntheticModule.h"

#include "inlay/Partition/Passes.h"
#include "inlay/Partition/Report.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Scheduling/LevelSchedule.h"
#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

//===-- The phase -----------------------------------------------------------------------------------------------===//

Table bench::makePhaseTable() {
  return {
      "phase",
      "The phase on a function of framework calls, on one thread: annotate (verdicts and labels), form (dependencies, "
      "segments, and moving the ops into closed inlay.segment ops) and verify (the check of the phase). ir_verify_ms "
      "is the time of MLIR's verifier on the result. report_ms is the time to write the report as JSON, for levels "
      "only. "
      "phase_ms includes neither. ir_mb is the memory of the process with the graph before the phase. peak_mb is the "
      "largest memory of the process during the three passes. Each figure is the median over processes that run in "
      "turn. Times are processor times.",
      {"shape", "strategy", "ops", "segments", "accelerator_segments", "lower_bound", "annotate_ms", "form_ms",
       "verify_ms", "phase_ms", "ir_verify_ms", "report_ms", "ir_mb", "peak_mb"},
      {}};
}

static StatusOr<double> timePass(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  std::string name = pass->getName().str();
  manager.addPass(std::move(pass));
  Stopwatch watch;
  if (failed(manager.run(module)))
    return Status(StatusCode::Internal, name + " failed");
  return watch.milliseconds();
}

static void countSegments(ModuleOp module, json::Object &found) {
  int64_t segments = 0, accelerated = 0;
  for (auto function : module.getOps<FunctionOpInterface>())
    for (SegmentOp segment : function.front().getOps<SegmentOp>()) {
      ++segments;
      accelerated += segment.getTargetInterface().getTargetName() == kAcceleratorName;
    }
  found["segments"] = segments;
  found["accelerator_segments"] = accelerated;
}

namespace {
/// A context with all dialects loaded that uses one thread.
struct BenchContext {
  BenchContext() : context(makeRegistry(), MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAll(registry);
    return registry;
  }

  MLIRContext context;
};
} // namespace

static StatusOr<json::Object> measurePhase(OwningOpRef<ModuleOp> module, int64_t ops, Strategy strategy) {
  FormSegmentsPassOptions options;
  options.strategy = strategy;
  json::Object found{{"ops", ops}};
  MemoryWatch memory;
  double phase = 0;
  auto time = [&](StringRef key, std::unique_ptr<Pass> pass) {
    StatusOr<double> taken = timePass(*module, std::move(pass));
    if (taken.isOk())
      phase += *taken;
    found[key] = taken.isOk() ? *taken : 0;
    return taken.status();
  };
  INLAY_RETURN_IF_ERROR(time("annotate_ms", createAnnotateTargetsPass()));
  INLAY_RETURN_IF_ERROR(time("form_ms", createFormSegmentsPass(options)));
  INLAY_RETURN_IF_ERROR(time("verify_ms", createPartitionVerifyPass()));
  found["phase_ms"] = phase;
  found["ir_mb"] = memory.before();
  found["peak_mb"] = memory.peak();
  Stopwatch verifying;
  if (failed(verify(*module)))
    return Status(StatusCode::Internal, "the partitioned module doesn't verify");
  found["ir_verify_ms"] = verifying.milliseconds();
  countSegments(*module, found);
  auto figures =
      (*module->getOps<FunctionOpInterface>().begin())->getAttrOfType<DictionaryAttr>(InlayDialect::kPartitionAttr);
  if (auto bound = figures ? figures.getAs<IntegerAttr>(kLowerBoundFigure) : nullptr; bound && bound.getInt())
    found["lower_bound"] = bound.getInt();
  if (strategy == Strategy::Levels) {
    Stopwatch reporting;
    getReport(*module, ReportFormat::Json);
    found["report_ms"] = reporting.milliseconds();
  }
  module.release(); // the process ends after this, and the time to free the module is not measured
  return found;
}

StatusOr<json::Object> bench::measurePhase(const SyntheticGraph &graph, Strategy strategy) {
  BenchContext bench;
  OwningOpRef<ModuleOp> module = makeModule(bench.context, graph);
  if (failed(verify(*module)))
    return Status(StatusCode::Internal, "the synthetic module doesn't verify");
  return ::measurePhase(std::move(module), graph.size(), strategy);
}

//===-- Exports -------------------------------------------------------------------------------------------------===//

Table bench::makeExportTable() {
  return {
      "exports",
      "The phase on models from torch.export, for an accelerator that runs all ops except norms, softmax, gelu, silu "
      "and indexing. ops counts the ops of the graph except constants. phase_ms is the time of annotate, form and "
      "verify. Each figure is the median over processes that run in turn. Times are processor times.",
      {"model", "strategy", "ops", "segments", "accelerator_segments", "lower_bound", "annotate_ms", "form_ms",
       "verify_ms", "phase_ms"},
      {}};
}

StatusOr<json::Object> bench::measureExport(const std::string &file, Strategy strategy) {
  BenchContext bench;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, ParserConfig(&bench.context));
  if (!module)
    return Status(StatusCode::InvalidArgument, "expected a module of MLIR text in '" + file + "'");
  int64_t ops = declareTargets(*module);
  return ::measurePhase(std::move(module), ops, strategy);
}

//===-- The algorithm without IR --------------------------------------------------------------------------------===//

Table bench::makeAlgorithmTable() {
  return {"algorithm",
          "The algorithm without IR, from a graph of nodes and edges in memory to the nodes of each segment, on one "
          "thread. graph_mb is the memory of the process with the graph, peak_mb the largest during the algorithm.",
          {"shape", "strategy", "ops", "edges", "segments", "accelerator_segments", "lower_bound", "schedule_ms",
           "graph_mb", "peak_mb"},
          {}};
}

static ScheduleGraph makeScheduleGraph(const SyntheticGraph &graph) {
  ScheduleGraph result;
  result.accelerators = 1;
  result.nodes.reserve(graph.size());
  for (uint32_t at = 0; at < graph.size(); ++at) {
    ScheduleNode node;
    Role role = graph.getRole(at);
    node.target = role == Role::Host;
    node.neutral = role == Role::Layout;
    node.allowed = role == Role::Host ? 2 : 3;
    result.add(node);
    for (uint32_t before : graph.getOperands(at))
      result.addEdge(before, at);
  }
  result.seal();
  return result;
}

StatusOr<json::Object> bench::measureAlgorithm(const SyntheticGraph &synthetic, Strategy strategy) {
  ScheduleGraph graph = makeScheduleGraph(synthetic);
  MemoryWatch memory;
  Stopwatch watch;
  Schedule schedule = strategy == Strategy::Levels    ? scheduleByLevels(graph)
                      : strategy == Strategy::InOrder ? scheduleInOrder(graph)
                                                      : scheduleLikeTorchTensorRT(graph, 1);
  double taken = watch.milliseconds();
  json::Object found{{"ops", graph.size()},
                     {"edges", static_cast<int64_t>(graph.edgeCount())},
                     {"segments", static_cast<int64_t>(schedule.segments.size())},
                     {"accelerator_segments", schedule.countOf(graph, true)},
                     {"schedule_ms", taken},
                     {"graph_mb", memory.before()},
                     {"peak_mb", memory.peak()}};
  if (schedule.lowerBound)
    found["lower_bound"] = schedule.lowerBound;
  if (std::string problem = checkSchedule(graph, schedule); !problem.empty())
    return Status(StatusCode::Internal, problem);
  return found;
}

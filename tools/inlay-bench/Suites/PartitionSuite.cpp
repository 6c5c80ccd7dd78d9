// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partition suite: measures the phase on IR, and its algorithms without IR.

#include "Contest/FxPartitioners.h"
#include "Contest/PythonPeer.h"
#include "Graphs/PartitionSteps.h"
#include "Measure/Measure.h"
#include "Suites.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::OptionCategory category("Suite partition");
static cl::list<unsigned> sizes("sizes", cl::CommaSeparated, cl::cat(category),
                                cl::desc("Numbers of ops; default: 1000,10000,100000,1000000"));
static cl::list<unsigned>
    nodeSizes("node-sizes", cl::CommaSeparated, cl::cat(category),
              cl::desc("Numbers of nodes for the algorithms without IR; default: 1000000,10000000"));
static cl::list<std::string> shapeNames("shapes", cl::CommaSeparated, cl::cat(category),
                                        cl::desc("Shapes of the graphs; default: all"));
static cl::list<std::string> tableNames("tables", cl::CommaSeparated, cl::cat(category),
                                        cl::desc("Tables to measure: phase, algorithm; default: both"));
static cl::list<std::string>
    modules("modules", cl::CommaSeparated, cl::cat(category), cl::value_desc("files"),
            cl::desc("Measure the phase on exported models instead: files of MLIR text, as inlay.export writes"));
static cl::list<std::string>
    strategyNames("strategies", cl::CommaSeparated, cl::cat(category),
                  cl::desc("Strategies to measure; default: levels, in-order, torch-tensorrt"));

/// Returns the elements of `all` that the option names, or all without the option.
template <typename T>
static StatusOr<std::vector<T>> pick(llvm::ArrayRef<T> all, cl::list<std::string> &option) {
  if (option.empty())
    return all.vec();
  std::vector<T> picked;
  for (const std::string &name : option) {
    const T *found = llvm::find_if(all, [&](const T &element) { return element.name == name; });
    if (found == all.end())
      return Status(StatusCode::InvalidArgument,
                    "option --" + option.ArgStr.str() + ": expected some of " +
                        llvm::join(llvm::map_range(all, [](const T &element) { return element.name; }), ", ") +
                        ", but got '" + name + "'");
    picked.push_back(*found);
  }
  return picked;
}

static StatusOr<std::vector<uint32_t>> readSizes(cl::list<unsigned> &option, std::vector<uint32_t> otherwise) {
  constexpr unsigned kMax = 100'000'000;
  for (unsigned size : option)
    if (size < 1 || size > kMax)
      return Status(StatusCode::InvalidArgument, "option --" + option.ArgStr.str() + ": expected 1 to " +
                                                     std::to_string(kMax) + ", but got " + std::to_string(size));
  return option.empty() ? std::move(otherwise) : std::vector<uint32_t>(option.begin(), option.end());
}

namespace {
struct Plan {
  std::vector<Shape> shapes;
  std::vector<NamedStrategy> strategies;
  unsigned repeats;
};
} // namespace

using Step = StatusOr<json::Object>(const SyntheticGraph &, Strategy);

/// Adds a row per shape, size and strategy, which `step` measures.
static Status measureAll(Table &table, const Plan &plan, llvm::ArrayRef<uint32_t> sizes, Step *step) {
  for (const Shape &shape : plan.shapes)
    for (uint32_t size : sizes) {
      std::string what = std::string(shape.name) + " of " + std::to_string(size);
      SyntheticGraph graph = makeGraph(shape, size);
      StatusOr<std::vector<json::Object>> found =
          measureByTurns(what, plan.repeats, static_cast<unsigned>(plan.strategies.size()),
                         [&](unsigned variant) { return step(graph, plan.strategies[variant].strategy); });
      if (!found.isOk())
        return found.status();
      for (auto [strategy, cells] : llvm::zip(plan.strategies, *found)) {
        cells["shape"] = shape.name;
        cells["strategy"] = strategy.name;
        table.addRow(cells);
      }
    }
  return Status::ok();
}

static Status measureStrategies(const Plan &plan, Figures &figures) {
  StatusOr<std::vector<uint32_t>> opSizes = readSizes(sizes, {1'000, 10'000, 100'000, 1'000'000});
  StatusOr<std::vector<uint32_t>> numbers = readSizes(nodeSizes, {1'000'000, 10'000'000});
  for (const Status &status : {opSizes.status(), numbers.status()})
    INLAY_RETURN_IF_ERROR(status);
  struct Measurement {
    llvm::StringRef name;
    Table (*makeTable)();
    Step *step;
    llvm::ArrayRef<uint32_t> sizes;
  };
  const Measurement all[] = {{"phase", makePhaseTable, measurePhase, *opSizes},
                             {"algorithm", makeAlgorithmTable, measureAlgorithm, *numbers}};
  StatusOr<std::vector<Measurement>> wanted = pick(llvm::ArrayRef(all), tableNames);
  if (!wanted.isOk())
    return wanted.status();
  for (const Measurement &measurement : *wanted) {
    Table table = measurement.makeTable();
    INLAY_RETURN_IF_ERROR(measureAll(table, plan, measurement.sizes, measurement.step));
    figures.add(std::move(table), llvm::outs());
  }
  return Status::ok();
}

static Status measureExports(const Plan &plan, Figures &figures) {
  Table table = makeExportTable();
  for (const std::string &file : modules) {
    llvm::StringRef model = llvm::sys::path::stem(file);
    StatusOr<std::vector<json::Object>> found =
        measureByTurns(model, plan.repeats, static_cast<unsigned>(plan.strategies.size()),
                       [&](unsigned variant) { return measureExport(file, plan.strategies[variant].strategy); });
    if (!found.isOk())
      return found.status();
    for (auto [strategy, cells] : llvm::zip(plan.strategies, *found)) {
      cells["model"] = model;
      cells["strategy"] = strategy.name;
      table.addRow(cells);
    }
  }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

//===-- Against torch.fx ----------------------------------------------------------------------------------------===//

static Table makeTorchTable() {
  return {"torch",
          "The phase (strategy levels: annotate, form and verify, after which the ops are in segments) and torch.fx on "
          "the same graphs. splitter is a whole call of splitter_base, after which the ops are in submodules. "
          "splitter_place is only its put_nodes_into_subgraphs. capability is the creation of a "
          "CapabilityBasedPartitioner and its propose_partitions, which forms accelerator segments only. "
          "capability_fuse is its fuse_partitions, which capability does not include. torch.fx ran once per graph. "
          "Times are processor times. A ratio is the peer's time divided by phase_ms.",
          {"shape", "ops", "segments", "accelerator_segments", "splitter_segments", "splitter_accelerator_segments",
           "capability_accelerator_segments", "phase_ms", "splitter_ms", "splitter_place_ms", "capability_ms",
           "capability_fuse_ms", "splitter_ratio", "capability_ratio"},
          {}};
}

static StatusOr<json::Object> compareWithTorch(const std::string &program, const Shape &shape, uint32_t size,
                                               unsigned repeats) {
  SyntheticGraph graph = makeGraph(shape, size);
  StatusOr<std::vector<json::Object>> ours =
      measureByTurns(shape.name, repeats, 1, [&](unsigned) { return measurePhase(graph, Strategy::Levels); });
  if (!ours.isOk())
    return ours.status();
  StatusOr<json::Object> cells = runFxPartitioners(program, graph);
  if (!cells.isOk())
    return cells;
  for (auto &[key, value] : ours->front())
    (*cells)[key.str()] = value;
  double phase = std::max(*cells->getNumber("phase_ms"), 1e-3);
  for (std::string peer : {"splitter", "capability"})
    (*cells)[peer + "_ratio"] = cells->getNumber(peer + "_ms").value_or(0) / phase;
  (*cells)["shape"] = shape.name;
  return cells;
}

static Status measureAgainstTorch(const Plan &plan, Figures &figures) {
  StatusOr<std::vector<uint32_t>> opSizes = readSizes(sizes, {500, 1000});
  if (!opSizes.isOk())
    return opSizes.status();
  StatusOr<std::string> program = findPythonWithTorch(getPythons().front());
  if (!program.isOk()) {
    figures.addNote("skipped torch.fx: " + program.status().message(), llvm::outs());
    return Status::ok();
  }
  Table table = makeTorchTable();
  for (const Shape &shape : plan.shapes)
    for (uint32_t size : *opSizes) {
      StatusOr<json::Object> cells = compareWithTorch(*program, shape, size, plan.repeats);
      if (!cells.isOk())
        return cells.status();
      table.addRow(*cells);
    }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<std::vector<Shape>> shapes = pick(getShapes(), shapeNames);
  StatusOr<std::vector<NamedStrategy>> strategies = pick(llvm::ArrayRef(kMeasuredStrategies), strategyNames);
  for (const Status &status : {shapes.status(), strategies.status()})
    INLAY_RETURN_IF_ERROR(status);
  Plan plan{std::move(*shapes), std::move(*strategies), repeats};
  if (!modules.empty())
    return measureExports(plan, figures);
  std::vector<std::string> peers = getPeers();
  if (peers.empty())
    return measureStrategies(plan, figures);
  for (const std::string &peer : peers)
    if (peer != "torch")
      return {StatusCode::InvalidArgument, "option --against: expected torch, but got '" + peer + "'"};
  return measureAgainstTorch(plan, figures);
}

const Suite &bench::partitionSuite() {
  static const Suite suite = {"partition", "measures partitioning of graphs of 10^3 to 10^7 ops by strategy", &category,
                              run,
                              /*hasPeers=*/true};
  return suite;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partition suite: the phase on IR, and its algorithms alone.

#include "Measure.h"
#include "PartitionSteps.h"
#include "Suites.h"

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
static cl::list<unsigned> nodeSizes("node-sizes", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("Numbers of nodes for the algorithms alone; default: 1000000,10000000"));
static cl::list<std::string> shapeNames("shapes", cl::CommaSeparated, cl::cat(category),
                                        cl::desc("Shapes of the graphs; default: all"));

static StatusOr<std::vector<Shape>> readShapes() {
  std::vector<Shape> result;
  std::string known;
  for (const Shape &shape : getShapes()) {
    known += (known.empty() ? "" : ", ") + std::string(shape.name);
    if (shapeNames.empty())
      result.push_back(shape);
  }
  for (const std::string &name : shapeNames) {
    const Shape *found = llvm::find_if(getShapes(), [&](const Shape &shape) { return shape.name == name; });
    if (found == getShapes().end())
      return Status(StatusCode::InvalidArgument,
                    "option --shapes: expected some of " + known + ", but got '" + name + "'");
    result.push_back(*found);
  }
  return result;
}

static StatusOr<std::vector<uint32_t>> readSizes(cl::list<unsigned> &option, std::vector<uint32_t> otherwise) {
  constexpr unsigned kMost = 100'000'000;
  for (unsigned size : option)
    if (size < 1 || size > kMost)
      return Status(StatusCode::InvalidArgument, "option --" + option.ArgStr.str() + ": expected 1 to " +
                                                     std::to_string(kMost) + ", but got " + std::to_string(size));
  return option.empty() ? std::move(otherwise) : std::vector<uint32_t>(option.begin(), option.end());
}

/// A row per shape, size and strategy, each measured by `step`.
static Status measureAll(Table &table, unsigned repeats, llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<uint32_t> sizes,
                         StatusOr<json::Object> (*step)(const SyntheticGraph &, Strategy)) {
  for (const Shape &shape : shapes)
    for (uint32_t size : sizes) {
      std::string what = std::string(shape.name) + " of " + std::to_string(size);
      SyntheticGraph graph = makeGraph(shape, size);
      StatusOr<std::vector<json::Object>> found =
          measureByTurns(what, repeats, std::size(kStrategies),
                         [&](unsigned variant) { return step(graph, kStrategies[variant].strategy); });
      if (!found.isOk())
        return found.status();
      for (auto [strategy, cells] : llvm::zip(kStrategies, *found)) {
        cells["shape"] = shape.name;
        cells["strategy"] = strategy.name;
        table.addRow(cells);
      }
    }
  return Status::ok();
}

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<std::vector<Shape>> shapes = readShapes();
  StatusOr<std::vector<uint32_t>> opSizes = readSizes(sizes, {1'000, 10'000, 100'000, 1'000'000});
  StatusOr<std::vector<uint32_t>> numbers = readSizes(nodeSizes, {1'000'000, 10'000'000});
  if (!shapes.isOk() || !opSizes.isOk() || !numbers.isOk())
    return !shapes.isOk() ? shapes.status() : !opSizes.isOk() ? opSizes.status() : numbers.status();
  Table phase = makePhaseTable();
  INLAY_RETURN_IF_ERROR(measureAll(phase, repeats, *shapes, *opSizes, measurePhase));
  figures.add(std::move(phase), llvm::outs());
  Table algorithm = makeAlgorithmTable();
  INLAY_RETURN_IF_ERROR(measureAll(algorithm, repeats, *shapes, *numbers, measureAlgorithm));
  figures.add(std::move(algorithm), llvm::outs());
  return Status::ok();
}

const Suite &bench::partitionSuite() {
  static const Suite suite = {"partition", "segments of graphs of 10^3 to 10^7 ops, by strategy", &category, run};
  return suite;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calibrate suite: measures a cost model of this machine's targets with small programs that are compiled and run.
//
// Each kind of op runs on a small tensor and on a large one, and the difference gives its throughput. Chains of tiny
// products give the time of an op and of a launch, and copies of arguments and results give the time of transfers.

#include "Measure/Probe.h"
#include "Suites.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/CostModel.h"
#include "inlay/Partition/OpWork.h"
#include "inlay/Pipeline/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;

static cl::list<std::string>
    targetNames("targets", cl::CommaSeparated, cl::cat(getCalibrateCategory()),
                cl::desc("Targets to measure (vulkan, host); default: all that are available"));

//===-- Programs ------------------------------------------------------------------------------------------------===//

/// A function with one op. `{0}` in its text stands for a size.
struct Probe {
  WorkKind kind;
  const char *text;
  unsigned small, large;
};

static constexpr Probe kProbes[] = {
    {WorkKind::Matmul, R"(func.func @forward(%x: tensor<{0}x{0}xf32>, %y: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
  %0 = inlay.matmul %x, %y : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
  return %0 : tensor<{0}x{0}xf32>
})",
     32, 256},
    {WorkKind::Convolution,
     R"(func.func @forward(%x: tensor<1x16x{0}x{0}xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x{0}x{0}xf32> {{
  %0 = inlay.conv %x, %w stride [1, 1] padding [1, 1] dilation [1, 1] groups 1
    : (tensor<1x16x{0}x{0}xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x{0}x{0}xf32>
  return %0 : tensor<1x16x{0}x{0}xf32>
})",
     8, 64},
    {WorkKind::Elementwise,
     R"(func.func @forward(%x: tensor<{0}x1024xf32>, %y: tensor<{0}x1024xf32>) -> tensor<{0}x1024xf32> {{
  %0 = inlay.add %x, %y : (tensor<{0}x1024xf32>, tensor<{0}x1024xf32>) -> tensor<{0}x1024xf32>
  return %0 : tensor<{0}x1024xf32>
})",
     1, 1024},
    {WorkKind::Reduction, R"(func.func @forward(%x: tensor<{0}x1024xf32>) -> tensor<{0}xf32> {{
  %0 = inlay.sum %x dims [1] : (tensor<{0}x1024xf32>) -> tensor<{0}xf32>
  return %0 : tensor<{0}xf32>
})",
     16, 1024},
    {WorkKind::Layout, R"(func.func @forward(%x: tensor<{0}x1024xf32>) -> tensor<1024x{0}xf32> {{
  %0 = inlay.permute %x dims [1, 0] : (tensor<{0}x1024xf32>) -> tensor<1024x{0}xf32>
  return %0 : tensor<1024x{0}xf32>
})",
     16, 1024},
};

/// Returns a function with a chain of `length` products of 4 x 4. Each of them becomes a kernel.
static std::string makeChain(unsigned length) {
  std::string text = "func.func @forward(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n";
  for (unsigned op = 1; op <= length; ++op)
    text += llvm::formatv("  %{0} = inlay.matmul %{1}, %{1} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n",
                          op, op - 1);
  return text + llvm::formatv("  return %{0} : tensor<4x4xf32>\n}", length).str();
}

/// Returns the work of the first op of the function, as partitioning counts it.
static OpWork countWork(const std::string &text) {
  mlir::DialectRegistry registry;
  registerAll(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  mlir::Operation *function = module ? &module->getBody()->front() : nullptr;
  return function ? estimateWork(&function->getRegion(0).front().front()) : OpWork();
}

//===-- Measurements --------------------------------------------------------------------------------------------===//

namespace {
/// A straight line through two measurements.
struct Line {
  double perUnit, fixed;
  Line(double smallUnits, double smallSeconds, double largeUnits, double largeSeconds) {
    perUnit = (largeSeconds - smallSeconds) / (largeUnits - smallUnits);
    if (perUnit <= 0) // noise dominates, so the units get all of the time
      perUnit = largeSeconds / largeUnits;
    fixed = std::max(0.0, smallSeconds - perUnit * smallUnits);
  }
  double rate() const { return 1 / std::max(perUnit, 1e-18); }
};

class Calibration {
public:
  Calibration(const std::string &target, unsigned runs) : target(target), runs(runs) {}

  StatusOr<TargetCosts> measure() {
    for (const Probe &probe : kProbes)
      INLAY_RETURN_IF_ERROR(measureKind(probe));
    double &other = costs.throughput[static_cast<unsigned>(WorkKind::Other)];
    other = std::min(costs.getThroughput(WorkKind::Elementwise), costs.getThroughput(WorkKind::Reduction));
    constexpr unsigned kLength = 17;
    StatusOr<Sample> one = run(makeChain(1)), many = run(makeChain(kLength));
    if (!one.isOk() || !many.isOk())
      return one.isOk() ? many.status() : one.status();
    costs.opSeconds = std::max(0.0, (many->run - one->run) / (kLength - 1));
    costs.launchSeconds = std::max(0.0, one->run - costs.opSeconds);
    return costs;
  }

  std::string deviceName; ///< Name of the device, or empty for the host.

private:
  StatusOr<Sample> run(const std::string &text) {
    StatusOr<Sample> sample = runProbe({text, target, /*tuning=*/"", runs});
    if (sample.isOk())
      deviceName = sample->device;
    return sample;
  }

  Status measureKind(const Probe &probe) {
    std::string small = llvm::formatv(probe.text, probe.small).str();
    std::string large = llvm::formatv(probe.text, probe.large).str();
    StatusOr<Sample> few = run(small), many = run(large);
    if (!few.isOk() || !many.isOk())
      return few.isOk() ? many.status() : few.status();
    OpWork less = countWork(small), more = countWork(large);
    bool isFlops = isProduct(probe.kind);
    Line line(isFlops ? less.flops : less.bytes, few->run, isFlops ? more.flops : more.bytes, many->run);
    costs.throughput[static_cast<unsigned>(probe.kind)] = line.rate();
    if (probe.kind == WorkKind::Elementwise && many->in > 0 && many->out > 0) {
      Line in(few->bytesIn, few->in, many->bytesIn, many->in), out(few->bytesOut, few->out, many->bytesOut, many->out);
      costs.in = {in.rate(), in.fixed};
      costs.out = {out.rate(), out.fixed};
    }
    return Status::ok();
  }

  std::string target;
  unsigned runs;
  TargetCosts costs;
};
} // namespace

//===-- Tables --------------------------------------------------------------------------------------------------===//

static Table makeTable(const CostModel &model) {
  Table table;
  table.name = "cost model";
  table.counted =
      "Throughput of products in 10^9 FLOP per second and of other kinds in 10^9 bytes per second. Fixed times "
      "of an op, of the launch of a segment, and of a transfer in and out, in microseconds.";
  table.columns = {"target"};
  for (unsigned kind = 0; kind < kWorkKinds; ++kind)
    table.columns.push_back(stringifyWorkKind(static_cast<WorkKind>(kind)) +
                            std::string(isProduct(static_cast<WorkKind>(kind)) ? "_gflops" : "_gbps"));
  for (const char *column : {"op_us", "launch_us", "in_gbps", "in_us", "out_gbps", "out_us"})
    table.columns.emplace_back(column);
  for (const auto &[name, costs] : model.targets) {
    llvm::json::Object row{
        {"target", name}, {"op_us", costs.opSeconds * 1e6}, {"launch_us", costs.launchSeconds * 1e6}};
    for (unsigned kind = 0; kind < kWorkKinds; ++kind)
      row[table.columns[1 + kind]] = costs.throughput[kind] * 1e-9;
    for (auto [prefix, transfer] : {std::pair("in", &costs.in), {"out", &costs.out}})
      if (!transfer->isFree()) {
        row[std::string(prefix) + "_gbps"] = transfer->bytesPerSecond * 1e-9;
        row[std::string(prefix) + "_us"] = transfer->seconds * 1e6;
      }
    table.addRow(row);
  }
  return table;
}

static Status run(unsigned repeats, Figures &figures) {
  std::vector<std::string> names(targetNames.begin(), targetNames.end());
  bool all = names.empty();
  if (all)
    names = {"host", "vulkan"};
  for (const std::string &name : names)
    if (name != "vulkan" && name != "host")
      return {StatusCode::InvalidArgument, "option --targets: expected vulkan or host, but got '" + name + "'"};
  StatusOr<ProbeOutput> output = ProbeOutput::create();
  if (!output.isOk())
    return output.status();
  CostModel model;
  for (const std::string &name : names) {
    Calibration calibration(name, 5 * repeats);
    StatusOr<TargetCosts> costs = calibration.measure();
    if (!costs.isOk() && all && name == "vulkan" && getProbeDevice().empty() &&
        costs.status().code() == StatusCode::Unavailable) {
      figures.addNote("vulkan is skipped: " + costs.status().message(), llvm::errs());
      continue;
    }
    if (!costs.isOk())
      return costs.status();
    model.targets.emplace_back(name, *costs);
    if (!calibration.deviceName.empty())
      model.about = "vulkan measured on " + calibration.deviceName;
  }
  figures.add(makeTable(model), llvm::outs());
  llvm::outs().flush();
  return output->write(formatCostModel(model));
}

const Suite &bench::calibrateSuite() {
  static const Suite suite{"calibrate", "measures a cost model of this machine for --cost-model",
                           &getCalibrateCategory(), run};
  return suite;
}

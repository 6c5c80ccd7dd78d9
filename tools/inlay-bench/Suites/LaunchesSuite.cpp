// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches suite: measures the fixed cost of work on a device, and the time to open a program until its first
// dispatch and its first result.

#include "Measure/Measure.h"
#include "Suites.h"
#include "inlay/Execution/Compile.h"
#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Loader/Loader.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::OptionCategory category("Suite launches");
static cl::list<std::string> programs("programs", cl::CommaSeparated, cl::cat(category),
                                      cl::desc("Programs whose opening and first calls are also measured"));

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

//===-- Launches ------------------------------------------------------------------------------------------------===//

static constexpr unsigned kBatch = 100;

/// Returns a function with a chain of `length` products of 4 x 4. Each of them becomes a kernel.
static std::string makeChain(unsigned length) {
  std::string text = "func.func @forward(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n";
  for (unsigned op = 1; op <= length; ++op)
    text += llvm::formatv("  %{0} = inlay.matmul %{1}, %{1} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n",
                          op, op - 1);
  return text + llvm::formatv("  return %{0} : tensor<4x4xf32>\n}", length).str();
}

namespace {
/// An engine whose commands are recorded, with its own memory.
struct Recorded {
  std::shared_ptr<rt::Device> device;
  std::unique_ptr<rt::DeviceCommand> command;
};
} // namespace

static StatusOr<Recorded> record(const std::shared_ptr<rt::Device> &device, const rt::Engine &engine, size_t bytes) {
  StatusOr<std::shared_ptr<rt::DeviceEngine>> loaded = device->load(engine);
  if (!loaded.isOk())
    return loaded.status();
  std::vector<std::shared_ptr<rt::DeviceBuffer>> arguments;
  for (uint32_t i = 0; i < engine.arguments; ++i) {
    StatusOr<std::shared_ptr<rt::DeviceBuffer>> buffer = device->allocate(bytes);
    if (!buffer.isOk())
      return buffer.status();
    arguments.push_back(std::move(*buffer));
  }
  StatusOr<std::unique_ptr<rt::DeviceCommand>> command = device->record(**loaded, arguments, {});
  if (!command.isOk())
    return command.status();
  return Recorded{device, std::move(*command)};
}

/// Records a chain of products as one engine.
static StatusOr<Recorded> recordChain(const std::shared_ptr<rt::Device> &device, unsigned length) {
  CompileRequest request;
  request.text = makeChain(length);
  request.name = "chain";
  request.targets = {"vulkan"};
  StatusOr<CompiledProgram> compiled = compile(request);
  if (!compiled.isOk())
    return compiled.status();
  if (compiled->plan->engines.size() != 1 || compiled->plan->engines[0].dispatches.size() != length)
    return Status(StatusCode::Internal, "expected one engine with as many dispatches as products");
  return record(device, compiled->plan->engines[0], 4 * 4 * sizeof(float));
}

/// Runs `run` repeatedly and returns the smallest and the median time in microseconds.
static StatusOr<json::Object> timeRuns(llvm::StringRef what, unsigned runs, const std::function<Status()> &run) {
  std::vector<double> times;
  constexpr unsigned kWarm = 5;
  for (unsigned i = 0; i < runs + kWarm; ++i) {
    Clock::time_point begin = Clock::now();
    INLAY_RETURN_IF_ERROR(run());
    if (i >= kWarm)
      times.push_back(since(begin) * 1e3);
  }
  std::sort(times.begin(), times.end());
  return json::Object{{"what", what.str()}, {"least_us", times.front()}, {"median_us", times[times.size() / 2]}};
}

static Status measureLaunches(unsigned repeats, Figures &figures) {
  StatusOr<std::shared_ptr<rt::Device>> device = rt::vulkan::openDevice("");
  if (!device.isOk())
    return device.status();
  rt::Engine nothing;
  nothing.name = "empty";
  StatusOr<Recorded> empty = record(*device, nothing, 0), one = recordChain(*device, 1),
                     batch = recordChain(*device, kBatch);
  for (const Status &status : {empty.status(), one.status(), batch.status()})
    INLAY_RETURN_IF_ERROR(status);
  unsigned runs = 200 * repeats;
  auto runOnce = [&](const StatusOr<Recorded> &what) { return (*device)->run({what->command.get()}); };
  auto submitTwice = [&]() -> Status {
    for (const StatusOr<Recorded> *what : {&empty, &one}) {
      StatusOr<uint64_t> number = (*device)->submit({(*what)->command.get()});
      if (!number.isOk() || what == &one)
        return number.isOk() ? (*device)->wait(*number) : number.status();
    }
    return Status::ok();
  };
  StatusOr<json::Object> rows[] = {
      timeRuns("submit and wait, empty engine", runs, [&] { return runOnce(empty); }),
      timeRuns("submit and wait, one dispatch", runs, [&] { return runOnce(one); }),
      timeRuns("two submissions, one wait", runs, submitTwice),
      timeRuns(llvm::formatv("submit and wait, {0} dispatches", kBatch).str(), runs, [&] { return runOnce(batch); })};
  Table table;
  table.name = "launches";
  table.counted =
      llvm::formatv("Microseconds on '{0}': the smallest and the median time of {1} runs. The last row is the "
                    "time of one more dispatch. A barrier stands before each dispatch.",
                    (*device)->deviceName(), runs);
  table.columns = {"what", "least_us", "median_us"};
  for (const StatusOr<json::Object> &row : rows) {
    INLAY_RETURN_IF_ERROR(row.status());
    table.addRow(*row);
  }
  json::Object each{{"what", llvm::formatv("one dispatch of {0}", kBatch).str()}};
  for (const char *column : {"least_us", "median_us"})
    each[column] = (*rows[3]->getNumber(column) - *rows[1]->getNumber(column)) / (kBatch - 1);
  table.addRow(each);
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

//===-- Start-up ------------------------------------------------------------------------------------------------===//

namespace {
/// Memory with zeros for the inputs or results of a call.
struct Arguments {
  std::vector<std::vector<char>> memory;
  std::vector<rt::TensorView> views;

  Status add(const rt::Plan &plan, const std::vector<uint32_t> &buffers) {
    StatusOr<rt::InputDims> inputs = rt::inputDimsFor(plan, std::vector<int64_t>(plan.symbols.size(), 1));
    if (!inputs.isOk())
      return inputs.status();
    for (uint32_t buffer : buffers) {
      const rt::TensorType &type = plan.buffers[buffer].type;
      StatusOr<std::vector<int64_t>> dims = rt::evaluateDims(type, *inputs);
      if (!dims.isOk())
        return dims.status();
      StatusOr<size_t> bytes = rt::byteSize(type.element, *dims);
      if (!bytes.isOk())
        return bytes.status();
      memory.emplace_back(*bytes);
      views.push_back({memory.back().data(), type.element, *dims});
    }
    return Status::ok();
  }
};
} // namespace

static double milliseconds(Clock::time_point begin, int64_t end) {
  return std::chrono::duration<double, std::milli>(std::chrono::nanoseconds(end) - begin.time_since_epoch()).count();
}

/// Opens a program and calls it twice. The process must not have done anything else before.
static StatusOr<json::Object> openOnce(const std::string &path) {
  Stopwatch processor;
  Clock::time_point begin = Clock::now();
  StatusOr<rt::LoadedProgram> opened = rt::openProgram(path);
  if (!opened.isOk())
    return opened.status();
  json::Object found{{"open_ms", since(begin)}};
  Arguments inputs, outputs;
  INLAY_RETURN_IF_ERROR(inputs.add(*opened->plan, opened->plan->inputs));
  INLAY_RETURN_IF_ERROR(outputs.add(*opened->plan, opened->plan->outputs));
  rt::Trace trace;
  {
    rt::TraceSpan span(&trace, "call", "first call");
    INLAY_RETURN_IF_ERROR(opened->program->call(inputs.views, outputs.views));
  }
  found["result_ms"] = since(begin);
  found["result_cpu_ms"] = processor.milliseconds();
  int64_t submitted = std::numeric_limits<int64_t>::max();
  for (const rt::TraceEvent &event : trace.events())
    if (llvm::StringRef(event.category) == "submit")
      submitted = std::min(submitted, event.end);
  if (submitted != std::numeric_limits<int64_t>::max())
    found["dispatch_ms"] = milliseconds(begin, submitted);
  begin = Clock::now();
  INLAY_RETURN_IF_ERROR(opened->program->call(inputs.views, outputs.views));
  found["second_call_ms"] = since(begin);
  return found;
}

static Status measureOpening(unsigned repeats, Figures &figures) {
  Table table;
  table.name = "start-up";
  table.counted =
      "Milliseconds from the start until the program is open, until the first dispatch is submitted, and until "
      "the first result is there (elapsed time and processor time), and the milliseconds of a second call. "
      "Each figure is the median over processes that do nothing else. All open sizes are 1.";
  table.columns = {"program", "open_ms", "dispatch_ms", "result_ms", "result_cpu_ms", "second_call_ms"};
  for (const std::string &path : programs) {
    auto step = [&](unsigned) { return openOnce(path); };
    StatusOr<std::vector<json::Object>> found = measureByTurns(path, repeats, 1, step);
    if (!found.isOk())
      return found.status();
    json::Object row = found->front();
    row["program"] = llvm::StringRef(path).rsplit('/').second.empty() ? path : llvm::StringRef(path).rsplit('/').second;
    table.addRow(row);
  }
  figures.add(std::move(table), llvm::outs());
  return Status::ok();
}

static Status run(unsigned repeats, Figures &figures) {
  if (!programs.empty()) // comes first, since children of a process with an open device can't use it
    INLAY_RETURN_IF_ERROR(measureOpening(repeats, figures));
  return measureLaunches(repeats, figures);
}

const Suite &bench::launchesSuite() {
  static const Suite suite{"launches", "measures submissions, dispatches, waits and the opening of programs", &category,
                           run};
  return suite;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run.h"
#include "Arrays.h"
#include "CompileOptions.h"
#include "inlay/Execution/Profile.h"
#include "inlay/Execution/ReportKeys.h"
#include "inlay/Execution/Saved.h"
#include "inlay/Partition/Report.h"
#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

using namespace inlay;
using namespace inlay::tools;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

Status tools::listDevices() {
  StatusOr<std::vector<rt::vulkan::DeviceCaps>> devices = rt::vulkan::listDevices();
  if (!devices.isOk())
    return devices.status();
  for (size_t i = 0; i < devices->size(); ++i) {
    const rt::vulkan::DeviceCaps &caps = (*devices)[i];
    llvm::outs() << llvm::formatv("{0}: {1} ({2}){3}\n", i, caps.name, caps.driver,
                                  caps.unusable.empty() ? "" : ", unusable: " + caps.unusable);
  }
  if (devices->empty())
    llvm::outs() << "no Vulkan devices\n";
  return Status::ok();
}

//===-- Inputs and outputs --------------------------------------------------------------------------------------===//

using Given = std::vector<std::optional<Array>>;

/// The arrays of the files that the options name, by input.
static StatusOr<Given> readInputs(const rt::Plan &plan, const RunOptions &options) {
  Given given(plan.inputs.size());
  bool archive = options.inputs.size() == 1 && llvm::StringRef(options.inputs[0]).ends_with(".npz");
  if (!archive && options.inputs.size() > plan.inputs.size())
    return Status(StatusCode::InvalidArgument, "expected at most " + std::to_string(plan.inputs.size()) +
                                                   " inputs, but got " + std::to_string(options.inputs.size()));
  if (!archive) {
    for (size_t i = 0; i < options.inputs.size(); ++i) {
      StatusOr<Array> array = readNpy(options.inputs[i]);
      if (!array.isOk())
        return array.status();
      given[i] = std::move(*array);
    }
    return given;
  }
  auto arrays = readNpz(options.inputs[0]);
  if (!arrays.isOk())
    return arrays.status();
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const std::string &name = plan.buffers[plan.inputs[i]].name;
    if (!arrays->count(name))
      return Status(StatusCode::NotFound, "'" + options.inputs[0] + "' has no array '" + name + "'");
    given[i] = std::move((*arrays)[name]);
  }
  return given;
}

/// Sets the value of one symbol as "name=value" says.
static Status readSize(const rt::Plan &plan, llvm::StringRef text, std::vector<int64_t> &values) {
  auto [name, number] = text.split('=');
  for (auto [symbol, value] : llvm::zip_equal(plan.symbols, values)) {
    if (name != symbol.name)
      continue;
    if (number.getAsInteger(10, value))
      return {StatusCode::InvalidArgument,
              ("option --size: expected a number for '" + name + "', but got '" + number + "'").str()};
    return Status::ok();
  }
  std::string names = llvm::join(llvm::map_range(plan.symbols, [](const auto &symbol) { return symbol.name; }), ", ");
  return {StatusCode::InvalidArgument,
          ("option --size: the module has no size '" + name + "'" + (names.empty() ? "" : "; it has " + names)).str()};
}

/// The symbols' values: what a file says, else the options, else the least.
static StatusOr<std::vector<int64_t>> chooseSizes(const rt::Plan &plan, const Given &given, const RunOptions &options) {
  rt::InputDims dims;
  for (const std::optional<Array> &array : given)
    dims.push_back(array ? array->dims : std::vector<int64_t>());
  std::vector<int64_t> values;
  for (const rt::Symbol &symbol : plan.symbols) {
    StatusOr<int64_t> value = rt::valueOf(symbol).evaluate(dims);
    values.push_back(value.isOk() ? *value : std::min(std::max<int64_t>(symbol.min, 1), symbol.max));
  }
  for (const std::string &size : options.sizes)
    INLAY_RETURN_IF_ERROR(readSize(plan, size, values));
  return values;
}

static StatusOr<std::vector<Array>> makeInputs(const rt::Plan &plan, const RunOptions &options) {
  StatusOr<Given> given = readInputs(plan, options);
  if (!given.isOk())
    return given.status();
  StatusOr<std::vector<int64_t>> values = chooseSizes(plan, *given, options);
  if (!values.isOk())
    return values.status();
  StatusOr<rt::InputDims> dims = rt::inputDimsFor(plan, *values);
  if (!dims.isOk())
    return dims.status();
  std::vector<Array> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if ((*given)[i]) {
      inputs.push_back(std::move(*(*given)[i]));
      continue;
    }
    StatusOr<Array> array = makeArray(plan.buffers[plan.inputs[i]].type.element, (*dims)[i]);
    if (!array.isOk())
      return array.status();
    fillRandom(*array, options.seed + i);
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

static StatusOr<std::vector<Array>> makeOutputs(const rt::Program &program, const std::vector<Array> &inputs) {
  rt::InputDims inputDims;
  for (const Array &input : inputs)
    inputDims.push_back(input.dims);
  StatusOr<std::vector<std::vector<int64_t>>> dims = program.outputDims(inputDims);
  if (!dims.isOk())
    return dims.status();
  std::vector<Array> outputs;
  for (auto [number, shape] : llvm::zip_equal(program.plan().outputs, *dims)) {
    StatusOr<Array> array = makeArray(program.plan().buffers[number].type.element, shape);
    if (!array.isOk())
      return array.status();
    outputs.push_back(std::move(*array));
  }
  return outputs;
}

static std::vector<rt::TensorView> views(std::vector<Array> &arrays) {
  std::vector<rt::TensorView> result;
  for (Array &array : arrays)
    result.push_back(array.view());
  return result;
}

static Status call(rt::Program &program, std::vector<Array> &inputs, std::vector<Array> &outputs) {
  return program.call(views(inputs), views(outputs));
}

static void summarize(const std::vector<Array> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array &array = outputs[i];
    std::string dims, first;
    for (int64_t dim : array.dims)
      dims += (dims.empty() ? "" : "x") + std::to_string(dim);
    int64_t shown = std::min<int64_t>(array.count(), 8);
    for (int64_t j = 0; j < shown; ++j) {
      double value = elementAt(array, j);
      value = std::isnan(value) ? std::abs(value) : value; // a NaN's sign says nothing
      llvm::raw_string_ostream(first) << (j ? " " : "") << llvm::format("%g", value);
    }
    llvm::outs() << llvm::formatv("result {0}: {1}[{2}] = {3}{4}\n", i, rt::name(array.element), dims, first,
                                  shown < array.count() ? " ..." : "");
  }
}

static Status save(const std::string &path, const std::vector<Array> &outputs) {
  if (llvm::StringRef(path).ends_with(".npy")) {
    if (outputs.size() != 1)
      return {StatusCode::InvalidArgument, "'" + path + "' holds one array, but there are " +
                                               std::to_string(outputs.size()) + " results: use a .npz file"};
    return writeNpy(path, outputs[0]);
  }
  if (!llvm::StringRef(path).ends_with(".npz"))
    return {StatusCode::InvalidArgument, "expected a .npy or .npz file for results, but got '" + path + "'"};
  std::vector<std::pair<std::string, const Array *>> arrays;
  for (size_t i = 0; i < outputs.size(); ++i)
    arrays.emplace_back("result_" + std::to_string(i), &outputs[i]);
  return writeNpz(path, arrays);
}

//===-- Comparison and timing -----------------------------------------------------------------------------------===//

namespace {
/// How far results are apart: as a number, and as a part of the largest element of the result it is in.
struct Difference {
  double absolute = 0, relative = 0;

  void add(const Array &actual, const Array &expected) {
    double difference = 0, largest = 0;
    for (int64_t i = 0, e = actual.count(); i < e; ++i) {
      double a = elementAt(actual, i), b = elementAt(expected, i);
      bool same = a == b || (std::isnan(a) && std::isnan(b));
      difference = std::max(difference, same ? 0.0 : std::isfinite(a - b) ? std::abs(a - b) : INFINITY);
      if (std::isfinite(b))
        largest = std::max(largest, std::abs(b));
    }
    absolute = std::max(absolute, difference);
    relative = std::max(relative, largest > 0 ? difference / largest : difference);
  }
};
} // namespace

/// Prints the largest difference to a run of the same graph on the host alone.
static Status compare(const CompileRequest &request, std::vector<Array> &inputs, const std::vector<Array> &outputs) {
  if (request.options.from > Phase::Partition)
    return {StatusCode::InvalidArgument, "--compare needs a graph that isn't partitioned yet, but --from is " +
                                             stringifyPhase(request.options.from).str()};
  CompileRequest hostRequest = request;
  hostRequest.targets = {"host"};
  hostRequest.options.partition = PartitionInfo();
  hostRequest.options.dumpDirectory.clear();
  StatusOr<Compiled> host = compile(hostRequest);
  if (!host.isOk())
    return host.status();
  StatusOr<std::vector<Array>> expected = makeOutputs(*host->program, inputs);
  if (!expected.isOk())
    return expected.status();
  INLAY_RETURN_IF_ERROR(call(*host->program, inputs, *expected));
  Difference difference;
  for (size_t i = 0; i < outputs.size(); ++i)
    difference.add(outputs[i], (*expected)[i]);
  llvm::outs() << "largest difference to the host alone: " << llvm::format("%.1e", difference.absolute) << ", "
               << llvm::format("%.1e", difference.relative) << " of the largest element\n";
  return Status::ok();
}

static Status measure(rt::Program &program, std::vector<Array> &inputs, std::vector<Array> &outputs, unsigned repeat) {
  std::vector<double> times;
  for (unsigned i = 0; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    INLAY_RETURN_IF_ERROR(call(program, inputs, outputs));
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  llvm::outs() << llvm::formatv("latency over {0} runs: median {1:f2} ms, least {2:f2} ms\n", repeat,
                                times[times.size() / 2], times.front());
  return Status::ok();
}

static const std::string kDefaultRuns = "10";

Status tools::readRuns(llvm::StringRef option, const std::string *value, unsigned &runs) {
  llvm::StringRef text = value && !value->empty() ? *value : kDefaultRuns;
  if (!value || (!text.getAsInteger(10, runs) && runs > 0))
    return Status::ok();
  return {StatusCode::InvalidArgument,
          ("option --" + option + ": expected a positive number of runs, but got '" + text + "'").str()};
}

Status tools::readProfile(const std::string *value, RunOptions &options) {
  if (value && llvm::StringRef(*value).ends_with(".json")) {
    options.trace = *value;
    return readRuns("profile", &kDefaultRuns, options.profiled);
  }
  if (Status status = readRuns("profile", value, options.profiled); status.isOk())
    return status;
  return {StatusCode::InvalidArgument,
          "option --profile: expected a positive number of runs or a .json file for a trace, but got '" + *value + "'"};
}

static Status writeFile(const std::string &path, llvm::StringRef text, llvm::StringRef what) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code
             ? Status(StatusCode::NotFound, ("can't write the " + what + " to '" + path + "': " + code.message()).str())
             : Status::ok();
}

/// Prints what each segment takes beside what the cost model says, and adds it to the report if that is a JSON file.
static Status profileSegments(const Compiled &compiled, std::vector<Array> &inputs, std::vector<Array> &outputs,
                              const CompileRequest &request, const RunOptions &options) {
  rt::Trace trace;
  StatusOr<std::vector<rt::StepProfile>> steps =
      profile(*compiled.program, views(inputs), views(outputs), options.profiled, &trace);
  if (!steps.isOk())
    return steps.status();
  rt::InputDims dims;
  for (const Array &input : inputs)
    dims.push_back(input.dims);
  StatusOr<rt::MemoryUse> memory = compiled.program->memory(dims);
  if (!memory.isOk())
    return memory.status();
  StatusOr<std::string> report = addMeasuredTimes(compiled.report, *steps);
  if (report.isOk())
    report = addMemory(*report, *memory);
  if (!report.isOk())
    return report.status();
  StatusOr<std::string> table = formatMeasuredTimes(*report);
  if (!table.isOk())
    return table.status();
  llvm::outs() << *table << formatMemory(*memory);
  for (const std::string &note : trace.notes())
    llvm::outs() << "note: " << note << "\n";
  if (!options.trace.empty())
    INLAY_RETURN_IF_ERROR(writeFile(options.trace, rt::toJson(trace, compiled.plan->name), "trace"));
  const std::string &path = request.options.partition.report;
  if (path.empty() || path == "-" || findReportFormat(path) != ReportFormat::Json)
    return Status::ok();
  return writeFile(path, *report, "report");
}

/// What is to run: a module, which is compiled, or a program that was saved.
static StatusOr<Compiled> open(const CompileRequest &request, const RunOptions &options) {
  if (!rt::isContainer(request.name))
    return compile(request);
  if (options.compare)
    return Status(StatusCode::InvalidArgument,
                  "option --compare: expected a module, but '" + request.name + "' is a compiled program");
  SavedOptions saved;
  saved.load.device = request.device;
  return openSaved(request.name, saved);
}

Status tools::run(const CompileRequest &request, const RunOptions &options) {
  StatusOr<Compiled> compiled = open(request, options);
  if (!compiled.isOk())
    return compiled.status();
  printNotice(compiled->notice);
  StatusOr<std::vector<Array>> inputs = makeInputs(*compiled->plan, options);
  if (!inputs.isOk())
    return inputs.status();
  StatusOr<std::vector<Array>> outputs = makeOutputs(*compiled->program, *inputs);
  if (!outputs.isOk())
    return outputs.status();
  INLAY_RETURN_IF_ERROR(call(*compiled->program, *inputs, *outputs));
  if (options.output.empty())
    summarize(*outputs);
  else
    INLAY_RETURN_IF_ERROR(save(options.output, *outputs));
  if (options.compare)
    INLAY_RETURN_IF_ERROR(compare(request, *inputs, *outputs));
  if (options.profiled)
    INLAY_RETURN_IF_ERROR(profileSegments(*compiled, *inputs, *outputs, request, options));
  return options.repeat ? measure(*compiled->program, *inputs, *outputs, options.repeat) : Status::ok();
}

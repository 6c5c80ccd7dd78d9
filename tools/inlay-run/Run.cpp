// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what the options ask for: lists devices, compiles, opens, calls, measures, compares and profiles.

#include "Run.h"
#include "Arguments.h"
#include "Check.h"
#include "Compile.h"
#include "DriverCrash.h"
#include "Files.h"

#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Text.h"
#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Loader/Difference.h"
#include "inlay/Runtime/Loader/Loader.h"
#include "inlay/Runtime/Report/PlanText.h"
#include "inlay/Runtime/Report/Profile.h"
#include "inlay/Runtime/Report/ReportKeys.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

using namespace inlay;
using namespace inlay::tools;
using rt::LoadedProgram;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

Status tools::listDevices() {
  DriverCrash watch("listing the devices");
  StatusOr<std::vector<rt::vulkan::DeviceCaps>> devices = rt::vulkan::listDevices();
  if (!devices.isOk())
    return devices.status();
  for (size_t i = 0; i < devices->size(); ++i) {
    const rt::vulkan::DeviceCaps &caps = (*devices)[i];
    fmt::print("{}: {} ({}){}\n", i, caps.name, caps.driver,
               caps.unusable.empty() ? "" : ", unusable: " + caps.unusable);
  }
  if (devices->empty())
    fmt::print("no Vulkan devices\n");
  return Status::ok();
}

static StatusOr<LoadedProgram> openContainer(const std::string &path, const RunOptions &options) {
  std::optional<DriverCrash> watch; // a crash before drivers are loaded is not theirs
  rt::OpenOptions opening;
  opening.beforeDevice = [&] {
    if (!watch)
      watch.emplace("opening a device");
    return Status::ok();
  };
  opening.device = options.device;
  opening.publicKeyFile = options.publicKey;
  return rt::openProgram(path, opening);
}

static StatusOr<std::vector<Array>> call(LoadedProgram &opened, rt::Session &session, std::vector<Array> &inputs) {
  StatusOr<std::vector<rt::TensorView>> results = opened.program->callForResults(views(inputs), &session);
  if (!results.isOk())
    return results.status();
  std::vector<Array> arrays;
  for (rt::TensorView &result : *results)
    arrays.push_back({result.element, std::move(result.dims), {result.owner, static_cast<char *>(result.data)}});
  return arrays;
}

//===-- Comparison and timing -----------------------------------------------------------------------------------===//

/// Prints the largest difference to a run of the same graph on the host.
static Status compare(Compiler &compiler, const RunOptions &options, std::vector<Array> &inputs,
                      std::vector<Array> &outputs) {
  std::vector<std::string> words = options.graph;
  words.emplace_back("--targets=host");
  StatusOr<std::string> path = compiler.compile(words);
  if (!path.isOk())
    return path.status();
  StatusOr<LoadedProgram> host = openContainer(*path, {});
  compiler.removeFiles();
  if (!host.isOk())
    return host.status();
  StatusOr<std::shared_ptr<rt::Session>> session = host->program->makeSession();
  if (!session.isOk())
    return session.status();
  StatusOr<std::vector<Array>> expected = call(*host, **session, inputs);
  if (!expected.isOk())
    return expected.status();
  rt::Difference difference;
  for (size_t i = 0; i < outputs.size(); ++i)
    difference.add(outputs[i].view(), (*expected)[i].view());
  fmt::print("largest difference to the host alone: {:.1e}, {:.1e} of the largest element\n", difference.absolute,
             difference.relative);
  return Status::ok();
}

static Status measure(LoadedProgram &opened, rt::Session &session, std::vector<Array> &inputs, unsigned repeat) {
  std::vector<double> times;
  for (unsigned i = 0; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    INLAY_RETURN_IF_ERROR(call(opened, session, inputs).status());
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("latency over {} runs: median {:.2f} ms, minimum {:.2f} ms\n", repeat, times[times.size() / 2],
             times.front());
  return Status::ok();
}

static Status writeText(const std::string &path, const std::string &text, const char *what) {
  Status status = writeFile(path, text);
  return status.isOk() ? status
                       : Status(status.code(), fmt::format("can't write the {} to {}", what, status.message()));
}

/// Prints the measured and the modeled time of each segment. Adds the measured times to the report if it is a JSON
/// file.
static Status profileSegments(LoadedProgram &opened, rt::Session &session, std::vector<Array> &inputs,
                              std::vector<Array> &outputs, const RunOptions &options) {
  rt::Trace trace;
  StatusOr<std::vector<rt::StepProfile>> steps =
      rt::profile(*opened.program, views(inputs), views(outputs), options.profiled, &trace, &session);
  if (!steps.isOk())
    return steps.status();
  StatusOr<rt::MemoryUse> memory = opened.program->memory(dimsOf(inputs));
  if (!memory.isOk())
    return memory.status();
  StatusOr<std::string> report = rt::addMeasuredTimes(opened.info.report, *steps);
  if (report.isOk())
    report = rt::addMemory(*report, *memory);
  if (!report.isOk())
    return report.status();
  StatusOr<std::string> table = rt::formatMeasuredTimes(*report);
  if (!table.isOk())
    return table.status();
  fmt::print("{}{}", rt::escapeControls(*table, "\n"), rt::formatMemory(*memory));
  for (const std::string &note : trace.notes())
    fmt::print("note: {}\n", note);
  if (!options.trace.empty())
    INLAY_RETURN_IF_ERROR(writeText(options.trace, rt::toJson(trace, opened.plan->name), "trace"));
  const std::string &path = options.report;
  if (path.empty() || path == "-" || endsWith(path, ".txt") || endsWith(path, ".html"))
    return Status::ok();
  return writeText(path, *report, "report");
}

//===-- Commands ------------------------------------------------------------------------------------------------===//

static Status runProgram(LoadedProgram &opened, Compiler &compiler, const RunOptions &options) {
  StatusOr<std::vector<Array>> inputs = makeInputs(*opened.plan, options);
  if (!inputs.isOk())
    return inputs.status();
  StatusOr<std::shared_ptr<rt::Session>> session = opened.program->makeSession(); // for all calls
  if (!session.isOk())
    return session.status();
  StatusOr<std::vector<Array>> outputs = call(opened, **session, *inputs);
  if (!outputs.isOk())
    return outputs.status();
  if (options.output.empty())
    summarize(*outputs);
  else
    INLAY_RETURN_IF_ERROR(save(options.output, *outputs));
  if (options.compare)
    INLAY_RETURN_IF_ERROR(compare(compiler, options, *inputs, *outputs));
  if (options.check)
    INLAY_RETURN_IF_ERROR(checkSegments(opened, *inputs, *outputs));
  if (options.profiled)
    INLAY_RETURN_IF_ERROR(profileSegments(opened, **session, *inputs, *outputs, options));
  return options.repeat ? measure(opened, **session, *inputs, options.repeat) : Status::ok();
}

/// Rejects options that have no meaning for a compiled program.
static Status checkForContainer(const RunOptions &options) {
  auto wrong = [&](const std::string &option, const char *more) {
    return Status(
        StatusCode::InvalidArgument,
        fmt::format("option {}: expected a module, but '{}' is a compiled program{}", option, options.file, more));
  };
  for (const std::string &word : options.compilation)
    if (word.rfind("--device=", 0) != 0)
      return wrong(word.substr(0, word.find('=')), "");
  return options.compare ? wrong("--compare", "; --check compares its segments") : Status::ok();
}

/// Returns the error for an option that requires a compiled program.
static Status noContainer(const char *option, const RunOptions &options) {
  if (options.file == "-")
    return {StatusCode::InvalidArgument,
            fmt::format("option {}: expected the file of a compiled program, which can't be read from standard input",
                        option)};
  return {StatusCode::InvalidArgument,
          fmt::format("option {}: expected a compiled program, but '{}' is not one", option, options.file)};
}

static Status describe(const RunOptions &options) {
  rt::ContainerReadOptions reading;
  reading.publicKeyFile = options.publicKey;
  StatusOr<rt::ContainerContents> saved = rt::readContainer(options.file, reading);
  if (!saved.isOk())
    return saved.status();
  StatusOr<std::string> plan = rt::describePlan(*saved->plan);
  if (!plan.isOk())
    return Status(plan.status().code(), fmt::format("'{}': {}", options.file, plan.status().message()));
  fmt::print("{}{}", rt::describeContainer(saved->info), *plan);
  return Status::ok();
}

Status tools::run(const RunOptions &options) {
  bool isContainer = endsWith(options.file, ".inlay") || (options.file != "-" && rt::isContainer(options.file));
  if (options.describe && !isContainer)
    return noContainer("--describe", options);
  if (isContainer)
    INLAY_RETURN_IF_ERROR(checkForContainer(options));
  if (options.describe)
    return describe(options);
  bool isGraph = options.from == "import" || options.from == "rewrite" || options.from == "partition";
  if (options.compare && !isGraph)
    return {StatusCode::InvalidArgument,
            fmt::format("--compare needs a graph that isn't partitioned yet, but --from is {}", options.from)};
  if (!isContainer && !options.publicKey.empty())
    return noContainer("--public-key", options);
  if (!isContainer)
    unsetenv("INLAY_PUBLIC_KEY"); // programs that are compiled here aren't signed
  Compiler compiler(options.file);
  std::string path = options.file;
  if (!isContainer) {
    StatusOr<std::string> made = compiler.compile(options.compilation);
    if (!made.isOk())
      return made.status();
    path = *made;
  }
  StatusOr<LoadedProgram> opened = openContainer(path, options);
  compiler.removeFiles();
  return opened.isOk() ? runProgram(*opened, compiler, options) : opened.status();
}

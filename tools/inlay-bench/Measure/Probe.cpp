// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a small generated program on a device, for the suites `calibrate` and `tune`. Measure.cpp measures steps of
// the compiler.

#include "Probe.h"
#include "inlay/Execution/Compile.h"
#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Report/Profile.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;

cl::OptionCategory &bench::getCalibrateCategory() {
  static cl::OptionCategory category("Suite calibrate");
  return category;
}

cl::OptionCategory &bench::getTuneCategory() {
  static cl::OptionCategory category("Suite tune");
  return category;
}

static cl::opt<std::string> output("o", cl::cat(getCalibrateCategory()), cl::cat(getTuneCategory()),
                                   cl::value_desc("file"), cl::desc("File for the result; default: standard output"));
static cl::opt<std::string> device("device", cl::cat(getCalibrateCategory()), cl::cat(getTuneCategory()),
                                   cl::desc("Vulkan device: a number or a part of its name; default: INLAY_DEVICE"));

std::string bench::getProbeDevice() { return device; }

//===-- Output --------------------------------------------------------------------------------------------------===//

void ProbeOutput::Discard::operator()(llvm::sys::fs::TempFile *file) const {
  llvm::consumeError(file->discard()); // fails if the file was kept, which is no error
  delete file;
}

static Status cantWrite(const std::string &why) {
  return {StatusCode::NotFound, "can't write '" + output + "': " + why};
}

StatusOr<ProbeOutput> ProbeOutput::create() {
  ProbeOutput result;
  bool isFile =
      !output.empty() && output != "-" && (!llvm::sys::fs::exists(output) || llvm::sys::fs::is_regular_file(output));
  if (!isFile)
    return result;
  llvm::Expected<llvm::sys::fs::TempFile> temporary = llvm::sys::fs::TempFile::create(output + ".%%%%%%");
  if (!temporary)
    return cantWrite(llvm::errorToErrorCode(temporary.takeError()).message());
  result.file.reset(new llvm::sys::fs::TempFile(std::move(*temporary)));
  return result;
}

Status ProbeOutput::write(const std::string &text) {
  std::error_code error;
  if (file) {
    llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    stream << text;
    stream.flush();
    error = stream.error();
    stream.clear_error();
    if (!error)
      error = llvm::errorToErrorCode(file->keep(output));
  } else {
    llvm::raw_fd_ostream stream(output.empty() ? "-" : output.getValue(), error);
    if (!error)
      stream << text;
    stream.flush();
    error = error ? error : stream.error();
    stream.clear_error();
  }
  return error ? cantWrite(error.message()) : Status::ok();
}

//===-- Probes --------------------------------------------------------------------------------------------------===//

namespace {
/// Memory for the inputs or results of a program.
struct Values {
  std::vector<std::vector<float>> memory;
  std::vector<rt::TensorView> views;

  Status add(const rt::TensorType &type) {
    StatusOr<std::vector<int64_t>> dims = rt::evaluateDims(type, {});
    if (!dims.isOk())
      return dims.status();
    size_t count = 1;
    for (int64_t dim : *dims)
      count *= static_cast<size_t>(dim);
    memory.emplace_back(count, 1.0f);
    views.push_back({memory.back().data(), rt::ElementType::F32, *dims});
    return Status::ok();
  }
};
} // namespace

static Times sum(const std::vector<rt::StepProfile> &steps) {
  Times times;
  bool ran = false;
  for (const rt::StepProfile &step : steps) {
    double seconds = static_cast<double>(step.nanoseconds) * 1e-9;
    bool isCopy = step.kind == rt::StepKind::Copy;
    (!isCopy ? times.run : ran ? times.out : times.in) += seconds;
    ran |= !isCopy;
  }
  return times;
}

static std::string gatherCode(const rt::Plan &plan) {
  std::string code;
  for (const rt::Engine &engine : plan.engines)
    for (const rt::Kernel &kernel : engine.kernels)
      code.append(reinterpret_cast<const char *>(kernel.spirv.data()), kernel.spirv.size() * sizeof(uint32_t));
  return code;
}

StatusOr<Sample> bench::runProbe(const ProbeProgram &probe, llvm::function_ref<bool(const std::string &code)> isKnown) {
  CompileRequest request;
  request.text = probe.text;
  request.name = "probe";
  request.targets = {probe.target};
  request.device = device;
  request.tuning = probe.tuning;
  StatusOr<CompiledProgram> compiled = compile(request);
  if (!compiled.isOk())
    return compiled.status();
  Sample sample;
  sample.code = gatherCode(*compiled->plan);
  if (compiled->device)
    sample.device = compiled->device->deviceName();
  if (isKnown && isKnown(sample.code))
    return sample;
  Values inputs, outputs;
  for (uint32_t number : compiled->plan->inputs)
    INLAY_RETURN_IF_ERROR(inputs.add(compiled->plan->buffers[number].type));
  for (uint32_t number : compiled->plan->outputs)
    INLAY_RETURN_IF_ERROR(outputs.add(compiled->plan->buffers[number].type));
  for (unsigned round = 0; round < probe.rounds; ++round) {
    StatusOr<std::vector<rt::StepProfile>> steps = profile(*compiled->program, inputs.views, outputs.views, probe.runs);
    if (!steps.isOk())
      return steps.status();
    Times times = sum(*steps);
    if (round == 0 || times.run < sample.run)
      static_cast<Times &>(sample) = times;
  }
  sample.in /= static_cast<double>(inputs.views.size());
  sample.out /= static_cast<double>(outputs.views.size());
  sample.bytesIn = 4.0 * static_cast<double>(inputs.memory.front().size());
  sample.bytesOut = 4.0 * static_cast<double>(outputs.memory.back().size());
  return sample;
}

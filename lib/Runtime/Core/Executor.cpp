// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program::load and the program it makes: a pool of lanes, one taken per call.

#include "Arguments.h"
#include "Lane.h"
#include "SerialKernels.h"

#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace inlay::rt {

namespace {

class Executor final : public Program {
public:
  static StatusOr<std::unique_ptr<Program>> load(LoadedPlan loaded);

  StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const override;
  StatusOr<MemoryUse> memory(const InputDims &inputs) const override;
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) override;
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace) override;
  Status replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) override;
  void stopWhen(StopCheck check) override { loaded_.stopCheck = std::move(check); }
  const Plan &plan() const override { return *loaded_.plan; }

private:
  explicit Executor(LoadedPlan loaded) : loaded_(std::move(loaded)) {}

  Status resolveSteps();
  StatusOr<std::shared_ptr<DeviceBuffer>> placeConstant(const Constant &constant);
  Status placeConstants();
  Status replaceOnDevice(uint32_t number, const Constant &constant);
  StatusOr<std::unique_ptr<Lane>> acquire(const std::vector<TensorView> &inputs,
                                          const std::vector<TensorView> &outputs);
  std::unique_ptr<Lane> takeIdle(const InputDims &dims);
  void release(std::unique_ptr<Lane> lane);

  /// Lanes kept for later calls; beyond it the one idle for longest goes.
  static constexpr size_t maxIdle = 16;
  /// Constants of as many bytes are read in place where the device can: for smaller ones it isn't worth the pages.
  static constexpr size_t minImported = size_t(64) << 10;

  LoadedPlan loaded_;
  std::shared_mutex running_; ///< shared by calls; taken alone to replace constants
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_; ///< guarded by `mutex_`; least recently used first
};

} // namespace

static Status loadForeign(LoadedPlan &loaded, uint32_t number, const std::string &where) {
  const ForeignEngine &foreign = loaded.plan->foreignEngines[number];
  auto runner = loaded.runners.find(foreign.runner);
  if (runner == loaded.runners.end() || !runner->second)
    return {StatusCode::NotFound,
            fmt::format("{}: the plan needs the runner '{}', but there is none of that name", where, foreign.runner)};
  StatusOr<std::shared_ptr<LoadedEngine>> engine = runner->second->load(foreign);
  if (!engine.isOk())
    return {engine.status().code(),
            fmt::format("{}: runner '{}': {}", where, foreign.runner, engine.status().message())};
  if (!*engine)
    return {StatusCode::Internal, fmt::format("{}: runner '{}' gave no engine", where, foreign.runner)};
  loaded.foreignEngines[number] = std::move(*engine);
  return Status::ok();
}

static Status loadKernels(LoadedPlan &loaded, uint32_t number, const std::string &where) {
  const HostFunction &function = loaded.plan->hostCode.functions[number];
  if (function.kernels.empty())
    return Status::ok();
  StatusOr<std::unique_ptr<HostKernels>> kernels =
      loaded.kernelLoader ? loaded.kernelLoader->load(function) : loadSerialKernels(function);
  if (!kernels.isOk())
    return {kernels.status().code(), fmt::format("{}: {}", where, kernels.status().message())};
  loaded.hostKernels[number] = std::move(*kernels);
  return Status::ok();
}

static Status resolveStep(LoadedPlan &loaded, const Step &step) {
  std::string where = fmt::format("segment '{}'", step.name);
  if (step.kind == StepKind::Callback && !loaded.callbacks)
    return {StatusCode::InvalidArgument,
            fmt::format("{}: the plan calls back into a framework, but there is no handler", where)};
  if (step.kind == StepKind::LaunchEngine && !loaded.engines[step.callee]) {
    StatusOr<std::shared_ptr<DeviceEngine>> engine = loaded.device->load(loaded.plan->engines[step.callee]);
    if (!engine.isOk())
      return {engine.status().code(), fmt::format("{}: {}", where, engine.status().message())};
    loaded.engines[step.callee] = std::move(*engine);
  }
  if (step.kind == StepKind::RunForeign && !loaded.foreignEngines[step.callee])
    return loadForeign(loaded, step.callee, where);
  if (step.kind == StepKind::CallHost && !loaded.hostEntries[step.callee]) {
    const std::string &symbol = loaded.plan->hostCode.functions[step.callee].symbol;
    if (!loaded.host)
      return {StatusCode::InvalidArgument,
              fmt::format("{}: the plan calls '{}', but there is no host library", where, symbol)};
    StatusOr<HostEntry> entry = loaded.host->lookup(symbol);
    if (!entry.isOk())
      return {entry.status().code(), fmt::format("{}: {}", where, entry.status().message())};
    if (!*entry)
      return {StatusCode::NotFound, fmt::format("{}: host function '{}' resolved to null", where, symbol)};
    loaded.hostEntries[step.callee] = *entry;
    return loadKernels(loaded, step.callee, where);
  }
  return Status::ok();
}

Status Executor::resolveSteps() {
  loaded_.engines.resize(loaded_.plan->engines.size());
  loaded_.foreignEngines.resize(loaded_.plan->foreignEngines.size());
  loaded_.hostEntries.resize(loaded_.plan->hostCode.functions.size());
  loaded_.hostKernels.resize(loaded_.plan->hostCode.functions.size());
  for (const Step &step : loaded_.plan->steps)
    INLAY_RETURN_IF_ERROR(resolveStep(loaded_, step));
  return Status::ok();
}

/// Device memory with the constant in it, or that of the host where the device can read it in place.
StatusOr<std::shared_ptr<DeviceBuffer>> Executor::placeConstant(const Constant &constant) {
  if (constant.size >= minImported)
    if (std::shared_ptr<DeviceBuffer> imported = loaded_.device->importHost(constant.data, constant.size))
      return imported;
  StatusOr<std::shared_ptr<DeviceBuffer>> storage = loaded_.device->allocate(constant.size);
  if (storage.isOk())
    INLAY_RETURN_IF_ERROR(loaded_.device->upload(**storage, constant.data, constant.size));
  return storage;
}

Status Executor::placeConstants() {
  loaded_.constants.resize(loaded_.plan->constants.size());
  for (const Buffer &buffer : loaded_.plan->buffers) {
    if (buffer.kind != BufferKind::Constant || buffer.space != MemorySpace::Device || loaded_.constants[buffer.index])
      continue;
    const Constant &constant = loaded_.plan->constants[buffer.index];
    StatusOr<std::shared_ptr<DeviceBuffer>> storage = placeConstant(constant);
    if (!storage.isOk())
      return {storage.status().code(), fmt::format("constant '{}': {}", buffer.name, storage.status().message())};
    loaded_.constants[buffer.index] = std::move(*storage);
  }
  return Status::ok();
}

StatusOr<std::unique_ptr<Program>> Executor::load(LoadedPlan loaded) {
  if (!loaded.plan)
    return Status(StatusCode::InvalidArgument, "expected a plan, but got null");
  const Plan &plan = *loaded.plan;
  INLAY_RETURN_IF_ERROR(checkPlan(plan));
  if (!loaded.device) {
    for (const Buffer &buffer : plan.buffers)
      if (buffer.space == MemorySpace::Device)
        return Status(StatusCode::InvalidArgument,
                      fmt::format("buffer '{}' is in device memory, but there is no device", buffer.name));
    for (const Step &step : plan.steps)
      if (step.kind == StepKind::LaunchEngine)
        return Status(StatusCode::InvalidArgument,
                      fmt::format("segment '{}' needs a device, but there is none", step.name));
  }
  std::unique_ptr<Executor> executor(new Executor(std::move(loaded)));
  executor->loaded_.hostConstants = plan.constants;
  executor->loaded_.schedule =
      makeSchedule(plan, executor->loaded_.device && executor->loaded_.device->unifiedMemory());
  INLAY_RETURN_IF_ERROR(executor->resolveSteps());
  INLAY_RETURN_IF_ERROR(executor->placeConstants());
  return std::unique_ptr<Program>(std::move(executor));
}

StatusOr<std::vector<std::vector<int64_t>>> Executor::outputDims(const InputDims &inputs) const {
  INLAY_RETURN_IF_ERROR(checkInputDims(*loaded_.plan, inputs));
  return evaluateOutputDims(*loaded_.plan, inputs);
}

StatusOr<MemoryUse> Executor::memory(const InputDims &inputs) const {
  INLAY_RETURN_IF_ERROR(checkInputDims(*loaded_.plan, inputs));
  StatusOr<std::unique_ptr<Instance>> instance = Instance::create(loaded_, inputs);
  if (!instance.isOk())
    return instance.status();
  return (*instance)->measureMemory();
}

/// An idle lane, or a new one: best one that knows these dims, so that nothing is recorded, else the one used last, so
/// that as few as possible grow.
std::unique_ptr<Lane> Executor::takeIdle(const InputDims &dims) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty())
    return std::make_unique<Lane>(loaded_);
  auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](auto &idle) { return idle->knows(dims); });
  auto taken = found == idle_.rend() ? std::prev(idle_.end()) : std::next(found).base();
  std::unique_ptr<Lane> lane = std::move(*taken);
  idle_.erase(taken);
  return lane;
}

StatusOr<std::unique_ptr<Lane>> Executor::acquire(const std::vector<TensorView> &inputs,
                                                  const std::vector<TensorView> &outputs) {
  InputDims dims;
  INLAY_RETURN_IF_ERROR(checkCall(*loaded_.plan, inputs, outputs, dims));
  std::unique_ptr<Lane> lane = takeIdle(dims);
  Status status = lane->prepare(dims);
  if (status.code() == StatusCode::ResourceExhausted) {
    // Memory that idle lanes and other dims hold is worth less than this call.
    std::vector<std::unique_ptr<Lane>> victims;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      victims.swap(idle_);
    }
    victims.clear();
    lane = nullptr;
    lane = std::make_unique<Lane>(loaded_);
    status = lane->prepare(dims);
  }
  if (!status.isOk()) {
    release(std::move(lane));
    return status;
  }
  lane->instance().bind(inputs, outputs);
  return lane;
}

void Executor::release(std::unique_ptr<Lane> lane) {
  std::unique_ptr<Lane> evicted; // destroyed after the lock is gone
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() == maxIdle) {
    evicted = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back(std::move(lane));
}

/// Before `hostConstants` says so.
Status Executor::replaceOnDevice(uint32_t number, const Constant &constant) {
  std::shared_ptr<DeviceBuffer> &storage = loaded_.constants[number];
  if (!storage)
    return Status::ok();
  const void *old = loaded_.hostConstants[number].data;
  if (storage->hostPointer() != old) // the device's own copy
    return loaded_.device->upload(*storage, constant.data, constant.size);
  if (constant.data == old)
    return Status::ok();
  StatusOr<std::shared_ptr<DeviceBuffer>> placed = placeConstant(constant);
  if (!placed.isOk())
    return placed.status();
  storage = std::move(*placed);
  return Status::ok();
}

Status Executor::replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) {
  const std::vector<Constant> &planned = loaded_.plan->constants;
  for (const auto &[number, constant] : replacements) {
    if (number >= planned.size())
      return {StatusCode::InvalidArgument, fmt::format("constant {} is out of range of {}", number, planned.size())};
    if (!constant.data || constant.size != planned[number].size)
      return {StatusCode::InvalidArgument,
              fmt::format("constant {} ('{}'): expected {} bytes, but got {}", number, planned[number].key,
                          planned[number].size, constant.data ? constant.size : 0)};
  }
  std::unique_lock<std::shared_mutex> alone(running_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.clear(); // they point at what is replaced
  }
  for (const std::unique_ptr<HostKernels> &kernels : loaded_.hostKernels)
    if (kernels)
      kernels->forgetConstants();
  for (const auto &[number, constant] : replacements) {
    if (Status status = replaceOnDevice(number, constant); !status.isOk())
      return {status.code(), fmt::format("constant '{}': {}", planned[number].key, status.message())};
    Constant &replaced = loaded_.hostConstants[number];
    replaced.data = constant.data;
    replaced.owner = constant.owner;
  }
  return Status::ok();
}

Status Executor::call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) {
  std::shared_lock<std::shared_mutex> running(running_);
  StatusOr<std::unique_ptr<Lane>> lane = acquire(inputs, outputs);
  if (!lane.isOk())
    return lane.status();
  // A lane that failed isn't used again: nothing is known of its device state.
  INLAY_RETURN_IF_ERROR((*lane)->instance().run(loaded_.schedule.actions));
  release(std::move(*lane));
  return Status::ok();
}

/// What the kernels of a step took, by the plan's names.
static std::vector<KernelProfile> describeKernels(const Plan &plan, const Step &step, const StepTime &time) {
  std::vector<KernelProfile> kernels;
  for (uint32_t number = 0; number < time.kernels.size(); ++number) {
    const RunTime &run = time.kernels[number];
    if (run.runs == 0)
      continue;
    KernelProfile &kernel = kernels.emplace_back();
    kernel.number = number;
    kernel.nanoseconds = run.nanoseconds;
    kernel.runs = run.runs;
    if (step.kind == StepKind::LaunchEngine) {
      kernel.kind = "dispatch";
      kernel.calls = plan.engines[step.callee].dispatches[number].calls;
    } else {
      const HostKernel &description = plan.hostCode.functions[step.callee].kernels[number];
      kernel.kind = name(description.kind);
      kernel.calls = description.calls;
    }
  }
  return kernels;
}

StatusOr<std::vector<StepProfile>> Executor::profile(const std::vector<TensorView> &inputs,
                                                     const std::vector<TensorView> &outputs, Trace *trace) {
  std::shared_lock<std::shared_mutex> running(running_);
  StatusOr<std::unique_ptr<Lane>> lane = acquire(inputs, outputs);
  if (!lane.isOk())
    return lane.status();
  const std::vector<Step> &steps = loaded_.plan->steps;
  std::vector<StepTime> times(steps.size());
  {
    TraceSpan span(trace, "call", loaded_.plan->name);
    // In the order of the schedule, not of the list: temporaries share memory by that order.
    INLAY_RETURN_IF_ERROR((*lane)->instance().run(loaded_.schedule.actions, &times));
  }
  std::vector<StepProfile> profiles;
  profiles.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i)
    profiles.push_back({steps[i].name, steps[i].kind, times[i].nanoseconds, steps[i].segment, steps[i].calls,
                        times[i].runs, describeKernels(*loaded_.plan, steps[i], times[i])});
  release(std::move(*lane));
  return profiles;
}

StatusOr<std::unique_ptr<Program>> Program::load(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                 std::shared_ptr<HostLibrary> host, CallbackHandler callbacks,
                                                 Runners runners, std::shared_ptr<HostKernelLoader> kernels) {
  LoadedPlan loaded;
  loaded.plan = std::move(plan);
  loaded.device = std::move(device);
  loaded.host = std::move(host);
  loaded.callbacks = std::move(callbacks);
  loaded.runners = std::move(runners);
  loaded.kernelLoader = std::move(kernels);
  return Executor::load(std::move(loaded));
}

} // namespace inlay::rt

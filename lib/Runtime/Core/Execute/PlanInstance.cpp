// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates sizes, assigns slots to temporaries, and runs the steps of a call. Bindings.cpp records commands.
// Schedule/Schedule.cpp fixes the order of steps at load time.

#include "PlanInstance.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace inlay::rt {

Status annotate(const std::string &where, const Status &status) {
  return {status.code(), fmt::format("{}: {}", where, status.message())};
}

std::string nameStep(const Step &step) { return fmt::format("segment '{}'", step.name); }

Status Failure::note(Status status, std::vector<uint32_t> failed) {
  switch (status.code()) {
  case StatusCode::DeviceLost:
  case StatusCode::ResourceExhausted:
  case StatusCode::Unavailable:
  case StatusCode::Internal:
    ofDevice = true;
    engines = std::move(failed);
    break;
  default:
    break;
  }
  return status;
}

StatusOr<std::unique_ptr<PlanInstance>> PlanInstance::create(const ProgramState &loaded, const InputDims &inputs,
                                                             Failure &failure) {
  std::unique_ptr<PlanInstance> instance(new PlanInstance(loaded, inputs));
  INLAY_RETURN_IF_ERROR(instance->evaluateDims());
  INLAY_RETURN_IF_ERROR(instance->evaluateSizes());
  INLAY_RETURN_IF_ERROR(instance->checkCopies());
  instance->slots_.assign(loaded.plan->buffers.size(), -1);
  instance->assignSlots(/*onDevice=*/false);
  instance->assignSlots(/*onDevice=*/true);
  INLAY_RETURN_IF_ERROR(instance->measureScratch(failure));
  return instance;
}

Status PlanInstance::evaluateDims() {
  dims_.reserve(loaded_.plan->buffers.size());
  bytes_.reserve(loaded_.plan->buffers.size());
  for (const Buffer &buffer : loaded_.plan->buffers) {
    StatusOr<std::vector<int64_t>> dims = rt::evaluateDims(buffer.type, inputs_);
    if (!dims.isOk())
      return annotate(fmt::format("buffer '{}'", buffer.name), dims.status());
    StatusOr<size_t> bytes = byteSize(buffer.type.element, *dims);
    if (!bytes.isOk())
      return annotate(fmt::format("buffer '{}'", buffer.name), bytes.status());
    dims_.push_back(std::move(*dims));
    bytes_.push_back(*bytes);
  }
  return Status::ok();
}

static Status evaluateAll(const std::vector<Expr> &sizes, const InputDims &inputs, std::vector<int64_t> &values) {
  values.reserve(sizes.size());
  for (const Expr &size : sizes) {
    StatusOr<int64_t> value = size.evaluate(inputs);
    if (!value.isOk())
      return value.status();
    values.push_back(*value);
  }
  return Status::ok();
}

/// Evaluates the numbers that host functions and callbacks get.
Status PlanInstance::evaluateSizes() {
  for (const HostFunction &function : loaded_.plan->hostCode.functions)
    if (Status status = evaluateAll(function.sizes, inputs_, hostSizes_.emplace_back()); !status.isOk())
      return annotate(fmt::format("host function '{}'", function.symbol), status);
  for (const Callback &callback : loaded_.plan->callbacks)
    if (Status status = evaluateAll(callback.sizes, inputs_, callbackSizes_.emplace_back()); !status.isOk())
      return annotate(fmt::format("callback '{}'", callback.name), status);
  return Status::ok();
}

Status PlanInstance::checkCopies() const {
  for (const Step &step : loaded_.plan->steps) {
    if (step.kind != StepKind::Copy || bytes_[step.buffers[0]] == bytes_[step.buffers[1]])
      continue;
    return {StatusCode::InvalidArgument,
            fmt::format("{}: copies '{}' of {} bytes to '{}' of {} bytes", nameStep(step),
                        loaded_.plan->buffers[step.buffers[0]].name, bytes_[step.buffers[0]],
                        loaded_.plan->buffers[step.buffers[1]].name, bytes_[step.buffers[1]])};
  }
  return Status::ok();
}

/// Assigns slots to the temporaries of one memory. Temporaries that are never live together share a slot.
void PlanInstance::assignSlots(bool onDevice) {
  const Schedule &schedule = loaded_.schedule;
  std::vector<uint32_t> buffers;
  std::vector<Lifetime> lifetimes;
  std::vector<size_t> sizes;
  for (uint32_t i = 0; i < schedule.storage.size(); ++i) {
    bool ownsStorage = loaded_.plan->buffers[i].kind == BufferKind::Temporary && schedule.storage[i] == i;
    bool used = schedule.lifetimes[i].first <= schedule.lifetimes[i].last;
    if (!ownsStorage || !used || schedule.onDevice[i] != onDevice)
      continue;
    buffers.push_back(i);
    lifetimes.push_back(schedule.lifetimes[i]);
    sizes.push_back(bytes_[i]);
  }
  std::vector<uint32_t> slots = rt::assignSlots(lifetimes, sizes, onDevice ? slotSizes_.device : slotSizes_.host);
  for (size_t i = 0; i < buffers.size(); ++i)
    slots_[buffers[i]] = static_cast<int32_t>(slots[i]);
}

/// Computes the scratch size as the maximum over all launches: they run one after the other.
Status PlanInstance::measureScratch(Failure &failure) {
  size_t maxBytes = 0;
  for (const Step &step : loaded_.plan->steps) {
    if (step.kind != StepKind::LaunchEngine)
      continue;
    StatusOr<size_t> bytes = loaded_.engines[step.callee]->scratchBytes(inputs_);
    if (!bytes.isOk())
      return annotate(nameStep(step), failure.note(bytes.status(), {step.callee}));
    maxBytes = std::max(maxBytes, *bytes);
  }
  if (maxBytes > 0)
    slotSizes_.scratch = {maxBytes};
  return Status::ok();
}

void PlanInstance::resolvePointers(const Storage &storage) {
  const Schedule &schedule = loaded_.schedule;
  pointers_.assign(slots_.size(), nullptr);
  deviceBuffers_.assign(slots_.size(), nullptr);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] >= 0 && schedule.onDevice[i])
      deviceBuffers_[i] = storage.device(slots_[i]);
    else if (slots_[i] >= 0)
      pointers_[i] = storage.host(slots_[i]);
  }
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Buffer &buffer = loaded_.plan->buffers[i];
    if (buffer.kind == BufferKind::Constant && buffer.space == MemorySpace::Host)
      pointers_[i] = const_cast<void *>(loaded_.hostConstants[buffer.index].data);
    else if (buffer.kind == BufferKind::Constant)
      deviceBuffers_[i] = loaded_.constants[buffer.index];
    else if (schedule.storage[i] != i) {
      pointers_[i] = pointers_[schedule.storage[i]];
      deviceBuffers_[i] = deviceBuffers_[schedule.storage[i]];
    }
    if (deviceBuffers_[i])
      pointers_[i] = deviceBuffers_[i]->hostPointer();
  }
  defaultBuffers_ = deviceBuffers_;
}

/// Waits for the engines of plans that have steps with effects. A call can't be repeated after such a step, so failures
/// should show before it.
Status PlanInstance::waitBeforeEffects(Failure &failure) const {
  const std::vector<Step> &steps = loaded_.plan->steps;
  bool hasEffects = !loaded_.plan->states.empty() || std::any_of(steps.begin(), steps.end(), [](const Step &step) {
    return step.kind == StepKind::Callback || step.kind == StepKind::RunForeign;
  });
  for (const Step &step : steps)
    if (hasEffects && step.kind == StepKind::LaunchEngine)
      if (Status status = loaded_.engines[step.callee]->wait(); !status.isOk())
        return annotate(nameStep(step), failure.note(std::move(status), {step.callee}));
  return Status::ok();
}

Status PlanInstance::run(const std::vector<Action> &actions, std::vector<StepTime> *times) {
  // The device may use memory until it is waited for.
  Status status = guard([&] { return runActions(actions, times); });
  for (const Submission &submission : inFlight_) { // not empty only after a failure
    auto wait = [&] { return loaded_.device->wait(submission.number); };
    static_cast<void>(guard(wait)); // without memory for its status, the others must still be waited for
  }
  inFlight_.clear();
  if (!status.isOk())
    return status;
  releaseImports();
  return status;
}

Status PlanInstance::runActions(const std::vector<Action> &actions, std::vector<StepTime> *times) {
  for (const Action &action : actions) {
    switch (action.kind) {
    case StepKind::Branch:
      INLAY_RETURN_IF_ERROR(branch(action, times));
      break;
    case StepKind::While:
      INLAY_RETURN_IF_ERROR(loop(action, times));
      break;
    case StepKind::For:
      INLAY_RETURN_IF_ERROR(count(action, times));
      break;
    default:
      INLAY_RETURN_IF_ERROR(times ? runTimed(action, *times) : runSteps(action));
    }
  }
  return Status::ok();
}

Status PlanInstance::runSteps(const Action &action) {
  if (action.kind == StepKind::LaunchEngine)
    return action.isWait ? waitFor(action.steps) : submit(action.steps);
  for (uint32_t number : action.steps) {
    const Step &step = loaded_.plan->steps[number];
    TraceSpan span(name(step.kind), step.name, step.segment, &step.calls);
    INLAY_RETURN_IF_ERROR(runStep(number));
  }
  return Status::ok();
}

Status PlanInstance::runTimed(const Action &action, std::vector<StepTime> &times) {
  if (action.isWait)
    return Status::ok();
  for (uint32_t number : action.steps) {
    const Step &step = loaded_.plan->steps[number];
    bool isCallback = step.kind == StepKind::Callback && step.calls.empty();
    TraceSpan span(name(step.kind), isCallback ? loaded_.plan->callbacks[step.callee].name : step.name, step.segment,
                   &step.calls);
    timed_ = &times[number];
    int64_t begin = traceTime();
    Status status = runStep(number);
    timed_->add(begin, traceTime());
    timed_ = nullptr;
    INLAY_RETURN_IF_ERROR(status);
  }
  return Status::ok();
}

Status PlanInstance::runStep(uint32_t number) {
  const Step &step = loaded_.plan->steps[number];
  if (step.kind == StepKind::LaunchEngine)
    INLAY_RETURN_IF_ERROR(beginWrites({number}));
  else
    beginWrite(number);
  switch (step.kind) {
  case StepKind::LaunchEngine:
    return timed_ && TraceSpan::current() ? launchTimed(number) : launch(number);
  case StepKind::CallHost:
    return callHost(step);
  case StepKind::Copy:
    return loaded_.schedule.elided[number] ? Status::ok() : copy(step);
  case StepKind::Callback:
    return callBack(step);
  case StepKind::RunForeign:
    return runForeign(step);
  default:
    return {StatusCode::Internal, fmt::format("{}: unknown kind of step", nameStep(step))};
  }
}

bool PlanInstance::readCondition(const Step &step) const {
  return *static_cast<const uint8_t *>(pointers_[step.buffers[0]]) != 0;
}

Status PlanInstance::branch(const Action &action, std::vector<StepTime> *times) {
  const Step &step = loaded_.plan->steps[action.steps.front()];
  TraceSpan span(name(step.kind), step.name, step.segment, &step.calls);
  return runActions(action.bodies[readCondition(step) ? 0 : 1], times);
}

/// Asks between iterations of a loop if the caller wants to stop. Asking may take a lock of the caller, so it is not
/// done in each iteration.
Status PlanInstance::checkStop(const Step &loop) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kInterval = std::chrono::milliseconds(50);
  Clock::time_point now = Clock::now();
  if (!loaded_.stopCheck || now - lastStopCheck_ < kInterval)
    return Status::ok();
  lastStopCheck_ = now;
  if (!loaded_.stopCheck())
    return Status::ok();
  return {StatusCode::Stopped, fmt::format("loop '{}': stopped by its caller", loop.name)};
}

Status PlanInstance::loop(const Action &action, std::vector<StepTime> *times) {
  const Step &step = loaded_.plan->steps[action.steps.front()];
  TraceSpan span(name(step.kind), step.name, step.segment, &step.calls);
  for (uint64_t runs = 0;; ++runs) {
    INLAY_RETURN_IF_ERROR(runActions(action.bodies[0], times));
    if (!readCondition(step))
      return Status::ok();
    if (runs == step.limit)
      return {StatusCode::Stopped,
              fmt::format("loop '{}': ran {} times without ending, which is its limit (max_loop_iterations)", step.name,
                          runs)};
    INLAY_RETURN_IF_ERROR(runActions(action.bodies[1], times));
    INLAY_RETURN_IF_ERROR(checkStop(step));
  }
}

Status PlanInstance::count(const Action &action, std::vector<StepTime> *times) {
  const Step &step = loaded_.plan->steps[action.steps.front()];
  TraceSpan span(name(step.kind), step.name, step.segment, &step.calls);
  int64_t range[3]; // a caller's memory need not be aligned
  for (int i = 0; i < 3; ++i)
    std::memcpy(&range[i], pointers_[step.buffers[i + 1]], sizeof(int64_t));
  auto [lower, upper, stride] = range;
  beginWrite(action.steps.front());
  if (stride < 1)
    return {StatusCode::InvalidArgument,
            fmt::format("loop '{}': expected a step of at least 1, but got {}", step.name, stride)};
  for (int64_t position = lower; position < upper;) {
    std::memcpy(pointers_[step.buffers[0]], &position, sizeof(position));
    INLAY_RETURN_IF_ERROR(runActions(action.bodies[0], times));
    INLAY_RETURN_IF_ERROR(checkStop(step));
    if (__builtin_add_overflow(position, stride, &position))
      break;
  }
  return Status::ok();
}

std::vector<DeviceCommand *> PlanInstance::commandsOf(const std::vector<uint32_t> &steps) const {
  std::vector<DeviceCommand *> commands;
  commands.reserve(steps.size());
  for (uint32_t step : steps)
    commands.push_back(commands_[step].get());
  return commands;
}

/// Returns the launches whose pipelines couldn't be created, or all if there are none.
std::vector<uint32_t> PlanInstance::findBroken(const std::vector<uint32_t> &launches) const {
  std::vector<uint32_t> broken;
  for (uint32_t step : launches)
    if (!loaded_.engines[loaded_.plan->steps[step].callee]->state().isOk())
      broken.push_back(step);
  return broken.empty() ? launches : broken;
}

/// Returns the status of launches. If they failed, notes the failure and adds their names.
Status PlanInstance::noteLaunch(std::vector<uint32_t> steps, Status status) {
  if (status.isOk())
    return status;
  if (status.code() != StatusCode::DeviceLost)
    steps = findBroken(steps);
  std::string names;
  std::vector<uint32_t> engines;
  for (uint32_t step : steps) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", loaded_.plan->steps[step].name);
    engines.push_back(loaded_.plan->steps[step].callee);
  }
  return annotate(fmt::format("{} {}", steps.size() == 1 ? "segment" : "segments", names),
                  failure_->note(std::move(status), std::move(engines)));
}

/// Notes that a step is about to begin, if it may write a state. The call can't run again after that.
void PlanInstance::beginWrite(uint32_t number) {
  if (!loaded_.schedule.writesState[number])
    return;
  failure_->noteEffect(loaded_.plan->steps[number]);
  session_->beginWrite();
}

/// Does the same for launches. A failure to submit launches may come after some have begun, so it counts, unless the
/// device is known to be lost before.
Status PlanInstance::beginWrites(const std::vector<uint32_t> &launches) {
  bool any = std::any_of(launches.begin(), launches.end(),
                         [&](uint32_t number) { return loaded_.schedule.writesState[number]; });
  if (any)
    INLAY_RETURN_IF_ERROR(noteLaunch(launches, loaded_.device->state()));
  for (uint32_t number : launches)
    beginWrite(number);
  return Status::ok();
}

Status PlanInstance::submit(const std::vector<uint32_t> &steps) {
  INLAY_RETURN_IF_ERROR(beginWrites(steps));
  std::vector<DeviceCommand *> commands = commandsOf(steps);
  inFlight_.push_back({0, steps}); // before the submission, because it may fail
  StatusOr<uint64_t> number = loaded_.device->submit(commands);
  if (!number.isOk()) {
    inFlight_.pop_back();
    return noteLaunch(steps, number.status());
  }
  inFlight_.back().number = *number;
  return Status::ok();
}

/// Waits for submissions, oldest first, up to the one with the last of these steps.
Status PlanInstance::waitFor(const std::vector<uint32_t> &steps) {
  while (!inFlight_.empty()) {
    Status status = loaded_.device->wait(inFlight_.front().number); // first: the rest may fail
    Submission oldest = std::move(inFlight_.front());
    inFlight_.pop_front();
    INLAY_RETURN_IF_ERROR(noteLaunch(oldest.steps, std::move(status)));
    if (oldest.steps.back() == steps.back())
      break;
  }
  return Status::ok();
}

Status PlanInstance::launch(uint32_t number) {
  return noteLaunch({number}, loaded_.device->run({commands_[number].get()}));
}

/// Launches one step with its dispatches one by one and records their times.
Status PlanInstance::launchTimed(uint32_t number) {
  const Step &step = loaded_.plan->steps[number];
  const Engine &engine = loaded_.plan->engines[step.callee];
  std::vector<DispatchTime> times;
  if (Status status = loaded_.device->runTimed(*commands_[number], times); !status.isOk())
    return annotate(nameStep(step), failure_->note(std::move(status), {step.callee}));
  Trace &trace = TraceSpan::current()->trace();
  trace.note(loaded_.device->describeTiming());
  uint32_t track = trace.track(loaded_.device->deviceName());
  for (const DispatchTime &time : times) {
    const Dispatch &dispatch = engine.dispatches[time.dispatch];
    timed_->kernel(time.dispatch).add(time.begin, time.end);
    trace.add(
        {"dispatch", engine.kernels[dispatch.kernel].name, track, time.begin, time.end, step.segment, dispatch.calls});
  }
  return Status::ok();
}

namespace {
/// The context that native code gets. It has the kernels and the first failure.
struct HostContext : InlayHostContext {
  HostContext(HostKernels &kernels, const HostFunction &function, StepTime *times)
      : InlayHostContext{runLoop, callLibrary}, kernels(kernels), function(function), times(times) {}

  /// Runs `work`, and times it if the step is timed. No exception may reach the native code, which can't be unwound.
  template <typename Work>
  void run(int64_t kernel, Work work) {
    if (!status.isOk())
      return;
    status = guard([&]() -> Status {
      if (!times || static_cast<uint64_t>(kernel) >= function.kernels.size())
        return work();
      const HostKernel &description = function.kernels[kernel];
      TraceSpan span(name(description.kind), description.name, -1, &description.calls);
      int64_t begin = traceTime();
      INLAY_RETURN_IF_ERROR(work());
      times->kernel(static_cast<uint32_t>(kernel)).add(begin, traceTime());
      return Status::ok();
    });
  }

  static void runLoop(InlayHostContext *self, int64_t kernel, InlayHostBody body, void *const *buffers, int64_t count,
                      int64_t cost) {
    auto *context = static_cast<HostContext *>(self);
    context->run(kernel,
                 [&] { return context->kernels.run(static_cast<uint32_t>(kernel), body, buffers, count, cost); });
  }

  static void callLibrary(InlayHostContext *self, int64_t kernel, void *const *buffers, const int64_t *sizes) {
    auto *context = static_cast<HostContext *>(self);
    context->run(kernel, [&] { return context->kernels.call(static_cast<uint32_t>(kernel), buffers, sizes); });
  }

  HostKernels &kernels;
  const HostFunction &function;
  StepTime *times; ///< Null if the step isn't timed.
  Status status = Status::ok();
};
} // namespace

Status PlanInstance::callHost(const Step &step) {
  std::vector<void *> arguments;
  arguments.reserve(step.buffers.size() + 2);
  for (uint32_t buffer : step.buffers)
    arguments.push_back(pointers_[buffer]);
  if (std::vector<int64_t> &sizes = hostSizes_[step.callee]; !sizes.empty())
    arguments.push_back(sizes.data());
  HostKernels *kernels = loaded_.hostKernels[step.callee].get();
  if (!kernels) {
    loaded_.hostEntries[step.callee](arguments.data());
    return Status::ok();
  }
  HostContext context(*kernels, loaded_.plan->hostCode.functions[step.callee], timed_);
  arguments.push_back(&context);
  loaded_.hostEntries[step.callee](arguments.data());
  return context.status.isOk() ? context.status : annotate(nameStep(step), context.status);
}

TensorView PlanInstance::view(uint32_t buffer) const {
  return {pointers_[buffer], loaded_.plan->buffers[buffer].type.element, dims_[buffer]};
}

/// Returns a step's view of its buffers; the first `inputCount` are inputs.
void PlanInstance::viewBuffers(const Step &step, size_t inputCount, std::vector<TensorView> &inputs,
                               std::vector<TensorView> &outputs) const {
  for (size_t i = 0; i < step.buffers.size(); ++i)
    (i < inputCount ? inputs : outputs).push_back(view(step.buffers[i]));
}

Status PlanInstance::callBack(const Step &step) {
  const Callback &callback = loaded_.plan->callbacks[step.callee];
  std::vector<TensorView> inputs, outputs;
  viewBuffers(step, callback.inputs, inputs, outputs);
  failure_->noteEffect(step);
  Status status = loaded_.callbacks(step.callee, inputs, outputs, callbackSizes_[step.callee]);
  return status.isOk() ? status : annotate(fmt::format("callback '{}'", callback.name), status);
}

Status PlanInstance::runForeign(const Step &step) {
  std::vector<TensorView> inputs, outputs;
  viewBuffers(step, loaded_.plan->foreignEngines[step.callee].inputs, inputs, outputs);
  failure_->noteEffect(step);
  Status status = loaded_.foreignEngines[step.callee]->run(inputs, outputs);
  return status.isOk() ? status : annotate(nameStep(step), status);
}

Status PlanInstance::copy(const Step &step) {
  uint32_t from = step.buffers[0], to = step.buffers[1];
  size_t bytes = bytes_[from];
  if (bytes == 0) // the pointer of an empty buffer may be null even if the host can access it
    return Status::ok();
  if (pointers_[from] && pointers_[to]) {
    if (pointers_[from] != pointers_[to]) // equal if one side is imported
      std::memmove(pointers_[to], pointers_[from], bytes);
    return Status::ok();
  }
  HostBlock bounce;
  void *host = pointers_[from] ? pointers_[from] : pointers_[to];
  if (!host) {
    StatusOr<HostBlock> block = allocateHostBlock(bytes);
    if (!block.isOk())
      return block.status();
    bounce = std::move(*block);
    host = bounce.get();
  }
  Status status = Status::ok();
  if (!pointers_[from])
    status = loaded_.device->download(*deviceBuffers_[from], host, bytes);
  if (status.isOk() && !pointers_[to])
    status = loaded_.device->upload(*deviceBuffers_[to], host, bytes);
  return status.isOk() ? status : annotate(nameStep(step), failure_->note(std::move(status)));
}

} // namespace inlay::rt

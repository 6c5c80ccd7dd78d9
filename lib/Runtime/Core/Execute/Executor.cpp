// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program::load and the program that it creates. The program has a pool of execution contexts; each call takes one.

#include "Executor.h"
#include "Arguments.h"
#include "Runtime/Core/Memory/ResultMemory.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

StatusOr<std::unique_ptr<Executor>> Executor::load(ProgramState &loaded, Failure &failure) {
  INLAY_RETURN_IF_ERROR(loadResources(loaded, failure));
  loaded.schedule = makeSchedule(*loaded.plan, loaded.device && loaded.device->unifiedMemory());
  return std::unique_ptr<Executor>(new Executor(std::move(loaded)));
}

Status Executor::wait() {
  return guard([&] {
    Failure failure;
    return wait(failure);
  });
}

Status Executor::wait(Failure &failure) {
  for (const Step &step : loaded_.plan->steps) {
    if (step.kind != StepKind::LaunchEngine)
      continue;
    if (Status status = loaded_.engines[step.callee]->wait(); !status.isOk())
      return failure.note({status.code(), fmt::format("segment '{}': {}", step.name, status.message())}, {step.callee});
  }
  return Status::ok();
}

StatusOr<std::vector<std::vector<int64_t>>> Executor::outputDims(const InputDims &inputs) const {
  return guard([&]() -> StatusOr<std::vector<std::vector<int64_t>>> {
    INLAY_RETURN_IF_ERROR(checkInputDims(*loaded_.plan, inputs));
    return evaluateOutputDims(*loaded_.plan, inputs);
  });
}

StatusOr<MemoryUse> Executor::memory(const InputDims &inputs) const {
  return guard([&]() -> StatusOr<MemoryUse> {
    INLAY_RETURN_IF_ERROR(checkInputDims(*loaded_.plan, inputs));
    Failure failure;
    StatusOr<std::unique_ptr<PlanInstance>> instance = PlanInstance::create(loaded_, inputs, failure);
    if (!instance.isOk())
      return instance.status();
    return (*instance)->measureMemory();
  });
}

StatusOr<std::unique_ptr<ExecutionContext>> Executor::acquire(const std::vector<TensorView> &inputs,
                                                              const std::vector<TensorView> &outputs,
                                                              bool importResults, StateMemory *states,
                                                              Failure &failure) {
  InputDims dims;
  INLAY_RETURN_IF_ERROR(checkCall(*loaded_.plan, inputs, outputs, dims));
  if (loaded_.device)
    INLAY_RETURN_IF_ERROR(loaded_.device->checkProcess());
  if (states)
    states->bindTo(idle_);
  std::unique_ptr<ExecutionContext> context = idle_->take(dims, states);
  if (!context)
    context = std::make_unique<ExecutionContext>(loaded_);
  Status status = guard([&] { return context->prepare(dims, states, failure); });
  if (status.code() == StatusCode::ResourceExhausted) {
    // This call is worth more than the memory of idle contexts and other dims.
    idle_->clear();
    context = nullptr;
    failure = {};
    context = std::make_unique<ExecutionContext>(loaded_);
    status = context->prepare(dims, states, failure);
  }
  if (!status.isOk()) {
    idle_->give(std::move(context));
    return status;
  }
  context->instance().bind(inputs, outputs, importResults, failure);
  return context;
}

/// Returns an error in a child of a fork that interrupted a replacement of constants.
Status Executor::checkConstants() const {
  if (isReplacing_)
    return {StatusCode::Unavailable, "the program can't be used in this process, because the process was forked while "
                                     "the program's constants were replaced: load the program again"};
  return Status::ok();
}

/// Replaces a constant in device memory. Must be called before `hostConstants` is updated.
Status Executor::replaceOnDevice(uint32_t number, const Constant &constant) {
  std::shared_ptr<DeviceBuffer> &storage = loaded_.constants[number];
  if (!storage)
    return Status::ok();
  if (const Constant &planned = loaded_.plan->constants[number]; !planned.order.empty()) {
    Constant ordered = planned;
    ordered.replaceBytes(constant);
    return fillInOrder(*loaded_.device, *storage, ordered);
  }
  const void *old = loaded_.hostConstants[number].data;
  if (storage->hostPointer() != old) // the device has a copy
    return loaded_.device->upload(*storage, constant.data, constant.size);
  if (constant.data == old)
    return Status::ok();
  StatusOr<std::shared_ptr<DeviceBuffer>> placed = placeConstant(*loaded_.device, constant);
  if (!placed.isOk())
    return placed.status();
  storage = std::move(*placed);
  return Status::ok();
}

Status checkReplacements(const Plan &plan, const Executor::Replacements &replacements) {
  const std::vector<Constant> &planned = plan.constants;
  for (const auto &[number, constant] : replacements) {
    if (number >= planned.size())
      return {StatusCode::InvalidArgument, fmt::format("constant {} is out of range of {}", number, planned.size())};
    if (!constant.data || constant.size != planned[number].size)
      return {StatusCode::InvalidArgument,
              fmt::format("constant {} ('{}'): expected {} bytes, but got {}", number, planned[number].key,
                          planned[number].size, constant.data ? constant.size : 0)};
  }
  return Status::ok();
}

Status checkNotInCall(const CallLock &running) {
  if (running.isSharedByThisThread())
    return {StatusCode::InvalidArgument, "constants can't be replaced inside of a call of the same program: replace "
                                         "them after the call"};
  return Status::ok();
}

Status Executor::replaceConstants(const Replacements &replacements) {
  return guard([&] {
    Failure failure;
    return replaceConstants(replacements, failure);
  });
}

Status Executor::replaceConstants(const Replacements &replacements, Failure &failure) {
  INLAY_RETURN_IF_ERROR(checkReplacements(*loaded_.plan, replacements));
  INLAY_RETURN_IF_ERROR(checkNotInCall(running_));
  CallLock::Exclusive exclusive(running_);
  INLAY_RETURN_IF_ERROR(checkConstants());
  idle_->clear(); // they point to the constants that are replaced
  for (const std::shared_ptr<HostKernels> &kernels : loaded_.hostKernels)
    if (kernels)
      kernels->forgetConstants();
  std::vector<Constant> constants = loaded_.hostConstants;
  Status status;
  for (const auto &[number, constant] : replacements) {
    status = replaceOnDevice(number, constant);
    if (!status.isOk()) {
      status = failure.note(
          {status.code(), fmt::format("constant '{}': {}", loaded_.plan->constants[number].key, status.message())});
      break;
    }
    constants[number].replaceBytes(constant);
  }
  isReplacing_ = true;
  loaded_.hostConstants.swap(constants);
  isReplacing_ = false;
  return status;
}

StatusOr<std::shared_ptr<Session>> Executor::makeSession() {
  return guard([&]() -> StatusOr<std::shared_ptr<Session>> {
    return std::shared_ptr<Session>(std::make_shared<StateMemory>(identity_, loaded_.plan));
  });
}

Status Executor::call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, Session *session) {
  return guard([&]() -> Status {
    StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *loaded_.plan);
    if (!use.isOk())
      return use.status();
    Failure failure;
    return call(inputs, outputs, use->states(), failure);
  });
}

Status Executor::call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                      StateMemory *states, Failure &failure) {
  return run(inputs, outputs, /*importResults=*/false, states, failure);
}

StatusOr<std::vector<TensorView>> Executor::callForResults(const std::vector<TensorView> &inputs, Session *session) {
  return guard([&]() -> StatusOr<std::vector<TensorView>> {
    StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *loaded_.plan);
    if (!use.isOk())
      return use.status();
    Failure failure;
    return callForResults(inputs, use->states(), failure);
  });
}

/// Each attempt allocates new results, because a hanging device may still write those of the last attempt.
StatusOr<std::vector<TensorView>> Executor::callForResults(const std::vector<TensorView> &inputs, StateMemory *states,
                                                           Failure &failure) {
  InputDims dims;
  for (const TensorView &input : inputs)
    dims.push_back(input.dims);
  StatusOr<std::vector<TensorView>> results = makeResults(*this, dims);
  if (!results.isOk())
    return results.status();
  if (Status status = run(inputs, *results, /*importResults=*/true, states, failure); !status.isOk())
    return status;
  return results;
}

Status Executor::run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, bool importResults,
                     StateMemory *states, Failure &failure) {
  CallLock::Shared running(running_);
  INLAY_RETURN_IF_ERROR(checkConstants());
  StatusOr<std::unique_ptr<ExecutionContext>> context = acquire(inputs, outputs, importResults, states, failure);
  if (!context.isOk())
    return context.status();
  // A context that failed isn't reused, because the state of its commands on the device is unknown.
  INLAY_RETURN_IF_ERROR((*context)->instance().run(loaded_.schedule.actions));
  idle_->give(std::move(*context));
  if (states)
    states->endCall();
  return Status::ok();
}

/// Returns the times of the kernels of a step, with names from the plan.
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
                                                     const std::vector<TensorView> &outputs, Trace *trace,
                                                     Session *session) {
  return guard([&]() -> StatusOr<std::vector<StepProfile>> {
    StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *loaded_.plan);
    if (!use.isOk())
      return use.status();
    Failure failure;
    return profile(inputs, outputs, trace, use->states(), failure);
  });
}

StatusOr<std::vector<StepProfile>> Executor::profile(const std::vector<TensorView> &inputs,
                                                     const std::vector<TensorView> &outputs, Trace *trace,
                                                     StateMemory *states, Failure &failure) {
  CallLock::Shared running(running_);
  INLAY_RETURN_IF_ERROR(checkConstants());
  StatusOr<std::unique_ptr<ExecutionContext>> context =
      acquire(inputs, outputs, /*importResults=*/false, states, failure);
  if (!context.isOk())
    return context.status();
  const std::vector<Step> &steps = loaded_.plan->steps;
  std::vector<StepTime> times(steps.size());
  {
    TraceSpan span(trace, "call", loaded_.plan->name);
    // Steps run in the order of the schedule, not of the plan's list: temporaries share memory by that order.
    INLAY_RETURN_IF_ERROR((*context)->instance().run(loaded_.schedule.actions, &times));
  }
  std::vector<StepProfile> profiles;
  profiles.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i)
    profiles.push_back({steps[i].name, steps[i].kind, times[i].nanoseconds, steps[i].segment, steps[i].calls,
                        times[i].runs, describeKernels(*loaded_.plan, steps[i], times[i])});
  idle_->give(std::move(*context));
  if (states)
    states->endCall();
  return profiles;
}

StatusOr<std::vector<TensorView>> makeResults(const Program &program, const InputDims &inputs) {
  return guard([&]() -> StatusOr<std::vector<TensorView>> {
    StatusOr<std::vector<std::vector<int64_t>>> dims = program.outputDims(inputs);
    if (!dims.isOk())
      return dims.status();
    const Plan &plan = program.plan();
    std::vector<TensorView> results;
    for (size_t i = 0; i < dims->size(); ++i) {
      const Buffer &buffer = plan.buffers[plan.outputs[i]];
      StatusOr<std::shared_ptr<void>> memory = allocateResult(*byteSize(buffer.type.element, (*dims)[i]));
      if (!memory.isOk())
        return Status(memory.status().code(), fmt::format("result '{}': {}", buffer.name, memory.status().message()));
      results.push_back({memory->get(), buffer.type.element, std::move((*dims)[i]), *memory});
    }
    return results;
  });
}

StatusOr<std::unique_ptr<Program>> Program::load(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                 std::shared_ptr<HostSymbolResolver> host, CallbackHandler callbacks,
                                                 Runners runners, std::shared_ptr<HostKernelLoader> kernels) {
  return guard([&]() -> StatusOr<std::unique_ptr<Program>> {
    ProgramState loaded;
    loaded.plan = std::move(plan);
    loaded.device = std::move(device);
    loaded.host = std::move(host);
    loaded.callbacks = std::move(callbacks);
    loaded.runners = std::move(runners);
    loaded.kernelLoader = std::move(kernels);
    Failure failure;
    StatusOr<std::unique_ptr<Executor>> executor = Executor::load(loaded, failure);
    if (!executor.isOk())
      return executor.status();
    return std::unique_ptr<Program>(std::move(*executor));
  });
}

} // namespace inlay::rt

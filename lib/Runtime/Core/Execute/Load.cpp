// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the resources that a plan needs: host functions, runners, pipelines, and constants on the device.

#include "Executor.h"
#include "Runtime/Core/Plan/ConstantOrder.h"
#include "SerialKernels.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <fmt/format.h>

namespace inlay::rt {

static Status loadForeign(ProgramState &loaded, uint32_t number, const std::string &where) {
  const ForeignEngine &foreign = loaded.plan->foreignEngines[number];
  auto runner = loaded.runners.find(foreign.runner);
  if (runner == loaded.runners.end() || !runner->second)
    return {StatusCode::NotFound,
            fmt::format("{}: the plan needs the runner '{}', but no runner has that name", where, foreign.runner)};
  StatusOr<std::shared_ptr<LoadedForeignEngine>> engine = runner->second->load(foreign);
  if (!engine.isOk())
    return {engine.status().code(),
            fmt::format("{}: runner '{}': {}", where, foreign.runner, engine.status().message())};
  if (!*engine)
    return {StatusCode::Internal, fmt::format("{}: runner '{}' gave no engine", where, foreign.runner)};
  loaded.foreignEngines[number] = std::move(*engine);
  return Status::ok();
}

static Status loadKernels(ProgramState &loaded, uint32_t number, const std::string &where) {
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

static Status resolveStep(ProgramState &loaded, const Step &step, Failure &failure) {
  std::string where = fmt::format("segment '{}'", step.name);
  if (step.kind == StepKind::Callback && !loaded.callbacks)
    return {StatusCode::InvalidArgument,
            fmt::format("{}: the plan calls back into a framework, but there is no handler", where)};
  if (step.kind == StepKind::LaunchEngine && !loaded.engines[step.callee]) {
    StatusOr<std::shared_ptr<DeviceEngine>> engine = loaded.device->load(loaded.plan->engines[step.callee]);
    if (!engine.isOk())
      return failure.note({engine.status().code(), fmt::format("{}: {}", where, engine.status().message())},
                          {step.callee});
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

static Status resolveSteps(ProgramState &loaded, Failure &failure) {
  loaded.engines.resize(loaded.plan->engines.size());
  loaded.foreignEngines.resize(loaded.plan->foreignEngines.size());
  loaded.hostEntries.resize(loaded.plan->hostCode.functions.size());
  loaded.hostKernels.resize(loaded.plan->hostCode.functions.size());
  for (const Step &step : loaded.plan->steps)
    INLAY_RETURN_IF_ERROR(resolveStep(loaded, step, failure));
  return Status::ok();
}

Status fillInOrder(Device &device, DeviceBuffer &storage, const Constant &constant) {
  return device.fill(storage, constant.size, [constant](void *to) { putInOrder(constant, to); });
}

StatusOr<std::shared_ptr<DeviceBuffer>> placeConstant(Device &device, const Constant &constant) {
  constexpr size_t kMinImportedBytes = size_t(64) << 10; // importing fewer bytes costs more than copying them
  bool isOrdered = !constant.order.empty();
  if (constant.size >= kMinImportedBytes && !isOrdered)
    if (std::shared_ptr<DeviceBuffer> imported = device.importHost(constant.data, constant.size, constant.owner))
      return imported;
  StatusOr<std::shared_ptr<DeviceBuffer>> storage = device.allocate(constant.size);
  if (!storage.isOk())
    return storage;
  if (isOrdered)
    INLAY_RETURN_IF_ERROR(fillInOrder(device, **storage, constant));
  else
    INLAY_RETURN_IF_ERROR(device.upload(**storage, constant.data, constant.size));
  return storage;
}

static Status placeConstants(ProgramState &loaded, Failure &failure) {
  loaded.constants.resize(loaded.plan->constants.size());
  for (const Buffer &buffer : loaded.plan->buffers) {
    if (buffer.kind != BufferKind::Constant || buffer.space != MemorySpace::Device || loaded.constants[buffer.index])
      continue;
    StatusOr<std::shared_ptr<DeviceBuffer>> storage = placeConstant(*loaded.device, loaded.hostConstants[buffer.index]);
    if (!storage.isOk())
      return failure.note(
          {storage.status().code(), fmt::format("constant '{}': {}", buffer.name, storage.status().message())});
    loaded.constants[buffer.index] = std::move(*storage);
  }
  return Status::ok();
}

/// Checks that there is a device if the plan uses one.
static Status checkDevice(const ProgramState &loaded) {
  if (loaded.device)
    return Status::ok();
  for (const Buffer &buffer : loaded.plan->buffers)
    if (buffer.space == MemorySpace::Device)
      return {StatusCode::InvalidArgument,
              fmt::format("buffer '{}' is in device memory, but there is no device", buffer.name)};
  for (const Step &step : loaded.plan->steps)
    if (step.kind == StepKind::LaunchEngine)
      return {StatusCode::InvalidArgument, fmt::format("segment '{}' needs a device, but there is none", step.name)};
  return Status::ok();
}

Status loadResources(ProgramState &loaded, Failure &failure) {
  if (!loaded.plan)
    return {StatusCode::InvalidArgument, "expected a plan, but got null"};
  INLAY_RETURN_IF_ERROR(checkPlan(*loaded.plan));
  INLAY_RETURN_IF_ERROR(checkDevice(loaded));
  if (loaded.hostConstants.empty())
    loaded.hostConstants = loaded.plan->constants;
  INLAY_RETURN_IF_ERROR(resolveSteps(loaded, failure));
  return placeConstants(loaded, failure);
}

} // namespace inlay::rt

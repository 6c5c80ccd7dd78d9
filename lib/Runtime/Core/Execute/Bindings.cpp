// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds a plan instance to memory: records commands, and uses the tensors of a call and the states of a session.
// PlanInstance.cpp places the temporaries.

#include "PlanInstance.h"

#include <algorithm>

namespace inlay::rt {

std::vector<std::shared_ptr<DeviceBuffer>> PlanInstance::argumentsOf(const Step &step) const {
  std::vector<std::shared_ptr<DeviceBuffer>> arguments;
  arguments.reserve(step.buffers.size());
  for (uint32_t buffer : step.buffers)
    arguments.push_back(deviceBuffers_[buffer]);
  return arguments;
}

Status PlanInstance::record(const Storage &storage, Failure &failure) {
  INLAY_RETURN_IF_ERROR(waitBeforeEffects(failure));
  const Plan &plan = *loaded_.plan;
  commands_.resize(plan.steps.size());
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step &step = plan.steps[i];
    if (step.kind != StepKind::LaunchEngine)
      continue;
    StatusOr<std::unique_ptr<DeviceCommand>> command =
        loaded_.device->record(*loaded_.engines[step.callee], argumentsOf(step), inputs_, storage.scratch());
    if (!command.isOk())
      return annotate(nameStep(step), failure.note(command.status(), {step.callee}));
    commands_[i] = std::move(*command);
  }
  stale_.clear();
  return Status::ok();
}

std::vector<size_t> PlanInstance::stateBytes(MemorySpace space) const {
  std::vector<size_t> bytes;
  for (uint32_t number : loaded_.plan->states)
    if (loaded_.plan->buffers[number].space == space)
      bytes.push_back(bytes_[number]);
  return bytes;
}

Status PlanInstance::checkStates(const StateMemory &session) const {
  for (uint32_t i = 0; i < loaded_.plan->states.size(); ++i)
    INLAY_RETURN_IF_ERROR(session.checkPlaced(i, dims_[loaded_.plan->states[i]]));
  return Status::ok();
}

Status PlanInstance::bindStates(StateMemory &session, Failure &failure) {
  session_ = &session;
  for (uint32_t i = 0; i < loaded_.plan->states.size(); ++i) {
    uint32_t number = loaded_.plan->states[i];
    const Buffer &buffer = loaded_.plan->buffers[number];
    bool ofDevice = false;
    if (Status status = session.place(i, buffer, dims_[number], loaded_.device, ofDevice); !status.isOk())
      return ofDevice ? failure.note(std::move(status)) : status;
    if (buffer.space == MemorySpace::Host) {
      pointers_[number] = session.host(i);
    } else if (deviceBuffers_[number] != session.onDevice(i)) {
      deviceBuffers_[number] = defaultBuffers_[number] = session.onDevice(i);
      pointers_[number] = deviceBuffers_[number]->hostPointer();
      const std::vector<uint32_t> &launches = loaded_.schedule.stateLaunches[i];
      stale_.insert(stale_.end(), launches.begin(), launches.end());
    }
  }
  binding_ = StateBinding(session); // at the end: placing a state may replace its memory
  return Status::ok();
}

void PlanInstance::bind(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                        bool importResults, Failure &failure) {
  failure_ = &failure;
  for (size_t i = 0; i < inputs.size(); ++i)
    pointers_[loaded_.plan->inputs[i]] = inputs[i].data;
  for (size_t i = 0; i < outputs.size(); ++i)
    pointers_[loaded_.plan->outputs[i]] = outputs[i].data;
  for (const ImportCandidate &candidate : loaded_.schedule.importCandidates)
    if ((!candidate.isResult || importResults) && isWorthImporting(candidate)) {
      uint32_t index = loaded_.plan->buffers[candidate.buffer].index;
      importMemory(candidate, candidate.isResult ? outputs[index] : inputs[index]);
    }
  rebind();
}

/// Returns true if the import saves time. Recording commands over other memory takes as long as copying about 8 KiB for
/// each of their dispatches.
bool PlanInstance::isWorthImporting(const ImportCandidate &candidate) const {
  constexpr size_t kMinBytes = size_t(256) << 10, kBytesPerDispatch = size_t(8) << 10;
  size_t dispatches = 0;
  for (uint32_t launch : candidate.launches)
    dispatches += loaded_.plan->engines[loaded_.plan->steps[launch].callee].dispatches.size();
  return bytes_[candidate.buffer] >= std::max(kMinBytes, dispatches * kBytesPerDispatch);
}

/// Replaces temporaries by the caller's memory if the device can use it.
void PlanInstance::importMemory(const ImportCandidate &candidate, const TensorView &view) {
  if (!view.owner)
    return;
  std::shared_ptr<DeviceBuffer> buffer = loaded_.device->importHost(view.data, bytes_[candidate.buffer], view.owner);
  if (!buffer)
    return;
  for (uint32_t number : candidate.buffers) {
    deviceBuffers_[number] = buffer;
    pointers_[number] = buffer->hostPointer();
  }
  imported_.push_back(&candidate);
}

/// Rebinds the launches that use imported memory or other states to the current buffers.
void PlanInstance::rebind() {
  std::vector<uint32_t> launches;
  launches.swap(stale_);
  for (const ImportCandidate *candidate : imported_)
    launches.insert(launches.end(), candidate->launches.begin(), candidate->launches.end());
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  for (uint32_t launch : launches)
    loaded_.device->rebind(*commands_[launch], argumentsOf(loaded_.plan->steps[launch]));
}

void PlanInstance::releaseImports() {
  if (imported_.empty())
    return;
  for (const ImportCandidate *candidate : imported_)
    for (uint32_t number : candidate->buffers) {
      deviceBuffers_[number] = defaultBuffers_[number];
      pointers_[number] = defaultBuffers_[number]->hostPointer();
    }
  rebind();
  imported_.clear();
}

} // namespace inlay::rt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds or makes the plan instance for the input dims of a call. PlanInstance.cpp runs it, and Executor.cpp lends
// contexts to calls.

#include "ExecutionContext.h"

#include "inlay/Runtime/Core/Budget.h"

#include <algorithm>

namespace inlay::rt {

static auto findDims(const std::vector<std::unique_ptr<PlanInstance>> &instances, const InputDims &dims) {
  return std::find_if(instances.begin(), instances.end(),
                      [&](const auto &instance) { return instance->inputDims() == dims; });
}

/// Returns an error if memory of these sizes exceeds a limit.
static Status checkLimit(const char *what, const std::vector<size_t> &sizes, Budget &budget) {
  for (size_t size : sizes)
    INLAY_RETURN_IF_ERROR(budget.take(what, size));
  return Status::ok();
}

/// Checks the slots of calls and the states of a session.
static Status checkLimits(const SlotSizes &sizes, const PlanInstance &instance, const TemporaryLimits &limits) {
  Budget host(limits.host), device(limits.device);
  for (auto [bytes, budget] : {std::pair(instance.stateBytes(MemorySpace::Host), &host),
                               std::pair(instance.stateBytes(MemorySpace::Device), &device)})
    INLAY_RETURN_IF_ERROR(checkLimit("bytes of a session's states", bytes, *budget));
  INLAY_RETURN_IF_ERROR(checkLimit("bytes of a call's temporaries", sizes.host, host));
  INLAY_RETURN_IF_ERROR(checkLimit("bytes of a call's temporaries on the device", sizes.device, device));
  return checkLimit("bytes of a call's scratch memory on the device", sizes.scratch, device);
}

bool ExecutionContext::knows(const InputDims &dims) const { return findDims(instances_, dims) != instances_.end(); }

bool ExecutionContext::isBoundTo(const InputDims &dims, const StateMemory &session) const {
  auto found = findDims(instances_, dims);
  return found != instances_.end() && (*found)->binding() == StateBinding(session);
}

std::unique_ptr<PlanInstance> ExecutionContext::takeStale() {
  auto found = std::find_if(instances_.begin(), instances_.end(),
                            [](const auto &instance) { return instance->binding().isStale(); });
  if (found == instances_.end())
    return nullptr;
  std::unique_ptr<PlanInstance> stale = std::move(*found);
  instances_.erase(found);
  return stale;
}

/// Binds the current instance to a session, or drops it.
Status ExecutionContext::bindStates(StateMemory &session, Failure &failure) {
  INLAY_RETURN_IF_ERROR(instance().checkStates(session));
  std::unique_ptr<PlanInstance> bound = std::move(instances_.back());
  instances_.pop_back();
  INLAY_RETURN_IF_ERROR(bound->bindStates(session, failure));
  instances_.push_back(std::move(bound)); // doesn't allocate
  return Status::ok();
}

Status ExecutionContext::prepare(const InputDims &dims, StateMemory *session, Failure &failure) {
  if (auto found = findDims(instances_, dims); found != instances_.end()) {
    auto position = instances_.begin() + (found - instances_.begin());
    std::rotate(position, position + 1, instances_.end());
    return session ? bindStates(*session, failure) : Status::ok();
  }
  StatusOr<std::unique_ptr<PlanInstance>> made = PlanInstance::create(loaded_, dims, failure);
  if (!made.isOk())
    return made.status();
  if (session) // before any state gets memory
    INLAY_RETURN_IF_ERROR((*made)->checkStates(*session));
  if (session || !storage_.holds((*made)->slotSizes()))
    INLAY_RETURN_IF_ERROR(checkLimits((*made)->slotSizes(), **made, loaded_.limits));
  if (!storage_.holds((*made)->slotSizes())) {
    instances_.clear(); // they point to the storage that is replaced
    // Slots that other dims needed may exceed the limits together with the new ones.
    if (!checkLimits(storage_.grownTo((*made)->slotSizes()), **made, loaded_.limits).isOk())
      storage_ = {};
    INLAY_RETURN_IF_ERROR(storage_.growHost((*made)->slotSizes()));
    INLAY_RETURN_IF_ERROR(failure.note(storage_.growDevice((*made)->slotSizes(), loaded_.device.get())));
  }
  (*made)->resolvePointers(storage_);
  if (session)
    INLAY_RETURN_IF_ERROR((*made)->bindStates(*session, failure));
  INLAY_RETURN_IF_ERROR((*made)->record(storage_, failure));
  if (instances_.size() == maxInstances)
    instances_.erase(instances_.begin());
  instances_.push_back(std::move(*made));
  return Status::ok();
}

} // namespace inlay::rt

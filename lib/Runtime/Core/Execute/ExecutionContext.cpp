// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds or makes the plan instance for the input dims of a call. PlanInstance.cpp runs it, and Executor.cpp lends
// contexts to calls.

#include "ExecutionContext.h"

#include <algorithm>

namespace inlay::rt {

static auto findDims(const std::vector<std::unique_ptr<PlanInstance>> &instances, const InputDims &dims) {
  return std::find_if(instances.begin(), instances.end(),
                      [&](const auto &instance) { return instance->inputDims() == dims; });
}

bool ExecutionContext::knows(const InputDims &dims) const { return findDims(instances_, dims) != instances_.end(); }

Status ExecutionContext::prepare(const InputDims &dims, Failure &failure) {
  if (auto found = findDims(instances_, dims); found != instances_.end()) {
    auto position = instances_.begin() + (found - instances_.begin());
    std::rotate(position, position + 1, instances_.end());
    return Status::ok();
  }
  StatusOr<std::unique_ptr<PlanInstance>> made = PlanInstance::create(loaded_, dims, failure);
  if (!made.isOk())
    return made.status();
  if (!storage_.holds((*made)->slotSizes())) {
    instances_.clear(); // they point to the storage that is replaced
    INLAY_RETURN_IF_ERROR(storage_.growHost((*made)->slotSizes()));
    INLAY_RETURN_IF_ERROR(failure.note(storage_.growDevice((*made)->slotSizes(), loaded_.device.get())));
  }
  INLAY_RETURN_IF_ERROR((*made)->record(storage_, failure));
  if (instances_.size() == maxInstances)
    instances_.erase(instances_.begin());
  instances_.push_back(std::move(*made));
  return Status::ok();
}

} // namespace inlay::rt

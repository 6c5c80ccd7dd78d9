// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the memory that a plan instance needs, by kind. Runtime/Report/MemoryReport.cpp formats the figures.

#include "inlay/Runtime/Core/MemoryUse.h"
#include "PlanInstance.h"

#include <fmt/format.h>

namespace inlay::rt {

/// Finds the working memory of host functions and adds its size without sharing to `unshared`.
static Status findHostScratch(const Plan &plan, const InputDims &inputs, std::vector<bool> &isScratch,
                              uint64_t &unshared, const std::vector<size_t> &bytes) {
  isScratch.assign(plan.buffers.size(), false);
  for (const Step &step : plan.steps) {
    if (step.kind != StepKind::CallHost)
      continue;
    const HostFunction &function = plan.hostCode.functions[step.callee];
    uint64_t sum = 0;
    for (size_t i = step.buffers.size() - function.scratch.size(); i < step.buffers.size(); ++i) {
      isScratch[step.buffers[i]] = true;
      sum += bytes[step.buffers[i]];
    }
    for (const Expr &size : function.unsharedScratch) { // larger than the sum, if it is known
      StatusOr<int64_t> value = size.evaluate(inputs);
      if (!value.isOk())
        return {value.status().code(),
                fmt::format("host function '{}': {}", function.symbol, value.status().message())};
      sum = std::max(sum, static_cast<uint64_t>(std::max<int64_t>(*value, 0)));
    }
    unshared += sum;
  }
  return Status::ok();
}

static Status addDeviceScratch(const Plan &plan, const InputDims &inputs, uint64_t &unshared) {
  for (const Step &step : plan.steps) {
    if (step.kind != StepKind::LaunchEngine)
      continue;
    const Engine &engine = plan.engines[step.callee];
    for (const Expr &size : engine.scratch) {
      StatusOr<int64_t> bytes = size.evaluate(inputs);
      if (!bytes.isOk())
        return {bytes.status().code(), fmt::format("engine '{}': {}", engine.name, bytes.status().message())};
      unshared += static_cast<uint64_t>(std::max<int64_t>(*bytes, 0));
    }
  }
  return Status::ok();
}

static void addConstants(const Plan &plan, MemoryUse &use) {
  std::vector<bool> seen[2];
  for (std::vector<bool> &flags : seen)
    flags.resize(plan.constants.size());
  for (const Buffer &buffer : plan.buffers) {
    bool onDevice = buffer.space == MemorySpace::Device;
    if (buffer.kind != BufferKind::Constant || seen[onDevice][buffer.index])
      continue;
    seen[onDevice][buffer.index] = true;
    (onDevice ? use.deviceConstants : use.hostConstants) += plan.constants[buffer.index].size;
  }
}

/// A slot counts as the kind of its largest buffer: scratch, or a value that passes between steps.
StatusOr<MemoryUse> PlanInstance::measureMemory() const {
  const Plan &plan = *loaded_.plan;
  const Schedule &schedule = loaded_.schedule;
  MemoryUse use;
  std::vector<bool> isScratch;
  Status status = findHostScratch(plan, inputs_, isScratch, use.hostScratch.unshared, bytes_);
  if (status.isOk())
    status = addDeviceScratch(plan, inputs_, use.deviceScratch.unshared);
  if (!status.isOk())
    return status;
  std::vector<bool> counted[2];
  counted[0].resize(slotSizes_.host.size());
  counted[1].resize(slotSizes_.device.size());
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    uint32_t storage = schedule.storage[i];
    if (plan.buffers[i].kind != BufferKind::Temporary || slots_[storage] < 0)
      continue;
    bool onDevice = schedule.onDevice[storage];
    SharedBytes &part = onDevice ? use.deviceTemporaries : isScratch[i] ? use.hostScratch : use.hostTemporaries;
    if (!isScratch[i])
      part.unshared += bytes_[i];
    size_t slot = slots_[storage], size = (onDevice ? slotSizes_.device : slotSizes_.host)[slot];
    if (bytes_[i] != size || counted[onDevice][slot])
      continue;
    counted[onDevice][slot] = true;
    part.peak += size;
  }
  for (size_t bytes : slotSizes_.scratch)
    use.deviceScratch.peak += bytes;
  addConstants(plan, use);
  for (uint32_t number : plan.states)
    (plan.buffers[number].space == MemorySpace::Device ? use.deviceStates : use.hostStates) += bytes_[number];
  return use;
}

} // namespace inlay::rt

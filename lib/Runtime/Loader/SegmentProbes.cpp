// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds probes to a plan: copies, host versions and comparisons around each launch.

#include "inlay/Runtime/Core/HostVersions.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Loader/SegmentCheck.h"

#include <algorithm>
#include <map>

namespace inlay::rt {

namespace {
class Prober {
public:
  explicit Prober(const Plan &plan) : plan_(plan), engineAccess_(plan) {
    result_.plan = plan;
    result_.plan.steps.clear();
    result_.firstProbe = static_cast<uint32_t>(plan.callbacks.size());
  }

  ProbedPlan run() {
    countWriters();
    for (const Step &step : plan_.steps) {
      firsts_.push_back(next());
      bool isLaunch = step.kind == StepKind::LaunchEngine;
      if (isLaunch && canProbe(step)) {
        probe(step);
        continue;
      }
      if (isLaunch)
        result_.unprobed.push_back(step.name);
      add(step);
    }
    firsts_.push_back(next());
    countBodies();
    return std::move(result_);
  }

private:
  uint32_t next() const { return static_cast<uint32_t>(result_.plan.steps.size()); }

  void countWriters() {
    writers_.assign(plan_.buffers.size(), 0);
    for (const StepAccesses &accesses : stepAccesses(plan_))
      for (auto [buffer, access] : accesses)
        writers_[buffer] += writes(access);
  }

  /// Returns true if a launch can be probed: it has a host version and gets no buffer twice that it writes. The host
  /// version may write such a buffer before it has read it under its other number.
  bool canProbe(const Step &launch) {
    return hasHostVersion(plan_, launch.callee) && !findWrittenTwice(launch.buffers, engineAccess_.of(launch.callee));
  }

  /// Adds a step of the original plan and renumbers the steps that it follows.
  void add(Step step) {
    for (uint32_t &after : step.after)
      after = places_[after];
    places_.push_back(next());
    result_.plan.steps.push_back(std::move(step));
  }

  void addProbeStep(StepKind kind, uint32_t callee, std::vector<uint32_t> buffers, const Step &launch) {
    Step step;
    step.kind = kind;
    step.callee = callee;
    step.buffers = std::move(buffers);
    step.name = launch.name;
    step.segment = launch.segment;
    result_.plan.steps.push_back(std::move(step));
  }

  uint32_t addBuffer(BufferKind kind, uint32_t index, TensorType type, std::string name) {
    result_.plan.buffers.push_back({kind, MemorySpace::Host, index, std::move(type), std::move(name)});
    return static_cast<uint32_t>(result_.plan.buffers.size() - 1);
  }

  /// Adds a host buffer for a buffer of the device.
  uint32_t twinOf(uint32_t number) {
    const Buffer &buffer = plan_.buffers[number];
    bool isConstant = buffer.kind == BufferKind::Constant;
    return addBuffer(isConstant ? BufferKind::Constant : BufferKind::Temporary, isConstant ? buffer.index : 0,
                     buffer.type, buffer.name);
  }

  void probe(const Step &launch) {
    const Engine &engine = plan_.engines[launch.callee];
    auto function = static_cast<uint32_t>(engine.hostVersion);
    const std::vector<Access> &access = engineAccess_.of(launch.callee);
    std::map<uint32_t, uint32_t> twins;
    std::vector<uint32_t> arguments;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      uint32_t buffer = launch.buffers[i];
      auto [twin, isNew] = twins.try_emplace(buffer, 0);
      if (isNew) {
        twin->second = twinOf(buffer);
        bool isState = plan_.buffers[buffer].kind == BufferKind::State; // an earlier call may have written it
        bool needsOld = access[i] != Access::Write || writers_[buffer] > 1 || isState;
        if (needsOld && plan_.buffers[buffer].kind != BufferKind::Constant)
          addProbeStep(StepKind::Copy, 0, {buffer, twin->second}, launch);
      }
      arguments.push_back(twin->second);
    }
    for (const Expr &bytes : plan_.hostCode.functions[function].scratch)
      arguments.push_back(addBuffer(BufferKind::Temporary, 0, {ElementType::I8, {bytes}}, "scratch"));
    add(launch);
    addProbeStep(StepKind::CallHost, function, std::move(arguments), launch);
    compare(launch, access, twins);
  }

  void compare(const Step &launch, const std::vector<Access> &access, const std::map<uint32_t, uint32_t> &twins) {
    std::vector<uint32_t> onDevice, onHost;
    std::vector<SegmentDifference> differences;
    for (size_t i = 0; i < access.size(); ++i) {
      uint32_t buffer = launch.buffers[i];
      if (!writes(access[i]))
        continue;
      onDevice.push_back(twinOf(buffer));
      onHost.push_back(twins.at(buffer));
      addProbeStep(StepKind::Copy, 0, {buffer, onDevice.back()}, launch);
      differences.push_back(
          {Difference(), launch.name, launch.segment, plan_.buffers[buffer].name, plan_.buffers[buffer].type.element});
    }
    Callback callback;
    callback.name = "comparison of " + launch.name;
    callback.inputs = static_cast<uint32_t>(2 * onDevice.size());
    onDevice.insert(onDevice.end(), onHost.begin(), onHost.end());
    addProbeStep(StepKind::Callback, static_cast<uint32_t>(result_.plan.callbacks.size()), std::move(onDevice), launch);
    result_.plan.callbacks.push_back(std::move(callback));
    result_.probes.push_back(std::move(differences));
  }

  /// Updates the sizes of bodies to the number of their new steps.
  void countBodies() {
    for (uint32_t number = 0; number < plan_.steps.size(); ++number) {
      uint32_t first = number + 1;
      for (uint32_t &count : result_.plan.steps[places_[number]].bodies) {
        uint32_t end = first + count;
        count = firsts_[end] - firsts_[first];
        first = end;
      }
    }
  }

  const Plan &plan_;
  EngineAccess engineAccess_;
  ProbedPlan result_;
  std::vector<uint32_t> writers_; ///< Per buffer: number of steps that write it.
  std::vector<uint32_t> places_;  ///< Per step of the original plan: its new number.
  std::vector<uint32_t> firsts_;  ///< Per step of the original plan: the first of its new steps; plus the total.
};
} // namespace

ProbedPlan probeSegments(const Plan &plan) { return Prober(plan).run(); }

} // namespace inlay::rt

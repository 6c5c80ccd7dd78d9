// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implementation of moveToHost. The remaining engines determine the memory of each buffer. Steps are added only around
// calls that share device buffers with them.

#include "inlay/Runtime/Core/HostVersions.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace inlay::rt {

bool hasHostVersion(const Plan &plan, uint32_t engine) { return plan.engines[engine].hostVersion >= 0; }

std::vector<uint32_t> launchedEngines(const Plan &plan) {
  std::set<uint32_t> engines;
  for (const Step &step : plan.steps)
    if (step.kind == StepKind::LaunchEngine)
      engines.insert(step.callee);
  return {engines.begin(), engines.end()};
}

namespace {

class Mover {
public:
  Mover(const Plan &plan, const std::vector<uint32_t> &engines)
      : plan_(plan), engineAccess_(plan), result_(plan), moves_(plan.engines.size()) {
    for (uint32_t engine : engines)
      moves_[engine] = true;
  }
  StatusOr<Plan> run();

private:
  /// The new steps of an old step: the step or the call that replaces it, and copies.
  struct Group {
    uint32_t call = 0;             ///< New number of the step or call.
    std::vector<uint32_t> results; ///< Copies back to the device.
  };

  bool isMoved(const Step &step) const { return step.kind == StepKind::LaunchEngine && moves_[step.callee]; }
  Status check();
  void placeBuffers();
  void countWriters();
  void addStep(uint32_t number);
  void addCall(uint32_t number);
  uint32_t addCopy(const Step &launch, uint32_t from, uint32_t to, std::vector<uint32_t> after);
  uint32_t twinOf(uint32_t buffer);
  uint32_t scratchOf(uint32_t function, uint32_t number);
  uint32_t addBuffer(BufferKind kind, uint32_t index, TensorType type, std::string name);
  std::vector<uint32_t> renumber(const std::vector<uint32_t> &after) const;
  void countBodies();

  const Plan &plan_;
  EngineAccess engineAccess_;
  Plan result_;
  std::vector<bool> moves_;            ///< Per engine: true if it moves to the host.
  std::vector<uint32_t> writers_;      ///< Per buffer: number of steps that write it.
  std::vector<Group> groups_;          ///< Per old step: its new steps.
  std::vector<uint32_t> firsts_;       ///< Per old step: the first of its new steps; plus the number of new steps.
  std::map<uint32_t, uint32_t> twins_; ///< Host copies of the device buffers that remaining engines use.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> scratch_;
};

} // namespace

Status Mover::check() {
  for (uint32_t engine = 0; engine < moves_.size(); ++engine)
    if (moves_[engine] && !hasHostVersion(plan_, engine))
      return {StatusCode::NotFound, fmt::format("engine '{}' has no host version", plan_.engines[engine].name)};
  for (const Step &step : plan_.steps) {
    if (!isMoved(step))
      continue;
    // The host code may write one argument before it has read the other.
    if (std::optional<uint32_t> buffer = findWrittenTwice(step.buffers, engineAccess_.of(step.callee)))
      return {StatusCode::InvalidArgument,
              fmt::format("segment '{}' can't run on the host: it writes '{}', which is passed to it twice", step.name,
                          plan_.buffers[*buffer].name)};
  }
  return Status::ok();
}

/// Moves all buffers to the host except those that remaining engines use.
void Mover::placeBuffers() {
  for (Buffer &buffer : result_.buffers)
    buffer.space = MemorySpace::Host;
  for (const Step &step : plan_.steps)
    if (step.kind == StepKind::LaunchEngine && !isMoved(step))
      for (uint32_t buffer : step.buffers)
        result_.buffers[buffer].space = MemorySpace::Device;
}

void Mover::countWriters() {
  writers_.assign(plan_.buffers.size(), 0);
  for (const StepAccesses &accesses : stepAccesses(plan_))
    for (auto [buffer, access] : accesses)
      writers_[buffer] += writes(access);
}

uint32_t Mover::addBuffer(BufferKind kind, uint32_t index, TensorType type, std::string name) {
  result_.buffers.push_back({kind, MemorySpace::Host, index, std::move(type), std::move(name)});
  return static_cast<uint32_t>(result_.buffers.size() - 1);
}

uint32_t Mover::twinOf(uint32_t buffer) {
  auto [found, isNew] = twins_.try_emplace(buffer, 0);
  const Buffer &original = plan_.buffers[buffer];
  if (isNew && original.kind == BufferKind::Constant) // its twin refers to the same constant
    found->second = addBuffer(BufferKind::Constant, original.index, original.type, original.name);
  else if (isNew)
    found->second = addBuffer(BufferKind::Temporary, 0, original.type, original.name);
  return found->second;
}

uint32_t Mover::scratchOf(uint32_t function, uint32_t number) {
  auto [found, isNew] = scratch_.try_emplace({function, number}, 0);
  const HostFunction &callee = plan_.hostCode.functions[function];
  if (isNew)
    found->second =
        addBuffer(BufferKind::Temporary, 0, {ElementType::I8, {callee.scratch[number]}}, "scratch of " + callee.symbol);
  return found->second;
}

/// Translates step numbers in `after` to new steps.
std::vector<uint32_t> Mover::renumber(const std::vector<uint32_t> &after) const {
  std::vector<uint32_t> result;
  for (uint32_t old : after) {
    result.push_back(groups_[old].call);
    result.insert(result.end(), groups_[old].results.begin(), groups_[old].results.end());
  }
  return result;
}

uint32_t Mover::addCopy(const Step &launch, uint32_t from, uint32_t to, std::vector<uint32_t> after) {
  Step copy;
  copy.buffers = {from, to};
  copy.after = std::move(after);
  copy.name = launch.name;
  copy.segment = launch.segment;
  result_.steps.push_back(std::move(copy));
  return static_cast<uint32_t>(result_.steps.size() - 1);
}

/// Adds the call of a host version. A device buffer is copied to the host first if another step may have written it,
/// even if the call only writes it: the call need not write all of it.
void Mover::addCall(uint32_t number) {
  const Step &launch = plan_.steps[number];
  const Engine &engine = plan_.engines[launch.callee];
  auto function = static_cast<uint32_t>(engine.hostVersion);
  const std::vector<Access> &access = engineAccess_.of(launch.callee);
  Step call = launch;
  call.kind = StepKind::CallHost;
  call.callee = function;
  call.after = renumber(launch.after);
  std::set<uint32_t> fetched;
  std::vector<std::pair<uint32_t, uint32_t>> returns;
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    uint32_t buffer = launch.buffers[i];
    if (result_.buffers[buffer].space == MemorySpace::Host)
      continue;
    call.buffers[i] = twinOf(buffer);
    bool isConstant = plan_.buffers[buffer].kind == BufferKind::Constant;
    bool isState = plan_.buffers[buffer].kind == BufferKind::State; // an earlier call may have written it
    bool needsOld = access[i] != Access::Write || writers_[buffer] > 1 || isState;
    if (!isConstant && needsOld && fetched.insert(buffer).second)
      call.after.push_back(addCopy(launch, buffer, call.buffers[i], renumber(launch.after)));
    if (writes(access[i]))
      returns.emplace_back(call.buffers[i], buffer);
  }
  for (uint32_t i = 0; i < plan_.hostCode.functions[function].scratch.size(); ++i)
    call.buffers.push_back(scratchOf(function, i));
  groups_[number].call = static_cast<uint32_t>(result_.steps.size());
  result_.steps.push_back(std::move(call));
  for (auto [from, to] : returns)
    groups_[number].results.push_back(addCopy(launch, from, to, {groups_[number].call}));
}

void Mover::addStep(uint32_t number) {
  firsts_.push_back(static_cast<uint32_t>(result_.steps.size()));
  if (isMoved(plan_.steps[number]))
    return addCall(number);
  groups_[number].call = firsts_.back();
  Step step = plan_.steps[number];
  step.after = renumber(step.after);
  result_.steps.push_back(std::move(step));
}

/// Updates the sizes of bodies to the number of their new steps.
void Mover::countBodies() {
  for (uint32_t number = 0; number < plan_.steps.size(); ++number) {
    uint32_t first = number + 1;
    for (uint32_t &count : result_.steps[groups_[number].call].bodies) {
      uint32_t end = first + count;
      count = firsts_[end] - firsts_[first];
      first = end;
    }
  }
}

StatusOr<Plan> Mover::run() {
  INLAY_RETURN_IF_ERROR(check());
  placeBuffers();
  countWriters();
  result_.steps.clear();
  groups_.resize(plan_.steps.size());
  for (uint32_t i = 0; i < plan_.steps.size(); ++i)
    addStep(i);
  firsts_.push_back(static_cast<uint32_t>(result_.steps.size()));
  countBodies();
  return std::move(result_);
}

StatusOr<Plan> moveToHost(const Plan &plan, const std::vector<uint32_t> &engines) { return Mover(plan, engines).run(); }

} // namespace inlay::rt

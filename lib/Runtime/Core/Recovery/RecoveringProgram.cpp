// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that continue without the device. `Failure::note` in Execute/PlanInstance.cpp decides which failures count.

#include "RecoveringProgram.h"
#include "Runtime/Core/Execute/Arguments.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/HostVersions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace inlay::rt {

RecoveringProgram::RecoveringProgram(ProgramState loaded, RecoveryOptions options)
    : plan_(loaded.plan), options_(std::move(options)), base_(std::move(loaded)),
      quarantine_(plan_->engines.size(), options_.firstBackoff, options_.longestBackoff) {}

RecoveringProgram::~RecoveringProgram() {
  if (getpid() != process_) { // the thread doesn't exist in a child of fork
    static_cast<void>(changed_.release());
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_);
    stops_ = true;
  }
  if (!hasThread_)
    return;
  changed_->notify_all();
  pthread_join(thread_, nullptr);
}

/// Renews the locks in a child of fork, where threads that held them don't exist. Must be called before they are taken.
/// Returns an error if such a thread was changing the program.
Status RecoveringProgram::renewAfterFork() const {
  fork_.renewAfterFork([this] {
    isInterrupted_ = isInterrupted_ || !state_.try_lock();
    new (&state_) std::mutex;
    new (&pointer_) std::mutex;
    new (changed_.get()) std::condition_variable; // the recovery thread doesn't exist either
  });
  if (isInterrupted_)
    return {StatusCode::Unavailable, "the program can't be used in this process, because the process was forked while "
                                     "the program was changed after a failure of the device or got other constants: "
                                     "load the program again"};
  return Status::ok();
}

RecoveringProgram::Version RecoveringProgram::current() const {
  std::lock_guard<std::mutex> lock(pointer_);
  return current_;
}

void RecoveringProgram::notify(const std::vector<RecoveryNotice> &notices) const {
  for (const RecoveryNotice &notice : notices) {
    if (options_.notify)
      options_.notify(notice);
    else if (notice.failure.isOk())
      std::fprintf(stderr, "inlay: %s\n", notice.action.c_str());
    else
      std::fprintf(stderr, "inlay: %s; %s\n", notice.failure.message().c_str(), notice.action.c_str());
  }
}

//===-- Versions ------------------------------------------------------------------------------------------------===//

std::vector<uint32_t> RecoveringProgram::heldEngines() const {
  std::vector<uint32_t> held;
  for (uint32_t engine : launched_)
    if (quarantine_.holds(engine))
      held.push_back(engine);
  return held;
}

/// Stores the resources that a version loaded, for use by other versions.
void RecoveringProgram::keep(const Resources &resources, bool usesDevice) {
  base_.hostEntries = resources.hostEntries;
  base_.hostKernels = resources.hostKernels;
  base_.foreignEngines = resources.foreignEngines;
  if (!usesDevice)
    return;
  base_.engines = resources.engines;
  base_.constants = resources.constants;
}

StatusOr<RecoveringProgram::Version> RecoveringProgram::build(const std::vector<uint32_t> &moved, Failure &failure) {
  ProgramState loaded = base_;
  bool usesDevice = moved.size() < launched_.size() || launched_.empty();
  if (!usesDevice) {
    loaded.device = nullptr;
    loaded.engines.clear();
    loaded.constants.clear();
  }
  if (!moved.empty()) {
    StatusOr<Plan> plan = moveToHost(*plan_, moved);
    if (!plan.isOk())
      return plan.status();
    loaded.plan = std::make_shared<Plan>(std::move(*plan));
  }
  StatusOr<std::unique_ptr<Executor>> made = Executor::load(loaded, failure);
  keep(made.isOk() ? (*made)->resources() : loaded, usesDevice);
  if (!made.isOk())
    return made.status();
  return Version(std::move(*made));
}

void RecoveringProgram::install(Version version) {
  {
    std::lock_guard<std::mutex> lock(pointer_);
    current_.swap(version);
  }
  garbage_.push_back(std::move(version));
}

/// Drops the resources of the lost device.
void RecoveringProgram::dropDevice() {
  garbage_.push_back(
      std::make_shared<Resources>(Resources{{}, {}, {}, std::move(base_.engines), {}, std::move(base_.constants)}));
  garbage_.push_back(std::move(base_.device));
  base_.engines.clear();
  base_.constants.clear();
  base_.device = nullptr;
}

Status RecoveringProgram::load() {
  std::vector<RecoveryNotice> notices;
  {
    std::lock_guard<std::mutex> lock(state_);
    if (!plan_)
      return {StatusCode::InvalidArgument, "expected a plan, but got null"};
    Failure failure;
    // Engine numbers can be trusted only after the plan was checked, which `build` does first.
    StatusOr<Version> version = build({}, failure);
    if (!version.isOk() && !failure.ofDevice)
      return version.status();
    launched_ = launchedEngines(*plan_);
    canMoveAll_ = !launched_.empty() && std::all_of(launched_.begin(), launched_.end(),
                                                    [&](uint32_t engine) { return hasHostVersion(*plan_, engine); });
    if (version.isOk())
      current_ = std::move(*version);
    else if (Status status = replaceVersion(version.status(), failure, notices); !status.isOk())
      return version.status();
  }
  notify(notices);
  return Status::ok();
}

//===-- Failures ------------------------------------------------------------------------------------------------===//

/// Drops engines whose pipelines couldn't be created, so that they are loaded again when they are due.
void RecoveringProgram::dropBroken() {
  for (std::shared_ptr<DeviceEngine> &engine : base_.engines)
    if (engine && !engine->state().isOk()) {
      garbage_.push_back(engine);
      engine = nullptr;
    }
}

/// Puts the failed engines or the device into quarantine. Returns false if the host can't replace them.
bool RecoveringProgram::quarantine(const Status &status, const Failure &failure) {
  dropBroken();
  Quarantine::Time now = Quarantine::Clock::now();
  bool isLost = status.code() == StatusCode::DeviceLost;
  std::vector<uint32_t> engines;
  for (uint32_t engine : failure.engines)
    if (hasHostVersion(*plan_, engine))
      engines.push_back(engine);
  if (isLost) {
    if (quarantine_.isDeviceLost()) // another call has reported the loss
      return canMoveAll_;
    for (uint32_t engine : engines)
      quarantine_.hold(engine, now);
    quarantine_.loseDevice(/*causedByEngine=*/!engines.empty(), now);
    dropDevice();
    return canMoveAll_;
  }
  bool isOfEngines = !failure.engines.empty();
  if (isOfEngines ? engines.size() < failure.engines.size() : !canMoveAll_)
    return false;
  for (uint32_t engine : isOfEngines ? engines : launched_)
    quarantine_.hold(engine, now);
  return true;
}

std::string RecoveringProgram::nameSegments(const std::vector<uint32_t> &engines) const {
  std::string names;
  std::map<uint32_t, const Step *> launches; // the first of each engine
  for (const Step &step : plan_->steps)
    if (step.kind == StepKind::LaunchEngine)
      launches.try_emplace(step.callee, &step);
  for (uint32_t engine : engines)
    if (auto launch = launches.find(engine); launch != launches.end())
      names += (names.empty() ? "" : ", ") + launch->second->name;
  return names;
}

/// Returns the reason why the host can't replace what failed.
std::string RecoveringProgram::nameUnmoved(const Failure &failure) const {
  for (const std::vector<uint32_t> &engines : {failure.engines, launched_})
    for (uint32_t engine : engines)
      if (!hasHostVersion(*plan_, engine))
        return fmt::format("segment '{}' has no host version (has it been compiled without recovery?)",
                           nameSegments({engine}));
  return "no segment could run on the host instead";
}

std::string RecoveringProgram::describeRetry() const {
  if (quarantine_.isDeviceLost() && !options_.reopenDevice)
    return "the device isn't used again";
  std::optional<Quarantine::Time> next = quarantine_.nextTry();
  if (!next)
    return "the device isn't used";
  double seconds = std::chrono::duration<double>(*next - Quarantine::Clock::now()).count();
  return fmt::format("the device is tried again in {:.{}f} s", std::max(seconds, 0.0), seconds < 1 ? 2 : 0);
}

/// Puts what failed into quarantine and installs a version without it.
Status RecoveringProgram::replaceVersion(const Status &status, const Failure &failure,
                                         std::vector<RecoveryNotice> &notices) {
  bool wasLost = quarantine_.isDeviceLost();
  bool canMove = quarantine(status, failure);
  if (quarantine_.isDeviceLost() ? bool(options_.reopenDevice) : canMove)
    startThread();
  if (!canMove)
    return {StatusCode::NotFound, nameUnmoved(failure)};
  std::vector<uint32_t> held = heldEngines();
  Failure again;
  StatusOr<Version> version = build(held, again);
  // The remaining engines may fail too. Each iteration puts more into quarantine.
  while (!version.isOk() && again.ofDevice && quarantine(version.status(), again) && heldEngines() != held) {
    held = heldEngines();
    again = {};
    version = build(held, again);
  }
  if (!version.isOk())
    return version.status();
  install(std::move(*version));
  if (!wasLost) {
    const char *who = held.size() == launched_.size() ? "all segments run" : held.size() == 1 ? "it runs" : "they run";
    notices.push_back(
        {nameSegments(failure.engines), status, fmt::format("{} on the host for now, and {}", who, describeRetry())});
  }
  return Status::ok();
}

RecoveringProgram::Version RecoveringProgram::recover(Version &&failed, const Status &status, Failure failure,
                                                      int tries, std::string &reason) {
  std::vector<RecoveryNotice> notices;
  Version next;
  {
    std::lock_guard<std::mutex> lock(state_);
    next = current();
    constexpr int kMaxTries = 2; // after more failures this call no longer uses the device
    bool movesAll = tries >= kMaxTries && canMoveAll_;
    if (movesAll)
      failure.engines.clear();
    bool isCurrent = next == failed;
    garbage_.push_back(std::move(failed)); // this call may hold the last reference
    if (isCurrent || movesAll) {
      Status replaced = replaceVersion(status, failure, notices);
      next = replaced.isOk() ? current() : nullptr;
      reason = replaced.message();
    }
    if (!hasThread_)
      garbage_.clear();
  }
  changed_->notify_all();
  notify(notices);
  return next;
}

/// Returns the clause that says why a call can't run again after this step.
static std::string describeEffect(const Plan &plan, const Step &step) {
  if (step.kind == StepKind::Callback)
    return fmt::format("callback '{}' had run and may have had effects", plan.callbacks[step.callee].name);
  if (step.kind == StepKind::RunForeign)
    return fmt::format("segment '{}' had run and may have had effects", step.name);
  return fmt::format("segment '{}' had begun to change the state of the session, which is now undefined", step.name);
}

template <typename Attempt>
Status RecoveringProgram::runRecovering(Attempt attempt) {
  return guard([&] { return tryVersions(attempt); });
}

template <typename Attempt>
Status RecoveringProgram::tryVersions(Attempt attempt) {
  CallLock::Shared running(running_);
  INLAY_RETURN_IF_ERROR(renewAfterFork());
  Version version = current();
  for (int tries = 0;; ++tries) {
    Failure failure;
    Status status = guard([&] { return attempt(*version, failure); });
    if (status.isOk() || !failure.ofDevice || static_cast<size_t>(tries) > launched_.size() + 1)
      return status;
    std::string effect = failure.effect ? describeEffect(version->plan(), *failure.effect) : "";
    std::string reason;
    Version next = recover(std::move(version), status, std::move(failure), tries, reason);
    if (!next)
      return {status.code(), fmt::format("{}; {}", status.message(), reason)};
    if (!effect.empty())
      return {status.code(), fmt::format("{}; the call isn't run again on the host, as {}", status.message(), effect)};
    version = std::move(next);
  }
}

template <typename Value, typename Attempt>
StatusOr<Value> RecoveringProgram::makeRecovering(Attempt attempt) {
  StatusOr<Value> made = Status::ok();
  Status status = runRecovering([&](Executor &version, Failure &failure) {
    made = attempt(version, failure);
    return made.status();
  });
  return status.isOk() ? std::move(made) : status;
}

//===-- The program ---------------------------------------------------------------------------------------------===//

StatusOr<std::vector<std::vector<int64_t>>> RecoveringProgram::outputDims(const InputDims &inputs) const {
  INLAY_RETURN_IF_ERROR(renewAfterFork());
  return current()->outputDims(inputs);
}

StatusOr<MemoryUse> RecoveringProgram::memory(const InputDims &inputs) const {
  INLAY_RETURN_IF_ERROR(renewAfterFork());
  return current()->memory(inputs);
}

Status RecoveringProgram::wait() {
  return runRecovering([](Executor &version, Failure &failure) { return version.wait(failure); });
}

StatusOr<std::shared_ptr<Session>> RecoveringProgram::makeSession() {
  return guard([&]() -> StatusOr<std::shared_ptr<Session>> {
    return std::shared_ptr<Session>(std::make_shared<StateMemory>(identity_, plan_));
  });
}

Status RecoveringProgram::call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                               Session *session) {
  StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *plan_);
  if (!use.isOk())
    return use.status();
  return runRecovering(
      [&](Executor &version, Failure &failure) { return version.call(inputs, outputs, use->states(), failure); });
}

StatusOr<std::vector<TensorView>> RecoveringProgram::callForResults(const std::vector<TensorView> &inputs,
                                                                    Session *session) {
  StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *plan_);
  if (!use.isOk())
    return use.status();
  return makeRecovering<std::vector<TensorView>>(
      [&](Executor &version, Failure &failure) { return version.callForResults(inputs, use->states(), failure); });
}

StatusOr<std::vector<StepProfile>> RecoveringProgram::profile(const std::vector<TensorView> &inputs,
                                                              const std::vector<TensorView> &outputs, Trace *trace,
                                                              Session *session) {
  StatusOr<StateMemory::Use> use = StateMemory::use(session, identity_, *plan_);
  if (!use.isOk())
    return use.status();
  return makeRecovering<std::vector<StepProfile>>([&](Executor &version, Failure &failure) {
    return version.profile(inputs, outputs, trace, use->states(), failure);
  });
}

Status RecoveringProgram::replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) {
  return guard([&] { return replaceAll(replacements); });
}

Status RecoveringProgram::replaceAll(const Executor::Replacements &replacements) {
  INLAY_RETURN_IF_ERROR(checkReplacements(*plan_, replacements));
  INLAY_RETURN_IF_ERROR(checkNotInCall(running_));
  std::vector<RecoveryNotice> notices;
  {
    CallLock::Exclusive exclusive(running_);
    INLAY_RETURN_IF_ERROR(renewAfterFork());
    std::lock_guard<std::mutex> lock(state_);
    for (const auto &[number, constant] : replacements)
      base_.hostConstants[number].replaceBytes(constant);
    Failure failure;
    Version version = current();
    Status status = version->replaceConstants(replacements, failure);
    if (status.isOk()) {
      const std::vector<std::shared_ptr<DeviceBuffer>> &placed = version->resources().constants;
      base_.constants = placed; // empty if the version has no device; then they are placed again later
      return status;
    }
    if (!failure.ofDevice)
      return status;
    base_.constants.clear(); // some may be old and some new
    failure.engines.clear();
    if (!replaceVersion(status, failure, notices).isOk())
      return status;
  }
  changed_->notify_all();
  notify(notices);
  return Status::ok();
}

void RecoveringProgram::stopWhen(StopCheck check) {
  if (!renewAfterFork().isOk()) // later calls fail
    return;
  std::lock_guard<std::mutex> lock(state_);
  base_.stopCheck = check;
  current()->stopWhen(std::move(check));
}

void RecoveringProgram::limitTemporaries(TemporaryLimits limits) {
  if (!renewAfterFork().isOk())
    return;
  std::lock_guard<std::mutex> lock(state_);
  base_.limits = limits;
  current()->limitTemporaries(limits);
}

StatusOr<std::unique_ptr<Program>> loadRecovering(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                  std::shared_ptr<HostSymbolResolver> host, CallbackHandler callbacks,
                                                  Runners runners, std::shared_ptr<HostKernelLoader> kernels,
                                                  RecoveryOptions options) {
  if (!options.enabled || !device || !plan)
    return Program::load(std::move(plan), std::move(device), std::move(host), std::move(callbacks), std::move(runners),
                         std::move(kernels));
  return guard([&]() -> StatusOr<std::unique_ptr<Program>> {
    ProgramState loaded;
    loaded.hostConstants = plan->constants;
    loaded.plan = std::move(plan);
    loaded.device = std::move(device);
    loaded.host = std::move(host);
    loaded.callbacks = std::move(callbacks);
    loaded.runners = std::move(runners);
    loaded.kernelLoader = std::move(kernels);
    auto program = std::make_unique<RecoveringProgram>(std::move(loaded), std::move(options));
    INLAY_RETURN_IF_ERROR(program->load());
    return std::unique_ptr<Program>(std::move(program));
  });
}

} // namespace inlay::rt

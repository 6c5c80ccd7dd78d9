// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlanInstance: evaluated sizes for one set of input dims, and commands recorded over a context's memory.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H

#include "Runtime/Core/Memory/Storage.h"
#include "StateMemory.h"

#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Core/Schedule.h"

#include <algorithm>
#include <chrono>
#include <deque>

namespace inlay::rt {

/// The loaded resources that a plan's numbers refer to. Plans that number their engines, functions and constants in the
/// same way share them.
struct Resources {
  std::vector<Constant> hostConstants;                              ///< Per constant: the plan's, or its replacement.
  std::vector<HostEntry> hostEntries;                               ///< Per host function; null if no step calls it.
  std::vector<std::shared_ptr<HostKernels>> hostKernels;            ///< Per host function; null if it has none.
  std::vector<std::shared_ptr<DeviceEngine>> engines;               ///< Per engine; null if no step launches it.
  std::vector<std::shared_ptr<LoadedForeignEngine>> foreignEngines; ///< Per foreign engine; null if no step runs it.
  std::vector<std::shared_ptr<DeviceBuffer>> constants;             ///< Per constant; null if no device reads it.
};

/// The state that all calls of a program share. After loading only constants change, while no call runs.
struct ProgramState : Resources {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device;
  std::shared_ptr<HostSymbolResolver> host;
  CallbackHandler callbacks;
  Runners runners;
  std::shared_ptr<HostKernelLoader> kernelLoader;
  StopCheck stopCheck; ///< May be empty.
  TemporaryLimits limits;
  Schedule schedule;
};

/// Details of a failure besides its status. They decide whether the call can run again on the host.
struct Failure {
  bool ofDevice = false;         ///< True if the device caused it.
  std::vector<uint32_t> engines; ///< Engines whose load, recording or launch failed; empty for other failures.
  /// The first step that ran and may have had effects: a callback, a foreign engine, or a step that writes a state.
  const Step *effect = nullptr;

  /// Notes a failure that the device reported and returns it. Invalid arguments are not failures of the device.
  Status note(Status status, std::vector<uint32_t> failed = {});
  void noteEffect(const Step &step) { effect = effect ? effect : &step; }
};

/// The total time of several runs.
struct RunTime {
  uint64_t nanoseconds = 0;
  uint64_t runs = 0;

  void add(int64_t begin, int64_t end) {
    nanoseconds += static_cast<uint64_t>(end - begin);
    ++runs;
  }
};

struct StepTime : RunTime {
  std::vector<RunTime> kernels; ///< Per kernel of the host function or dispatch of the engine, up to the last that ran.

  RunTime &kernel(uint32_t number) {
    kernels.resize(std::max<size_t>(kernels.size(), size_t(number) + 1));
    return kernels[number];
  }
};

/// Prefixes a message with its place and keeps the code.
Status annotate(const std::string &where, const Status &status);

/// Returns the name of a step for messages.
std::string nameStep(const Step &step);

class PlanInstance {
  /// Launches in flight and the number to wait for.
  struct Submission {
    uint64_t number;
    std::vector<uint32_t> steps;
  };

public:
  /// Evaluates all sizes for these input dims.
  static StatusOr<std::unique_ptr<PlanInstance>> create(const ProgramState &loaded, const InputDims &inputs,
                                                        Failure &failure);

  const InputDims &inputDims() const { return inputs_; }

  /// Returns the bytes of the slots that `record` needs.
  const SlotSizes &slotSizes() const { return slotSizes_; }

  /// Returns the memory that a call of these dims needs.
  StatusOr<MemoryUse> measureMemory() const;

  /// Returns the bytes of a session's states in one memory.
  std::vector<size_t> stateBytes(MemorySpace space) const;

  /// Places the temporaries in `storage`. Must be called before `bindStates` and `record`.
  void resolvePointers(const Storage &storage);
  /// Returns an error if the states of a session have other dims than these inputs give them.
  Status checkStates(const StateMemory &session) const;
  /// Uses the states of a session, which `checkStates` accepts, from the next run on. Places them where the plan
  /// expects them. After an error the instance must be destroyed, because it may use states of two sessions.
  Status bindStates(StateMemory &session, Failure &failure);
  /// Returns the memory of the session that was bound last.
  const StateBinding &binding() const { return binding_; }
  /// Records each launch.
  Status record(const Storage &storage, Failure &failure);
  /// Waits for all engines if the plan has steps with effects, because a call can't run again after these.
  Status waitBeforeEffects(Failure &failure) const;

  /// Sets the checked tensors of the caller, and the object that describes a failure of the next run. The device may
  /// use tensors that have owners in place, but results only with `importResults`.
  void bind(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, bool importResults,
            Failure &failure);

  /// Runs the actions in order. Afterwards the device is idle, and on success no owners are kept. With `times`, which
  /// has one element per step of the plan, the steps run one by one, and each element gets the time of its step. The
  /// time of a step with bodies does not include them.
  Status run(const std::vector<Action> &actions, std::vector<StepTime> *times = nullptr);

private:
  PlanInstance(const ProgramState &loaded, const InputDims &inputs) : loaded_(loaded), inputs_(inputs) {}

  Status evaluateSizes();
  Status evaluateDims();
  Status checkCopies() const;
  void assignSlots(bool onDevice);
  Status measureScratch(Failure &failure);
  std::vector<std::shared_ptr<DeviceBuffer>> argumentsOf(const Step &step) const;
  bool isWorthImporting(const ImportCandidate &candidate) const;
  void importMemory(const ImportCandidate &candidate, const TensorView &view);
  void rebind();
  void releaseImports();
  Status runActions(const std::vector<Action> &actions, std::vector<StepTime> *times);
  Status runSteps(const Action &action);
  Status runTimed(const Action &action, std::vector<StepTime> &times);
  Status runStep(uint32_t number);
  Status branch(const Action &action, std::vector<StepTime> *times);
  Status loop(const Action &action, std::vector<StepTime> *times);
  Status count(const Action &action, std::vector<StepTime> *times);
  bool readCondition(const Step &step) const;
  Status checkStop(const Step &loop);
  std::vector<DeviceCommand *> commandsOf(const std::vector<uint32_t> &steps) const;
  std::vector<uint32_t> findBroken(const std::vector<uint32_t> &launches) const;
  Status noteLaunch(std::vector<uint32_t> steps, Status status);
  void beginWrite(uint32_t number);
  Status beginWrites(const std::vector<uint32_t> &launches);
  Status submit(const std::vector<uint32_t> &steps);
  Status waitFor(const std::vector<uint32_t> &steps);
  Status launch(uint32_t number);
  Status launchTimed(uint32_t number);
  Status callHost(const Step &step);
  Status callBack(const Step &step);
  Status runForeign(const Step &step);
  void viewBuffers(const Step &step, size_t inputCount, std::vector<TensorView> &inputs,
                   std::vector<TensorView> &outputs) const;
  Status copy(const Step &step);
  TensorView view(uint32_t buffer) const;

  const ProgramState &loaded_;
  InputDims inputs_;
  std::chrono::steady_clock::time_point lastStopCheck_;
  Failure *failure_ = nullptr;                      ///< Of the current run.
  std::deque<Submission> inFlight_;                 ///< Of the current run, oldest first.
  StepTime *timed_ = nullptr;                       ///< Of the current step; null if it isn't timed.
  std::vector<std::vector<int64_t>> dims_;          ///< Per buffer.
  std::vector<size_t> bytes_;                       ///< Per buffer.
  std::vector<std::vector<int64_t>> hostSizes_;     ///< Per host function.
  std::vector<std::vector<int64_t>> callbackSizes_; ///< Per callback.
  SlotSizes slotSizes_;
  std::vector<int32_t> slots_;                                ///< Per buffer; -1 if it has no slot.
  std::vector<std::shared_ptr<DeviceBuffer>> deviceBuffers_;  ///< Per buffer; null if it has no device memory.
  std::vector<std::shared_ptr<DeviceBuffer>> defaultBuffers_; ///< `deviceBuffers_` without imports.
  std::vector<const ImportCandidate *> imported_;             ///< Imports of the current run.
  StateMemory *session_ = nullptr; ///< Of the current run; it may no longer exist afterwards.
  StateBinding binding_;
  std::vector<uint32_t> stale_;  ///< Launches whose commands use other states than `deviceBuffers_` has.
  std::vector<void *> pointers_; ///< Per buffer; null if the host can't access it.
  std::vector<std::unique_ptr<DeviceCommand>> commands_; ///< Per step; null if it isn't a launch.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H

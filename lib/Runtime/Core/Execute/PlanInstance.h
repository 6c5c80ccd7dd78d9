// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PlanInstance: what a call needs for one set of input dims: its sizes, and commands recorded over a lane's memory.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H

#include "Runtime/Core/Memory/Storage.h"

#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Core/Schedule.h"

#include <algorithm>
#include <chrono>

namespace inlay::rt {

/// What a plan's numbers stand for once loaded. Plans whose engines, functions and constants have the same numbers
/// share it.
struct Resources {
  std::vector<Constant> hostConstants;                              ///< per constant: the plan's, or what replaced it
  std::vector<HostEntry> hostEntries;                               ///< per host function; null if no step calls it
  std::vector<std::shared_ptr<HostKernels>> hostKernels;            ///< per host function; null if it has none
  std::vector<std::shared_ptr<DeviceEngine>> engines;               ///< per engine; null if no step launches it
  std::vector<std::shared_ptr<LoadedForeignEngine>> foreignEngines; ///< per foreign engine; null if no step runs it
  std::vector<std::shared_ptr<DeviceBuffer>> constants;             ///< per constant; null if no device reads it
};

/// What all calls of a program share; after load only constants change, while no call runs.
struct ProgramState : Resources {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device;
  std::shared_ptr<HostSymbolResolver> host;
  CallbackHandler callbacks;
  Runners runners;
  std::shared_ptr<HostKernelLoader> kernelLoader;
  StopCheck stopCheck; ///< may be empty
  Schedule schedule;
};

/// What is known of a failure beside its status: whether the host could do instead what failed.
struct Failure {
  bool ofDevice = false;         ///< nobody's fault but the device's
  std::vector<uint32_t> engines; ///< whose load, recording or launch failed; none if it was something else
  const Step *effect = nullptr;  ///< the first callback or run of a foreign engine, which may have had effects

  /// Notes a failure that the device reported, and returns it. What it refused as wrong isn't its failure.
  Status note(Status status, std::vector<uint32_t> failed = {});
  void noteEffect(const Step &step) { effect = effect ? effect : &step; }
};

/// What runs took together.
struct RunTime {
  uint64_t nanoseconds = 0;
  uint64_t runs = 0;

  void add(int64_t begin, int64_t end) {
    nanoseconds += static_cast<uint64_t>(end - begin);
    ++runs;
  }
};

struct StepTime : RunTime {
  std::vector<RunTime> kernels; ///< of the host function, or dispatches of the engine, by number; as far as they ran

  RunTime &kernel(uint32_t number) {
    kernels.resize(std::max<size_t>(kernels.size(), size_t(number) + 1));
    return kernels[number];
  }
};

class PlanInstance {
  /// Launches that the device is at, and what to wait for.
  struct Submission {
    uint64_t number;
    std::vector<uint32_t> steps;
  };

public:
  /// Evaluates every size for these input dims.
  static StatusOr<std::unique_ptr<PlanInstance>> create(const ProgramState &loaded, const InputDims &inputs,
                                                        Failure &failure);

  const InputDims &inputDims() const { return inputs_; }

  /// Bytes of the slots that `record` needs.
  const SlotSizes &slotSizes() const { return slotSizes_; }

  /// What a call of these dims needs.
  StatusOr<MemoryUse> measureMemory() const;

  /// Puts the temporaries into `storage` and records each launch over it.
  Status record(const Storage &storage, Failure &failure);
  Status waitBeforeEffects(Failure &failure) const;

  /// Sets the caller's tensors for the next run, which were checked, and what a failure of it is noted in. Those that
  /// have owners the device may use in place, results only with `importResults`.
  void bind(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, bool importResults,
            Failure &failure);

  /// Runs what the schedule has, in order; the device has nothing left to do afterwards, and no owners are kept if all
  /// went well. With `times`, one for each step of the plan, runs the steps one by one and adds to each how long it
  /// took, those in bodies left out of what holds them.
  Status run(const std::vector<Action> &actions, std::vector<StepTime> *times = nullptr);

private:
  PlanInstance(const ProgramState &loaded, const InputDims &inputs) : loaded_(loaded), inputs_(inputs) {}

  Status evaluateSizes();
  Status evaluateDims();
  Status checkCopies() const;
  void assignSlots(bool onDevice);
  Status measureScratch(Failure &failure);
  void resolvePointers(const Storage &storage);
  std::vector<std::shared_ptr<DeviceBuffer>> argumentsOf(const Step &step) const;
  bool isWorthImporting(const ImportCandidate &candidate) const;
  void importMemory(const ImportCandidate &candidate, const TensorView &view);
  void rebindImported();
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
  Failure *failure_ = nullptr;                      ///< of the run
  std::vector<Submission> inFlight_;                ///< of the run, the oldest first
  StepTime *timed_ = nullptr;                       ///< of the step that runs; null if it isn't timed
  std::vector<std::vector<int64_t>> dims_;          ///< per buffer
  std::vector<size_t> bytes_;                       ///< per buffer
  std::vector<std::vector<int64_t>> hostSizes_;     ///< per host function
  std::vector<std::vector<int64_t>> callbackSizes_; ///< per callback
  SlotSizes slotSizes_;
  std::vector<int32_t> slots_;                                ///< per buffer; -1 if it has none of its own
  std::vector<std::shared_ptr<DeviceBuffer>> deviceBuffers_;  ///< per buffer; null if it has no device memory
  std::vector<std::shared_ptr<DeviceBuffer>> defaultBuffers_; ///< the same as long as nothing is lent
  std::vector<const ImportCandidate *> imported_;             ///< for the run
  std::vector<void *> pointers_;                              ///< per buffer; null if the host can't see it
  std::vector<std::unique_ptr<DeviceCommand>> commands_;      ///< per step; null if it isn't a launch
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_PLANINSTANCE_H

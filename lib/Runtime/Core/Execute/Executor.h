// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executor: a program over one plan, without recovery. It gives its wrapper details of a failure besides the status.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H

#include "CallLock.h"
#include "ContextPool.h"

#include <atomic>

namespace inlay::rt {

class Executor final : public Program {
public:
  using Replacements = std::vector<std::pair<uint32_t, Constant>>;

  /// Loads a program as `Program::load` does. `loaded` has the plan, the device, the host code and the handlers. It may
  /// contain resources that are already loaded; these are kept. It is moved from on success. After a failure it
  /// contains the resources loaded so far.
  static StatusOr<std::unique_ptr<Executor>> load(ProgramState &loaded, Failure &failure);

  Status wait() override;
  StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const override;
  StatusOr<MemoryUse> memory(const InputDims &inputs) const override;
  StatusOr<std::shared_ptr<Session>> makeSession() override;
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, Session *session) override;
  StatusOr<std::vector<TensorView>> callForResults(const std::vector<TensorView> &inputs, Session *session) override;
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace,
                                             Session *session) override;
  Status replaceConstants(const Replacements &replacements) override;
  void stopWhen(StopCheck check) override { loaded_.stopCheck = std::move(check); }
  void limitTemporaries(TemporaryLimits limits) override { loaded_.limits = limits; }
  const Plan &plan() const override { return *loaded_.plan; }

  /// Overloads that describe failures in `failure`. `states` are those of the session, which is in use by the caller;
  /// null if the plan has none.
  Status wait(Failure &failure);
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, StateMemory *states,
              Failure &failure);
  StatusOr<std::vector<TensorView>> callForResults(const std::vector<TensorView> &inputs, StateMemory *states,
                                                   Failure &failure);
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace, StateMemory *states,
                                             Failure &failure);
  Status replaceConstants(const Replacements &replacements, Failure &failure);

  /// Returns the resources, to share them with programs over other forms of the plan. Must not be called while
  /// constants are replaced.
  const Resources &resources() const { return loaded_; }

private:
  explicit Executor(ProgramState &&loaded) : loaded_(std::move(loaded)) {}

  Status checkConstants() const;
  Status replaceOnDevice(uint32_t number, const Constant &constant);
  StatusOr<std::unique_ptr<ExecutionContext>> acquire(const std::vector<TensorView> &inputs,
                                                      const std::vector<TensorView> &outputs, bool importResults,
                                                      StateMemory *states, Failure &failure);
  Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, bool importResults,
             StateMemory *states, Failure &failure);

  ProgramState loaded_;
  CallLock running_;                     ///< Shared by calls; taken exclusively to replace constants.
  std::atomic<bool> isReplacing_{false}; ///< True while `loaded_.hostConstants` is replaced.
  const std::shared_ptr<ContextPool> idle_ = std::make_shared<ContextPool>(); ///< Shared with sessions.
  const std::shared_ptr<const void> identity_ = std::make_shared<char>();     ///< For sessions.
};

/// Checks the numbers and sizes of replacements of a plan's constants.
Status checkReplacements(const Plan &plan, const Executor::Replacements &replacements);

/// Returns an error if this thread is inside a call, where waiting until no call runs would never end.
Status checkNotInCall(const CallLock &running);

/// Fills a device buffer with the elements of a constant that has an order, in that order.
Status fillInOrder(Device &device, DeviceBuffer &storage, const Constant &constant);

/// Returns a device buffer with the constant, or over its host memory if the device can read that in place.
StatusOr<std::shared_ptr<DeviceBuffer>> placeConstant(Device &device, const Constant &constant);

/// Checks a plan and loads the resources that it needs and that are missing in `loaded`.
Status loadResources(ProgramState &loaded, Failure &failure);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executor: a program over one plan as it stands; what wraps it learns more of a failure than its status.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H

#include "CallLock.h"
#include "ExecutionContext.h"

#include <mutex>
#include <shared_mutex>

namespace inlay::rt {

class Executor final : public Program {
public:
  using Replacements = std::vector<std::pair<uint32_t, Constant>>;

  /// As `Program::load`. `loaded` says plan, device, host and handlers, and may bring resources along: what is there
  /// isn't loaded again. It is moved from, except after a failure: then it holds what was loaded until then.
  static StatusOr<std::unique_ptr<Executor>> load(ProgramState &loaded, Failure &failure);

  Status wait() override;
  StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const override;
  StatusOr<MemoryUse> memory(const InputDims &inputs) const override;
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) override;
  StatusOr<std::vector<TensorView>> call(const std::vector<TensorView> &inputs) override;
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace) override;
  Status replaceConstants(const Replacements &replacements) override;
  void stopWhen(StopCheck check) override { loaded_.stopCheck = std::move(check); }
  const Plan &plan() const override { return *loaded_.plan; }

  /// The same with a word on failures.
  Status wait(Failure &failure);
  Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, Failure &failure);
  StatusOr<std::vector<TensorView>> call(const std::vector<TensorView> &inputs, Failure &failure);
  StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                             const std::vector<TensorView> &outputs, Trace *trace, Failure &failure);
  Status replaceConstants(const Replacements &replacements, Failure &failure);

  /// To share with programs over other forms of the plan. Not while constants are replaced.
  const Resources &resources() const { return loaded_; }

private:
  explicit Executor(ProgramState &&loaded) : loaded_(std::move(loaded)) {}

  Status replaceOnDevice(uint32_t number, const Constant &constant);
  StatusOr<std::unique_ptr<ExecutionContext>> acquire(const std::vector<TensorView> &inputs,
                                                      const std::vector<TensorView> &outputs, bool importResults,
                                                      Failure &failure);
  Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, bool importResults,
             Failure &failure);
  std::unique_ptr<ExecutionContext> takeIdle(const InputDims &dims);
  void release(std::unique_ptr<ExecutionContext> context);

  /// Lanes kept for later calls; beyond it the one idle for longest goes.
  static constexpr size_t maxIdle = 16;

  ProgramState loaded_;
  CallLock running_; ///< shared by calls; taken alone to replace constants
  std::mutex mutex_;
  std::vector<std::unique_ptr<ExecutionContext>> idle_; ///< guarded by `mutex_`; least recently used first
};

/// Checks replacements of a plan's constants.
Status checkReplacements(const Plan &plan, const Executor::Replacements &replacements);

/// Has the device put the elements of a constant with an order into its memory, in that order.
Status fillInOrder(Device &device, DeviceBuffer &storage, const Constant &constant);

/// Device memory with the constant in it, or that of the host where the device can read it in place.
StatusOr<std::shared_ptr<DeviceBuffer>> placeConstant(Device &device, const Constant &constant);

/// Checks a plan and fills in the resources that it needs and that aren't there yet.
Status loadResources(ProgramState &loaded, Failure &failure);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTOR_H

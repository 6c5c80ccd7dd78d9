// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instance: what one call in flight needs for itself: temporaries and recorded commands for one set of input dims.

#ifndef INLAY_LIB_RUNTIME_CORE_INSTANCE_H
#define INLAY_LIB_RUNTIME_CORE_INSTANCE_H

#include "HostBlock.h"

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Core/Schedule.h"

namespace inlay::rt {

/// What all calls of a program share; after load only constants change, while no call runs.
struct LoadedPlan {
  std::shared_ptr<const Plan> plan;
  std::vector<Constant> hostConstants; ///< per constant: the plan's, or what replaced it
  std::shared_ptr<Device> device;
  std::shared_ptr<HostLibrary> host;
  CallbackHandler callbacks;
  Runners runners;
  Schedule schedule;
  std::vector<HostEntry> hostEntries;                        ///< per host function; null if no step calls it
  std::vector<std::shared_ptr<DeviceEngine>> engines;        ///< per engine; null if no step launches it
  std::vector<std::shared_ptr<LoadedEngine>> foreignEngines; ///< per foreign engine; null if no step runs it
  std::vector<std::shared_ptr<DeviceBuffer>> constants;      ///< per constant; null if no device reads it
};

class Instance {
public:
  /// Evaluates every size for these input dims, allocates temporaries and records each launch.
  static StatusOr<std::unique_ptr<Instance>> create(const LoadedPlan &loaded, const InputDims &inputs);

  const InputDims &inputDims() const { return inputs_; }

  /// Sets the caller's tensors for the next run; both were checked.
  void bind(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs);

  /// Runs steps that the schedule grouped.
  Status run(const Action &action);
  /// Runs one step by itself; nothing for an elided copy.
  Status runStep(uint32_t number);

private:
  Instance(const LoadedPlan &loaded, const InputDims &inputs) : loaded_(loaded), inputs_(inputs) {}

  Status evaluateSizes();
  Status checkCopies() const;
  Status allocate(bool onDevice);
  Status fillSlots(const std::vector<uint32_t> &buffers, const std::vector<uint32_t> &slots,
                   const std::vector<size_t> &slotSizes, bool onDevice);
  void resolvePointers();
  Status record();
  Status launch(const std::vector<uint32_t> &steps);
  Status callHost(const Step &step);
  Status callBack(const Step &step);
  Status runForeign(const Step &step);
  void viewBuffers(const Step &step, size_t inputCount, std::vector<TensorView> &inputs,
                   std::vector<TensorView> &outputs) const;
  Status copy(const Step &step);
  TensorView view(uint32_t buffer) const;

  const LoadedPlan &loaded_;
  InputDims inputs_;
  std::vector<std::vector<int64_t>> dims_;                   ///< per buffer
  std::vector<size_t> bytes_;                                ///< per buffer
  std::vector<std::shared_ptr<DeviceBuffer>> deviceBuffers_; ///< per buffer; null if it has no device memory
  std::vector<void *> pointers_;                             ///< per buffer; null if the host can't see it
  std::vector<HostBlock> blocks_;
  std::vector<std::unique_ptr<DeviceCommand>> commands_; ///< per step; null if it isn't a launch
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_INSTANCE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program: a loaded plan, ready to be called from several threads.

#ifndef INLAY_RUNTIME_CORE_PROGRAM_H
#define INLAY_RUNTIME_CORE_PROGRAM_H

#include "inlay/Runtime/Core/HostKernels.h"
#include "inlay/Runtime/Core/MemoryUse.h"
#include "inlay/Runtime/Core/Runner.h"

#include <functional>
#include <memory>

namespace inlay::rt {

class Device;
class Trace;

/// Native code of host functions; `buffers` are data pointers in the order of the step, after them one to the sizes if
/// the function has any, and one to an InlayHostContext if it has kernels.
using HostEntry = void (*)(void *const *buffers);

/// Resolves host functions: how an object file becomes code is the embedder's (ORC in process, dlopen, static linking).
class HostSymbolResolver {
public:
  virtual ~HostSymbolResolver() = default;
  virtual StatusOr<HostEntry> lookup(const std::string &symbol) = 0;
};

/// Runs callback steps (framework calls). `inputs` are readable, `outputs` writable, `sizes` the numbers that the plan
/// gives this callback; may be called from any thread.
using CallbackHandler =
    std::function<Status(uint32_t callback, const std::vector<TensorView> &inputs,
                         const std::vector<TensorView> &outputs, const std::vector<int64_t> &sizes)>;

/// Asked a few times a second between the rounds of loops, from the thread that calls: true stops the call.
using StopCheck = std::function<bool()>;

/// What the runs of one kernel of a host function, or of one dispatch of an engine, took in a profiled call.
struct KernelProfile {
  uint32_t number = 0;            ///< in the host function's or the engine's list
  std::string kind;               ///< as for plans, or "dispatch"
  std::vector<std::string> calls; ///< the user's calls or the ops that it came from; may be empty
  uint64_t nanoseconds = 0;
  uint64_t runs = 0;
};

/// Time and place of one step of the last profiled call.
struct StepProfile {
  std::string name;
  StepKind kind;
  uint64_t nanoseconds; ///< of all its runs together; what holds bodies takes none itself
  int32_t segment;      ///< as in `Step`
  std::vector<std::string> calls = {};
  uint64_t runs = 1;
  std::vector<KernelProfile> kernels = {}; ///< those that ran, by number
};

class Program {
public:
  virtual ~Program() = default;

  /// Checks the plan (numbers in range, sizes equal, requirements met by the device), uploads constants, and has the
  /// device start with pipelines: see `wait`. `device` may be null if no step launches an engine; `runners` holds those
  /// that its foreign engines name, and is kept. Without `kernels` host functions run on the thread that calls, and may
  /// not use a library. The plan's constants stay referenced.
  static StatusOr<std::unique_ptr<Program>> load(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                 std::shared_ptr<HostSymbolResolver> host,
                                                 CallbackHandler callbacks = {}, Runners runners = {},
                                                 std::shared_ptr<HostKernelLoader> kernels = nullptr);

  /// Waits until all that loading left to other threads is done, as the first call does otherwise, and says what of it
  /// failed.
  virtual Status wait() = 0;

  /// Output dims for inputs of these dims.
  virtual StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const = 0;

  /// The memory that a call with inputs of these dims needs. Nothing is allocated.
  virtual StatusOr<MemoryUse> memory(const InputDims &inputs) const = 0;

  /// Runs once. Inputs and outputs are checked (count, dtype, dims, null data) with messages that name the argument.
  /// Safe from several threads at a time. Each call in flight has temporaries of its own, kept for later calls: they
  /// grow to what its largest size so far needs, and serve every size. What was evaluated and recorded for a size is
  /// kept while it is among the 4 most recent ones and the temporaries needn't grow.
  ///
  /// A device that shares memory with the host reads large inputs that have an owner in place; the owner is let go of
  /// before this returns, or never if the device hangs. Other inputs are copied, and so are results into the memory of
  /// `outputs`, whose owners aren't looked at.
  virtual Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) = 0;
  /// The same with results in memory of the runtime's, which the device may write in place, and which lives as long as
  /// their owners do: longer than the program, if need be.
  virtual StatusOr<std::vector<TensorView>> call(const std::vector<TensorView> &inputs) = 0;

  /// Runs once and reports each step's time (steps are run one by one, so the sum exceeds a plain call). With `trace`
  /// the kernels of engines are timed too, which runs them one by one, and all is recorded there.
  virtual StatusOr<std::vector<StepProfile>>
  profile(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs, Trace *trace = nullptr) = 0;

  /// Gives the constants of these numbers other bytes, as many as they had. Waits until no call runs; later calls see
  /// all of the new ones. On a failure of the device the old ones may be gone.
  virtual Status replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) = 0;

  /// Sets what stops calls; before the first one.
  virtual void stopWhen(StopCheck check) = 0;

  virtual const Plan &plan() const = 0;
};

/// Memory for what `program.outputDims(inputs)` says, with owners.
StatusOr<std::vector<TensorView>> makeResults(const Program &program, const InputDims &inputs);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PROGRAM_H

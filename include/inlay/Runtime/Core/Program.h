// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program: a loaded plan that can be called from several threads.

#ifndef INLAY_RUNTIME_CORE_PROGRAM_H
#define INLAY_RUNTIME_CORE_PROGRAM_H

#include "inlay/Runtime/Core/HostKernels.h"
#include "inlay/Runtime/Core/MemoryUse.h"
#include "inlay/Runtime/Core/Session.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace inlay::rt {

class Device;
class Trace;

/// Native code of a host function. `buffers` are data pointers in the order of the step, then one to the sizes if the
/// function has any, then one to an InlayHostContext if it has kernels.
using HostEntry = void (*)(void *const *buffers);

/// Resolves the symbols of host functions. Embedders choose how object code is loaded: ORC, dlopen or static linking.
class HostSymbolResolver {
public:
  virtual ~HostSymbolResolver() = default;
  virtual StatusOr<HostEntry> lookup(const std::string &symbol) = 0;
};

/// Runs callback steps (framework calls). `inputs` may be read and `outputs` written. `sizes` are the numbers that the
/// plan gives this callback. May be called from any thread.
using CallbackHandler =
    std::function<Status(uint32_t callback, const std::vector<TensorView> &inputs,
                         const std::vector<TensorView> &outputs, const std::vector<int64_t> &sizes)>;

/// Returns true to stop the call. The calling thread asks it a few times a second between the iterations of loops.
using StopCheck = std::function<bool()>;

/// The time of all runs of one kernel of a host function, or of one dispatch of an engine, in a profiled call.
struct KernelProfile {
  uint32_t number = 0;            ///< Position in the list of the host function or the engine.
  std::string kind;               ///< The word for its HostKernelKind, or "dispatch".
  std::vector<std::string> calls; ///< The user's calls or the ops that it came from; may be empty.
  uint64_t nanoseconds = 0;
  uint64_t runs = 0;
};

/// The time of one step in a profiled call.
struct StepProfile {
  std::string name;
  StepKind kind;
  uint64_t nanoseconds; ///< Time of all runs together; 0 for a step that has bodies.
  int32_t segment;      ///< Same as `Step::segment`.
  std::vector<std::string> calls = {};
  uint64_t runs = 1;
  std::vector<KernelProfile> kernels = {}; ///< The kernels that ran, by number.
};

/// Limits on the bytes that the temporaries of a call in flight may take.
struct TemporaryLimits {
  uint64_t host = UINT64_MAX;
  uint64_t device = UINT64_MAX;
};

class Program {
public:
  virtual ~Program() = default;

  /// Checks the plan (numbers in range, sizes equal, requirements met by the device), uploads constants, and makes the
  /// device start to create pipelines; see `wait`. `device` may be null if no step launches an engine. The program
  /// keeps `runners`, which must contain every runner that a foreign engine names. Without `kernels`, host functions
  /// run on the calling thread and can't use a library. The program keeps referring to the plan's constants.
  static StatusOr<std::unique_ptr<Program>> load(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                 std::shared_ptr<HostSymbolResolver> host,
                                                 CallbackHandler callbacks = {}, Runners runners = {},
                                                 std::shared_ptr<HostKernelLoader> kernels = nullptr);

  /// Waits for the work that loading left to other threads, and returns its error if it failed. If this is not called,
  /// the first call waits.
  virtual Status wait() = 0;

  /// Returns the dims of the outputs for inputs of these dims.
  virtual StatusOr<std::vector<std::vector<int64_t>>> outputDims(const InputDims &inputs) const = 0;

  /// Returns the memory that a call with inputs of these dims needs. Allocates nothing.
  virtual StatusOr<MemoryUse> memory(const InputDims &inputs) const = 0;

  /// Makes a session, with which calls of a program that has states must be made. Its states are allocated by its first
  /// call. A program without states takes its sessions too; they have no effect.
  virtual StatusOr<std::shared_ptr<Session>> makeSession() = 0;

  /// Runs the program. Inputs and outputs are checked (count, dtype, dims, null data); messages name the argument.
  /// Thread-safe. Each call in flight has separate temporaries, which are kept for later calls. They grow to the
  /// largest size so far and serve all sizes. Evaluated sizes and recorded commands are kept for the 4 most recent sets
  /// of dims, unless the temporaries grow.
  ///
  /// A device that shares memory with the host reads large inputs in place if they have an owner. The owner is released
  /// before this returns, or never if the device hangs. Other inputs are copied. Results are copied into the memory of
  /// `outputs`, whose owners are ignored.
  ///
  /// The program reads and writes the states of `session`. A call that fails before a step writes a state leaves them
  /// unchanged. One that fails later leaves them undefined. Calls then fail until the session is reset or all its
  /// states are written.
  virtual Status call(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                      Session *session = nullptr) = 0;
  /// Runs the program and returns results in memory of the runtime. The device may write that memory in place. It lives
  /// as long as the owners of the results and may outlive the program.
  virtual StatusOr<std::vector<TensorView>> callForResults(const std::vector<TensorView> &inputs,
                                                           Session *session = nullptr) = 0;
  StatusOr<std::vector<TensorView>> call(const std::vector<TensorView> &inputs) { return callForResults(inputs); }

  /// Runs the program and returns the time of each step. Steps run one by one, so the sum exceeds the time of a normal
  /// call. With `trace`, everything is recorded. The kernels of engines then also run one by one, so that each is
  /// timed.
  virtual StatusOr<std::vector<StepProfile>> profile(const std::vector<TensorView> &inputs,
                                                     const std::vector<TensorView> &outputs, Trace *trace = nullptr,
                                                     Session *session = nullptr) = 0;

  /// Replaces the bytes of the constants with these numbers. The sizes must not change. Waits until no call runs; later
  /// calls see all of the new bytes. If the device fails, the old bytes may be lost.
  virtual Status replaceConstants(const std::vector<std::pair<uint32_t, Constant>> &replacements) = 0;

  /// Sets the check that stops calls. Must be called before the first call.
  virtual void stopWhen(StopCheck check) = 0;

  /// Sets the limits of temporaries. The states of the call's session count too. A call that needs more fails with
  /// ResourceExhausted and allocates no temporaries. Must be called before the first call.
  virtual void limitTemporaries(TemporaryLimits limits) = 0;

  virtual const Plan &plan() const = 0;
};

/// Allocates memory, with owners, for results of the dims `program.outputDims(inputs)`.
StatusOr<std::vector<TensorView>> makeResults(const Program &program, const InputDims &inputs);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PROGRAM_H

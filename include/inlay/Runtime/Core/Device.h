// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device: the executor's interface to an accelerator. It is independent of any graphics API.

#ifndef INLAY_RUNTIME_CORE_DEVICE_H
#define INLAY_RUNTIME_CORE_DEVICE_H

#include "inlay/Runtime/Core/Plan.h"

#include <functional>
#include <memory>

namespace inlay::rt {

/// Memory that a device can use. If the host can access it, `hostPointer()` points to its bytes; otherwise it is null.
class DeviceBuffer {
public:
  virtual ~DeviceBuffer() = default;
  virtual size_t size() const = 0;
  virtual void *hostPointer() const = 0;
};

/// An engine that is bound to buffers. It is recorded once and submitted at each call.
class DeviceCommand {
public:
  virtual ~DeviceCommand() = default;
};

/// An engine's pipelines on one device. All calls share them.
class DeviceEngine {
public:
  virtual ~DeviceEngine() = default;
  /// Returns the bytes of scratch memory that a command for these inputs needs besides its arguments.
  virtual StatusOr<size_t> scratchBytes(const InputDims &inputs) const = 0;
  /// Waits until the engine can run. Returns the reason if it can't. The first submission of a command waits as well.
  virtual Status wait() { return Status::ok(); }
  /// Returns the failure of the engine as far as it is known now: ok while the pipelines are being created.
  virtual Status state() const { return Status::ok(); }
};

/// The time of one dispatch of an engine, in nanoseconds on the clock of `traceTime`.
struct DispatchTime {
  uint32_t dispatch = 0;
  int64_t begin = 0, end = 0;
};

/// Writes all bytes of a buffer to `to`, which has room for them.
using BufferWriter = std::function<void(void *to)>;

class Device {
public:
  virtual ~Device() = default;

  virtual const std::string &deviceName() const = 0;
  virtual bool unifiedMemory() const = 0;
  /// Returns DeviceLost with the reason once a failure has made the device unusable; otherwise ok.
  virtual Status state() const { return Status::ok(); }
  /// Returns an error in a child of fork if the device was opened before. A call checks it before it writes memory that
  /// the device may share with the parent. Takes no lock.
  virtual Status checkProcess() const { return Status::ok(); }

  /// Allocates a buffer. `bytes` may be 0: an empty buffer can be bound too.
  virtual StatusOr<std::shared_ptr<DeviceBuffer>> allocate(size_t bytes) = 0;
  /// Returns a buffer over the `bytes` at `data`, or null if the device can't use them in place. No other code may
  /// write them while an engine reads them, or access them while an engine writes them. `owner` keeps them alive and
  /// may be null. It outlives the buffer if a hanging device may still access them.
  virtual std::shared_ptr<DeviceBuffer> importHost(const void * /*data*/, size_t /*bytes*/,
                                                   std::shared_ptr<const void> /*owner*/) {
    return nullptr;
  }
  /// Copy between host memory and a device buffer, and wait. `bytes` must be at most the buffer's size.
  virtual Status upload(DeviceBuffer &buffer, const void *source, size_t bytes) = 0;
  virtual Status download(DeviceBuffer &buffer, void *destination, size_t bytes) = 0;

  /// Fills the first `bytes` of a buffer with the output of `write`. The device calls `write` immediately, or before it
  /// records the first command that uses the buffer. The memory that `write` reads must stay valid until then. A later
  /// call replaces a `write` that has not run yet.
  ///
  /// Errors: InvalidArgument if `write` is empty or `bytes` exceeds the buffer's size; ResourceExhausted.
  virtual Status fill(DeviceBuffer &buffer, size_t bytes, BufferWriter write);

  /// Checks requirements and limits and starts to create the pipelines. `DeviceEngine::wait` reports if that failed.
  virtual StatusOr<std::shared_ptr<DeviceEngine>> load(const Engine &engine) = 0;

  /// Records `engine` over `arguments`, with the grids and the scratch sizes evaluated for `inputs`. `scratch` has at
  /// least `DeviceEngine::scratchBytes` bytes. Commands that never run at the same time may share it. If it is null,
  /// the command allocates its own.
  virtual StatusOr<std::unique_ptr<DeviceCommand>> record(DeviceEngine &engine,
                                                          const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                          const InputDims &inputs,
                                                          std::shared_ptr<DeviceBuffer> scratch = nullptr) = 0;

  /// Makes a command use other buffers from its next submission on. The command must not be running. The buffers must
  /// match the recorded ones in number and size. This takes as long as recording; an error is reported by the next
  /// submission. Devices that import host memory implement it.
  virtual void rebind(DeviceCommand & /*command*/, const std::vector<std::shared_ptr<DeviceBuffer>> & /*arguments*/) {}

  /// Submits the commands in order and waits until the device has finished them. They go into one submission, except
  /// that commands whose pipelines are still being created follow in later ones, so that ready commands start early.
  /// After a failure nothing is left running.
  virtual Status run(const std::vector<DeviceCommand *> &commands) = 0;
  /// Submits the commands and returns a number to pass to `wait`. Submissions run in order, so waiting for one waits
  /// for all earlier ones too. The caller must wait before it frees anything that the commands use. A device that can't
  /// run asynchronously runs the commands here.
  virtual StatusOr<uint64_t> submit(const std::vector<DeviceCommand *> &commands) {
    INLAY_RETURN_IF_ERROR(run(commands));
    return uint64_t(0);
  }
  virtual Status wait(uint64_t /*submission*/) { return Status::ok(); }

  /// Runs a command and appends the time of each dispatch. Dispatches run one after the other, even those that `run`
  /// may overlap. All times lie between the start and the end of this call. Dispatches that did nothing are left out;
  /// all are left out if the device can't measure time.
  virtual Status runTimed(DeviceCommand &command, std::vector<DispatchTime> &) { return run({&command}); }

  /// Returns a sentence for users that says how `runTimed` measures, or why it can't.
  virtual std::string describeTiming() const { return "kernels of '" + deviceName() + "' aren't timed"; }
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_DEVICE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device: what the executor needs of an accelerator, free of any graphics API.

#ifndef INLAY_RUNTIME_CORE_DEVICE_H
#define INLAY_RUNTIME_CORE_DEVICE_H

#include "inlay/Runtime/Core/Plan.h"

#include <functional>
#include <memory>

namespace inlay::rt {

/// Memory that a device can use. With unified memory `hostPointer()` is the same bytes, else null.
class DeviceBuffer {
public:
  virtual ~DeviceBuffer() = default;
  virtual size_t size() const = 0;
  virtual void *hostPointer() const = 0;
};

/// An engine bound to buffers and recorded once; re-submitted at each call.
class DeviceCommand {
public:
  virtual ~DeviceCommand() = default;
};

/// An engine's pipelines on one device; shared by all calls.
class DeviceEngine {
public:
  virtual ~DeviceEngine() = default;
  /// Bytes of memory that a command for these inputs needs beside its arguments.
  virtual StatusOr<size_t> scratchBytes(const InputDims &inputs) const = 0;
  /// Waits until it can run; why it can't. The first submission of a command does so too.
  virtual Status wait() { return Status::ok(); }
  /// The same as far as it is known by now: ok while its pipelines are being made.
  virtual Status state() const { return Status::ok(); }
};

/// When a dispatch of an engine ran, as `traceTime`.
struct DispatchTime {
  uint32_t dispatch = 0;
  int64_t begin = 0, end = 0;
};

/// Writes all bytes of a buffer to memory that has room for them.
using BufferWriter = std::function<void(void *to)>;

class Device {
public:
  virtual ~Device() = default;

  virtual const std::string &deviceName() const = 0;
  virtual bool unifiedMemory() const = 0;
  /// DeviceLost, with why, from the first failure on after which nothing works any more.
  virtual Status state() const { return Status::ok(); }

  /// `bytes` may be 0: an empty buffer can be bound all the same.
  virtual StatusOr<std::shared_ptr<DeviceBuffer>> allocate(size_t bytes) = 0;
  /// A buffer over the `bytes` at `data`, which nobody else writes while an engine reads them, nor touches while one
  /// writes them. `owner`, which may be null, keeps them, for longer than the buffer if a device that hangs may still
  /// be at them. Null where the device can't use them in place.
  virtual std::shared_ptr<DeviceBuffer> importHost(const void * /*data*/, size_t /*bytes*/,
                                                   std::shared_ptr<const void> /*owner*/) {
    return nullptr;
  }
  /// Copies between host memory and a device buffer and waits; `bytes` at most the buffer's size.
  virtual Status upload(DeviceBuffer &buffer, const void *source, size_t bytes) = 0;
  virtual Status download(DeviceBuffer &buffer, void *destination, size_t bytes) = 0;

  /// Has `write` make the first `bytes` of a buffer, which has as many: at once, or before the first command that uses
  /// the buffer is recorded. Until then what it reads has to stay. It takes the place of one that hasn't been asked
  /// yet.
  ///
  /// Errors: InvalidArgument without `write` or for more bytes than the buffer has; ResourceExhausted.
  virtual Status fill(DeviceBuffer &buffer, size_t bytes, BufferWriter write);

  /// Checks requirements and limits, and starts to create the pipelines: whether that works shows later.
  virtual StatusOr<std::shared_ptr<DeviceEngine>> load(const Engine &engine) = 0;

  /// Records `engine` over `arguments` with the grid and scratch sizes evaluated for `inputs`. `scratch` has at least
  /// the engine's `scratchBytes`, and may be that of other commands as long as they run one after the other; null makes
  /// some for this command.
  virtual StatusOr<std::unique_ptr<DeviceCommand>> record(DeviceEngine &engine,
                                                          const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                          const InputDims &inputs,
                                                          std::shared_ptr<DeviceBuffer> scratch = nullptr) = 0;

  /// Has a command that isn't running use other buffers, as many and as large as those that it was recorded over, from
  /// its next submission on. That takes as long as recording it: what fails then is the submission. For devices that
  /// import host memory.
  virtual void rebind(DeviceCommand & /*command*/, const std::vector<std::shared_ptr<DeviceBuffer>> & /*arguments*/) {}

  /// Submits the commands in order and waits until the device has finished them. In one submission, except for those
  /// that come while their pipelines are being made: what is ready begins. If that fails nothing is left running.
  virtual Status run(const std::vector<DeviceCommand *> &commands) = 0;
  /// The same in two parts. The number is what to wait for; submissions are run in order, so that waiting for one is
  /// waiting for all before it. Whoever has submitted has to wait before anything that the commands use goes. A device
  /// that can't work beside the host does so at once.
  virtual StatusOr<uint64_t> submit(const std::vector<DeviceCommand *> &commands) {
    INLAY_RETURN_IF_ERROR(run(commands));
    return uint64_t(0);
  }
  virtual Status wait(uint64_t /*submission*/) { return Status::ok(); }

  /// Runs a command with its dispatches one after the other, even those that `run` may overlap, and says when each ran:
  /// not before this was called, nor after it returned. Those that did nothing are left out, and all if the device
  /// can't tell.
  virtual Status runTimed(DeviceCommand &command, std::vector<DispatchTime> &) { return run({&command}); }

  /// How `runTimed` knows, or why it doesn't: a sentence for people.
  virtual std::string describeTiming() const { return "kernels of '" + deviceName() + "' aren't timed"; }
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_DEVICE_H

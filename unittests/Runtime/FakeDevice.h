// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device in host memory with the kernels "add", "double" and "accumulate". It counts requests and fails on demand. It
// starts submissions as late as possible: when a caller waits for them.

#ifndef INLAY_UNITTESTS_RUNTIME_FAKEDEVICE_H
#define INLAY_UNITTESTS_RUNTIME_FAKEDEVICE_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>

namespace inlay::rt::test {

class FakeDevice final : public Device {
public:
  struct Memory final : DeviceBuffer {
    std::vector<float> storage;
    float *floats = nullptr; ///< The buffer's memory or imported host memory.
    size_t count = 0;
    bool visible = true;
    std::shared_ptr<const void> owner; ///< Owner of imported memory.
    size_t size() const override { return count * sizeof(float); }
    void *hostPointer() const override { return visible ? floats : nullptr; }
  };
  struct Loaded final : DeviceEngine {
    Engine engine;
    StatusOr<size_t> scratchBytes(const InputDims &inputs) const override {
      size_t total = 0;
      for (const Expr &size : engine.scratch) {
        StatusOr<int64_t> bytes = size.evaluate(inputs);
        if (!bytes.isOk() || *bytes < 0)
          return Status(StatusCode::InvalidArgument, "fake scratch has no size");
        total += *bytes;
      }
      return total;
    }
    Status wait() override { return pipelines; }
    Status state() const override { return pipelines; }
    Status pipelines; ///< The result of creating the pipelines.
  };
  struct Recorded final : DeviceCommand {
    const Loaded *loaded;
    std::vector<std::shared_ptr<DeviceBuffer>> arguments;
    std::shared_ptr<DeviceBuffer> scratch;
    bool accumulates = false;
  };

  explicit FakeDevice(bool unified) : unified_(unified) {}

  const std::string &deviceName() const override { return name_; }
  bool unifiedMemory() const override { return unified_; }
  Status checkProcess() const override { return process; }
  Status state() const override { return lost ? Status(StatusCode::DeviceLost, "fake device is lost") : Status::ok(); }

  StatusOr<std::shared_ptr<DeviceBuffer>> allocate(size_t size) override {
    if (failAllocations > 0) {
      --failAllocations;
      return Status(StatusCode::ResourceExhausted, "fake memory is full");
    }
    if (size > (size_t(1) << 30))
      return Status(StatusCode::ResourceExhausted, "fake memory is small");
    auto memory = std::make_shared<Memory>();
    memory->storage.assign((size + 3) / sizeof(float), -1.0f);
    memory->floats = memory->storage.data();
    memory->count = memory->storage.size();
    memory->visible = unified_;
    allocatedBytes += size;
    std::lock_guard<std::mutex> lock(mutex_);
    allocated_.push_back(memory);
    return std::shared_ptr<DeviceBuffer>(memory);
  }
  std::shared_ptr<DeviceBuffer> importHost(const void *data, size_t bytes, std::shared_ptr<const void> owner) override {
    if (!canImport)
      return nullptr;
    ++imports;
    auto memory = std::make_shared<Memory>();
    memory->floats = static_cast<float *>(const_cast<void *>(data));
    memory->count = bytes / sizeof(float);
    memory->owner = std::move(owner);
    return memory;
  }
  Status upload(DeviceBuffer &buffer, const void *source, size_t bytes) override {
    if (failUploads > 0) {
      --failUploads;
      return {StatusCode::ResourceExhausted, "fake staging is full"};
    }
    ++uploads;
    std::memcpy(static_cast<Memory &>(buffer).floats, source, bytes);
    return Status::ok();
  }
  Status download(DeviceBuffer &buffer, void *destination, size_t bytes) override {
    INLAY_RETURN_IF_ERROR(state());
    ++downloads;
    std::memcpy(destination, static_cast<Memory &>(buffer).floats, bytes);
    return Status::ok();
  }
  StatusOr<std::shared_ptr<DeviceEngine>> load(const Engine &engine) override {
    if (engine.name == failLoadsOf)
      return Status(StatusCode::Internal, "fake pipeline failed");
    auto loaded = std::make_shared<Loaded>();
    loaded->engine = engine;
    if (engine.name == failPipelinesOf)
      loaded->pipelines = {StatusCode::Internal, "fake pipeline failed later"};
    ++loads;
    return std::shared_ptr<DeviceEngine>(loaded);
  }
  StatusOr<std::unique_ptr<DeviceCommand>> record(DeviceEngine &engine,
                                                  const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                  const InputDims &, std::shared_ptr<DeviceBuffer> scratch) override {
    if (static_cast<Loaded &>(engine).engine.name == failRecordsOf)
      return Status(StatusCode::ResourceExhausted, "fake descriptors are gone");
    auto recorded = std::make_unique<Recorded>();
    recorded->loaded = &static_cast<Loaded &>(engine);
    recorded->arguments = arguments;
    const std::vector<Kernel> &kernels = recorded->loaded->engine.kernels;
    recorded->accumulates = !kernels.empty() && kernels[0].name == "accumulate";
    recorded->scratch = std::move(scratch);
    ++records;
    return std::unique_ptr<DeviceCommand>(std::move(recorded));
  }
  void rebind(DeviceCommand &command, const std::vector<std::shared_ptr<DeviceBuffer>> &arguments) override {
    static_cast<Recorded &>(command).arguments = arguments;
    ++rebinds;
  }
  Status run(const std::vector<DeviceCommand *> &commands) override {
    StatusOr<uint64_t> number = submit(commands);
    return number.isOk() ? wait(*number) : number.status();
  }
  StatusOr<uint64_t> submit(const std::vector<DeviceCommand *> &commands) override {
    if (lost)
      return state();
    if (failRuns > 0) {
      --failRuns;
      return Status(StatusCode::DeviceLost, "fake device is gone");
    }
    for (DeviceCommand *command : commands) {
      const Loaded &loaded = *static_cast<Recorded &>(*command).loaded;
      INLAY_RETURN_IF_ERROR(loaded.pipelines);
      if (loaded.engine.name == failRunsOf)
        return Status(failCode, "fake run failed");
    }
    ++submissions;
    TraceSpan span("submit", "submit");
    std::lock_guard<std::mutex> lock(mutex_);
    inFlight_.emplace_back(++submitted_, commands);
    return submitted_;
  }
  Status wait(uint64_t number) override {
    TraceSpan span("wait", "wait for the device");
    std::lock_guard<std::mutex> lock(mutex_);
    bool fails = failWaits > 0 && failWaits-- > 0, throws = throwWaits > 0 && throwWaits-- > 0;
    if (fails && hangs) {
      for (auto &[submission, commands] : inFlight_)
        for (DeviceCommand *command : commands)
          stuck_.push_back(static_cast<Recorded &>(*command));
      inFlight_.clear();
    }
    while (!inFlight_.empty() && inFlight_.front().first <= number) {
      for (DeviceCommand *command : inFlight_.front().second)
        execute(static_cast<Recorded &>(*command));
      inFlight_.pop_front();
    }
    if (throws) // there is no memory for the status
      throw std::bad_alloc();
    return fails ? Status(StatusCode::DeviceLost, "fake device never came back") : Status::ok();
  }

  /// Returns the number of allocated buffers that still exist. Must be called while no call runs.
  size_t liveBuffers() const {
    return std::count_if(allocated_.begin(), allocated_.end(), [](const auto &buffer) { return !buffer.expired(); });
  }

  /// Returns the bytes of these buffers.
  size_t liveBytes() const {
    size_t bytes = 0;
    for (const std::weak_ptr<Memory> &buffer : allocated_)
      if (std::shared_ptr<Memory> live = buffer.lock())
        bytes += live->size();
    return bytes;
  }

  size_t inFlight() {
    std::lock_guard<std::mutex> lock(mutex_);
    return inFlight_.size();
  }

  /// Runs the commands that were in flight when `hangs` made a wait fail.
  void goOn() {
    for (const Recorded &command : stuck_)
      execute(command);
    stuck_.clear();
  }

  /// Returns the contents of these buffers.
  std::vector<float> contents() const {
    std::vector<float> contents;
    for (const std::weak_ptr<Memory> &buffer : allocated_)
      if (std::shared_ptr<Memory> live = buffer.lock())
        contents.insert(contents.end(), live->floats, live->floats + live->count);
    return contents;
  }

  Status process;                        ///< The result of `checkProcess`.
  bool canImport = false, hangs = false; ///< `hangs`: work goes on after a failed wait. Set while no call runs.
  std::atomic<int> imports{0}, rebinds{0};
  std::atomic<int> uploads{0}, downloads{0}, loads{0}, records{0}, submissions{0}, failRuns{0}, failWaits{0},
      failAllocations{0}, failUploads{0}, throwWaits{0};
  /// Names of the engines that fail. Set while no call runs.
  std::string failLoadsOf, failPipelinesOf, failRecordsOf, failRunsOf;
  StatusCode failCode = StatusCode::ResourceExhausted; ///< Code of `failRunsOf`.
  std::atomic<bool> lost{false};
  std::atomic<size_t> allocatedBytes{0};

private:
  /// Allocates nothing, because a wait that throws would leave its submission in flight.
  static void execute(const Recorded &command) {
    const auto &arguments = command.arguments;
    if (arguments.empty())
      return;
    auto memory = [&](size_t number) -> const Memory & { return static_cast<const Memory &>(*arguments[number]); };
    // "add" has three arguments, "double" two. "accumulate" adds its first argument to the second.
    const Memory &one = memory(0), &other = memory(arguments.size() > 2 || command.accumulates ? 1 : 0);
    const Memory &result = memory(arguments.size() - 1);
    for (size_t i = 0; i < std::min({result.count, one.count, other.count}); ++i)
      result.floats[i] = one.floats[i] + other.floats[i];
  }

  std::string name_ = "fake";
  bool unified_;
  std::mutex mutex_;
  uint64_t submitted_ = 0;
  std::deque<std::pair<uint64_t, std::vector<DeviceCommand *>>> inFlight_;
  std::vector<Recorded> stuck_;
  std::vector<std::weak_ptr<Memory>> allocated_;
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAKEDEVICE_H

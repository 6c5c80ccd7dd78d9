// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The implementation of Device on Vulkan, and the functions that list and open devices.

#include "inlay/Runtime/Vulkan/VulkanDevice.h"
#include "Runtime/Vulkan/Engine/Command.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"
#include "Runtime/Vulkan/Engine/Timestamps.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Vulkan/DeviceSelection.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace inlay::rt::vulkan {

namespace {

class VulkanDevice final : public Device {
public:
  explicit VulkanDevice(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  const std::string &deviceName() const override { return context_->caps().name; }
  bool unifiedMemory() const override { return context_->caps().unifiedMemory; }
  Status checkProcess() const override { return context_->checkProcess(); }
  Status state() const override { return context_->isForked() ? Status::ok() : context_->queue.state(); }

  StatusOr<std::shared_ptr<DeviceBuffer>> allocate(size_t bytes) override;
  std::shared_ptr<DeviceBuffer> importHost(const void *data, size_t bytes, std::shared_ptr<const void> owner) override {
    DriverUse use;
    return !use ? nullptr : Buffer::importHost(context_, data, bytes, std::move(owner));
  }
  Status upload(DeviceBuffer &buffer, const void *source, size_t bytes) override;
  Status download(DeviceBuffer &buffer, void *destination, size_t bytes) override;
  Status fill(DeviceBuffer &buffer, size_t bytes, BufferWriter write) override;
  StatusOr<std::shared_ptr<DeviceEngine>> load(const Engine &engine) override;
  StatusOr<std::unique_ptr<DeviceCommand>> record(DeviceEngine &engine,
                                                  const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                  const InputDims &inputs,
                                                  std::shared_ptr<DeviceBuffer> scratch) override;
  void rebind(DeviceCommand &command, const std::vector<std::shared_ptr<DeviceBuffer>> &arguments) override {
    static_cast<Command &>(command).rebind(arguments);
  }
  Status run(const std::vector<DeviceCommand *> &commands) override;
  StatusOr<uint64_t> submit(const std::vector<DeviceCommand *> &commands) override;
  Status wait(uint64_t submission) override;
  Status runTimed(DeviceCommand &command, std::vector<DispatchTime> &times) override;
  std::string describeTiming() const override;

private:
  /// Returns an error if this process, or this thread at the exit of the process, must not call the driver.
  Status check(const DriverUse &use) const { return use ? context_->checkProcess() : processExits(); }
  Status submitAll(const std::vector<DeviceCommand *> &commands, uint64_t &value);

  std::shared_ptr<Context> context_;
};

} // namespace

StatusOr<std::shared_ptr<DeviceBuffer>> VulkanDevice::allocate(size_t bytes) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  StatusOr<std::shared_ptr<Buffer>> buffer = Buffer::create(context_, bytes);
  if (!buffer.isOk())
    return buffer.status();
  return std::shared_ptr<DeviceBuffer>(std::move(*buffer));
}

static Status checkCopySize(const DeviceBuffer &buffer, size_t bytes) {
  if (bytes <= buffer.size())
    return Status::ok();
  return {StatusCode::InvalidArgument,
          fmt::format("expected at most {} bytes to copy, but got {}", buffer.size(), bytes)};
}

Status VulkanDevice::upload(DeviceBuffer &buffer, const void *source, size_t bytes) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  INLAY_RETURN_IF_ERROR(checkCopySize(buffer, bytes));
  if (bytes == 0)
    return Status::ok();
  static_cast<Buffer &>(buffer).prepare();
  TraceSpan span("upload", "upload");
  if (!buffer.hostPointer())
    return context_->staging.upload(static_cast<Buffer &>(buffer).range(), source, bytes, context_->info.queueFamily);
  std::memcpy(buffer.hostPointer(), source, bytes);
  return Status::ok();
}

Status VulkanDevice::download(DeviceBuffer &buffer, void *destination, size_t bytes) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  INLAY_RETURN_IF_ERROR(checkCopySize(buffer, bytes));
  if (bytes == 0)
    return Status::ok();
  static_cast<Buffer &>(buffer).prepare();
  TraceSpan span("download", "download");
  if (!buffer.hostPointer())
    return context_->staging.download(static_cast<Buffer &>(buffer).range(), destination, bytes,
                                      context_->info.queueFamily);
  std::memcpy(destination, buffer.hostPointer(), bytes);
  return Status::ok();
}

/// Defers the write, so that the first dispatches don't wait for the constants of later ones. Copies through the queue
/// are not deferred, because they would wait for those dispatches.
Status VulkanDevice::fill(DeviceBuffer &buffer, size_t bytes, BufferWriter write) {
  INLAY_RETURN_IF_ERROR(context_->checkProcess());
  if (!write || bytes > buffer.size() || !buffer.hostPointer())
    return Device::fill(buffer, bytes, std::move(write));
  static_cast<Buffer &>(buffer).fill(std::move(write));
  return Status::ok();
}

StatusOr<std::shared_ptr<DeviceEngine>> VulkanDevice::load(const Engine &engine) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  INLAY_RETURN_IF_ERROR(context_->queue.state());
  StatusOr<std::shared_ptr<VulkanEngine>> loaded = VulkanEngine::load(context_, engine);
  if (!loaded.isOk())
    return loaded.status();
  return std::shared_ptr<DeviceEngine>(std::move(*loaded));
}

StatusOr<std::unique_ptr<DeviceCommand>>
VulkanDevice::record(DeviceEngine &engine, const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                     const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  std::shared_ptr<VulkanEngine> shared = static_cast<VulkanEngine &>(engine).shared_from_this();
  StatusOr<std::unique_ptr<Command>> command =
      Command::record(context_, std::move(shared), arguments, inputs, std::move(scratch));
  if (!command.isOk())
    return command.status();
  return std::unique_ptr<DeviceCommand>(std::move(*command));
}

/// Submits commands. Recorded parts are submitted before it waits for further pipelines.
Status VulkanDevice::submitAll(const std::vector<DeviceCommand *> &commands, uint64_t &value) {
  std::vector<VkCommandBuffer> handles;
  handles.reserve(commands.size());
  for (DeviceCommand *deviceCommand : commands) {
    auto &command = static_cast<Command &>(*deviceCommand);
    for (size_t part = 0; part < command.parts().size() || !command.isComplete(); ++part) {
      if (part == command.parts().size()) {
        if (!handles.empty())
          INLAY_RETURN_IF_ERROR(context_->queue.submit(handles, value));
        handles.clear();
        INLAY_RETURN_IF_ERROR(command.recordMore());
      }
      handles.push_back(command.parts()[part].commands);
    }
  }
  return context_->queue.submit(handles, value);
}

StatusOr<uint64_t> VulkanDevice::submit(const std::vector<DeviceCommand *> &commands) {
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  INLAY_RETURN_IF_ERROR(context_->instance.log().take());
  uint64_t value = 0;
  // Parts that were submitted must be waited for, whatever fails after that.
  Status status = guard([&] { return submitAll(commands, value); });
  if (status.isOk())
    return value;
  Status ended = value == 0 ? Status::ok() : context_->queue.wait(value); // submits no more, but waits
  return ended.isOk() || status.code() == StatusCode::DeviceLost ? status : ended;
}

Status VulkanDevice::wait(uint64_t submission) {
  if (DriverUse use; use) {
    INLAY_RETURN_IF_ERROR(context_->checkProcess());
    INLAY_RETURN_IF_ERROR(context_->queue.wait(submission));
    return context_->instance.log().take();
  }
  waitForDrain(); // after an error the caller may free memory that the device uses
  return processExits();
}

Status VulkanDevice::run(const std::vector<DeviceCommand *> &commands) {
  StatusOr<uint64_t> submission = submit(commands);
  return submission.isOk() ? wait(*submission) : submission.status();
}

Status VulkanDevice::runTimed(DeviceCommand &command, std::vector<DispatchTime> &times) {
  if (context_->info.timestamps.validBits == 0)
    return run({&command}); // before the use: inside of one, nothing can wait for the exit
  DriverUse use;
  INLAY_RETURN_IF_ERROR(check(use));
  INLAY_RETURN_IF_ERROR(context_->instance.log().take());
  auto &timed = static_cast<Command &>(command);
  StatusOr<VkCommandBuffer> handle = timed.recordTimed();
  if (!handle.isOk())
    return handle.status();
  HostWindow window{traceTime(), 0};
  INLAY_RETURN_IF_ERROR(context_->queue.run({*handle}));
  window.end = traceTime();
  StatusOr<std::vector<DispatchTicks>> ticks = timed.readTicks();
  if (!ticks.isOk())
    return ticks.status();
  times = placeOnHost(*ticks, context_->info.timestamps, window, calibrate(*context_));
  return context_->instance.log().take();
}

std::string VulkanDevice::describeTiming() const {
  const TimestampInfo &info = context_->info.timestamps;
  if (info.validBits == 0)
    return fmt::format("kernels of '{}' aren't timed: its queue has no timestamps", deviceName());
  return fmt::format("kernels of '{}' are timed by the device's clock, {}", deviceName(),
                     info.canCalibrate ? "calibrated to the host's clock"
                                       : "centered between submission and the end of the wait for each segment");
}

static std::string environmentDevice() {
  const char *value = std::getenv("INLAY_DEVICE");
  return value ? value : "";
}

static StatusOr<DeviceInfo> choose(VulkanInstance &instance, const std::string &selector) {
  StatusOr<std::vector<DeviceInfo>> infos = queryDevices(instance);
  if (!infos.isOk())
    return infos.status();
  std::vector<DeviceCaps> caps;
  for (const DeviceInfo &info : *infos)
    caps.push_back(info.caps);
  StatusOr<size_t> index = chooseDevice(caps, selector, environmentDevice());
  if (!index.isOk())
    return index.status();
  return std::move((*infos)[*index]);
}

static StatusOr<std::vector<DeviceCaps>> listAll() {
  DriverUse use;
  if (!use)
    return processExits();
  StatusOr<VulkanInstance *> instance = VulkanInstance::get();
  if (!instance.isOk())
    return instance.status();
  StatusOr<std::vector<DeviceInfo>> infos = queryDevices(**instance);
  if (!infos.isOk())
    return infos.status();
  std::vector<DeviceCaps> caps;
  for (DeviceInfo &info : *infos)
    caps.push_back(std::move(info.caps));
  return caps;
}

static StatusOr<DeviceCaps> select(const std::string &selector) {
  DriverUse use;
  if (!use)
    return processExits();
  StatusOr<VulkanInstance *> instance = VulkanInstance::get();
  if (!instance.isOk())
    return instance.status();
  StatusOr<DeviceInfo> info = choose(**instance, selector);
  if (!info.isOk())
    return info.status();
  return std::move(info->caps);
}

static StatusOr<std::shared_ptr<Context>> open(const std::string &selector) {
  DriverUse use;
  if (!use)
    return processExits();
  StatusOr<VulkanInstance *> instance = VulkanInstance::get();
  if (!instance.isOk())
    return instance.status();
  return openContext(**instance, selector);
}

StatusOr<std::shared_ptr<Context>> openContext(VulkanInstance &instance, const std::string &selector,
                                               const WrapDevice &wrap) {
  DriverUse use;
  if (!use)
    return processExits();
  StatusOr<DeviceInfo> info = choose(instance, selector);
  if (!info.isOk())
    return info.status();
  return Context::open(instance, *info, wrap);
}

std::shared_ptr<Device> makeDevice(std::shared_ptr<Context> context) {
  return std::make_shared<VulkanDevice>(std::move(context));
}

StatusOr<std::vector<DeviceCaps>> listDevices() { return guard(listAll); }

StatusOr<DeviceCaps> selectDevice(const std::string &selector) {
  return guard([&] { return select(selector); });
}

StatusOr<std::shared_ptr<Context>> openContext(const std::string &selector) {
  return guard([&] { return open(selector); });
}

StatusOr<std::shared_ptr<Device>> openDevice(const std::string &selector) {
  return guard([&]() -> StatusOr<std::shared_ptr<Device>> {
    StatusOr<std::shared_ptr<Context>> context = open(selector);
    if (!context.isOk())
      return context.status();
    return makeDevice(std::move(*context));
  });
}

} // namespace inlay::rt::vulkan

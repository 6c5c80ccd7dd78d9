// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Loader/Loader.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Host/ObjectLoader.h"
#include "inlay/Runtime/Loader/SharedDevice.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <fmt/format.h>

#include <pthread.h>

namespace inlay::rt {

namespace {
/// Has drivers loaded while the file is read: each takes about as long. What fails shows when a device is asked for.
class EarlyDrivers {
public:
  explicit EarlyDrivers(bool areNeeded) {
    auto load = [](void *) -> void * {
      static_cast<void>(vulkan::listDevices());
      return nullptr;
    };
    hasThread_ = areNeeded && pthread_create(&thread_, nullptr, load, nullptr) == 0;
  }
  ~EarlyDrivers() {
    if (hasThread_)
      pthread_join(thread_, nullptr);
  }
  EarlyDrivers(const EarlyDrivers &) = delete;
  EarlyDrivers &operator=(const EarlyDrivers &) = delete;

private:
  bool hasThread_ = false;
  pthread_t thread_;
};
} // namespace

/// Programs that lose the device that they share get a new one that they share.
static RecoveryOptions makeRecovery(const std::shared_ptr<Device> &device, const OpenOptions &options) {
  RecoveryOptions recovery;
  // What the validation layer finds fails a call too, and is to be seen.
  recovery.enabled = options.recovery && !vulkan::wantsValidation();
  recovery.notify = options.notify;
  if (device)
    recovery.reopenDevice = [current = std::make_shared<std::shared_ptr<Device>>(device)] {
      StatusOr<std::shared_ptr<Device>> device = reopenDevice(*current);
      if (device.isOk())
        *current = *device;
      return device;
    };
  return recovery;
}

StatusOr<OpenedProgram> loadPlan(std::shared_ptr<const Plan> plan, const OpenOptions &options) {
  OpenedProgram opened;
  opened.plan = std::move(plan);
  StatusOr<std::shared_ptr<HostLibrary>> host = host::linkHostCode(opened.plan->hostCode);
  if (!host.isOk())
    return host.status();
  if (!opened.plan->engines.empty()) {
    StatusOr<std::shared_ptr<Device>> device = shareDevice(options.device, *opened.plan);
    if (!device.isOk())
      return device.status();
    opened.device = std::move(*device);
  }
  auto program = loadRecovering(opened.plan, opened.device, *host, options.callbacks, options.runners,
                                host::getHostKernelLoader(), makeRecovery(opened.device, options));
  if (!program.isOk())
    return program.status();
  opened.program = std::move(*program);
  if (options.stop)
    opened.program->stopWhen(options.stop);
  return opened;
}

StatusOr<OpenedProgram> openProgram(const std::string &path, const OpenOptions &options) {
  EarlyDrivers drivers(hasDeviceKernels(path));
  ContainerReadOptions reading;
  reading.publicKeyFile = options.publicKeyFile;
  StatusOr<SavedProgram> saved = readContainer(path, reading);
  if (!saved.isOk())
    return saved.status();
  StatusOr<OpenedProgram> opened = loadPlan(std::move(saved->plan), options);
  if (!opened.isOk())
    return Status(opened.status().code(), fmt::format("'{}' can't be loaded: {}", path, opened.status().message()));
  opened->info = std::move(saved->info);
  return opened;
}

} // namespace inlay::rt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a plan or a container: host code, device and recovery options. Core/Execute/Load.cpp loads the resources of
// a plan on the device. Core/Plan/PlanChecker.cpp checks it.

#include "inlay/Runtime/Loader/Loader.h"
#include "DeviceSharing.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/HostVersions.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Host/ObjectLoader.h"
#include "inlay/Runtime/Vulkan/DeviceSelection.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <fmt/format.h>

#include <algorithm>
#include <pthread.h>
#include <set>
#include <unistd.h>

namespace inlay::rt {

namespace {
/// Loads the drivers on another thread while the file is read, because both take about as long. Errors are ignored
/// here: they are reported when a device is requested.
class EarlyDrivers {
public:
  explicit EarlyDrivers(bool areNeeded) {
    auto load = [](void *) -> void * {
      static_cast<void>(guard([] { return vulkan::listDevices(); }));
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

/// Returns options with which programs that share a lost device also share its replacement.
static RecoveryOptions makeRecovery(const std::shared_ptr<Device> &device, const OpenOptions &options) {
  RecoveryOptions recovery;
  // Findings of the validation layer fail a call too. Recovery would hide them.
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

static StatusOr<std::shared_ptr<const Plan>> moveAllToHost(const Plan &plan) {
  INLAY_RETURN_IF_ERROR(checkPlan(plan));
  StatusOr<Plan> moved = moveToHost(plan, launchedEngines(plan));
  if (!moved.isOk())
    return Status(moved.status().code(), fmt::format("device 'none': {}", moved.status().message()));
  moved->engines.clear();
  return std::shared_ptr<const Plan>(std::make_shared<Plan>(std::move(*moved)));
}

/// Returns an error if the caller does not allow the use of a device.
static Status admitDevice(const OpenOptions &options) {
  return options.beforeDevice ? options.beforeDevice() : Status::ok();
}

/// Returns a hint for the error message if the program can run without a device.
static const char *adviseNone(const Plan &plan) {
  return moveAllToHost(plan).isOk() ? "; with the device 'none' the host runs all of it" : "";
}

/// Takes memory for copies of constants on the device from the budget. One copy of each byte is free, because constants
/// do not count.
static Status budgetConstants(const Plan &plan, Budget &budget) {
  std::set<uint32_t> numbers;
  for (const Buffer &buffer : plan.buffers)
    if (buffer.kind == BufferKind::Constant && buffer.space == MemorySpace::Device &&
        buffer.index < plan.constants.size())
      numbers.insert(buffer.index);
  std::vector<std::pair<uintptr_t, size_t>> ranges;
  for (uint32_t number : numbers)
    ranges.emplace_back(reinterpret_cast<uintptr_t>(plan.constants[number].data), plan.constants[number].size);
  std::sort(ranges.begin(), ranges.end());
  uintptr_t end = 0; // of the ranges so far
  for (auto [begin, size] : ranges) {
    INLAY_RETURN_IF_ERROR(
        budget.take("bytes of constants that share data", begin < end ? std::min<uint64_t>(end - begin, size) : 0));
    end = std::max(end, begin + size);
  }
  return Status::ok();
}

static StatusOr<LoadedProgram> load(std::shared_ptr<const Plan> plan, const OpenOptions &options, Budget &budget) {
  LoadedProgram opened;
  opened.plan = std::move(plan);
  if (!opened.plan->engines.empty() && vulkan::wantsNoDevice(options.device)) {
    StatusOr<std::shared_ptr<const Plan>> moved = moveAllToHost(*opened.plan);
    if (!moved.isOk())
      return moved.status();
    opened.plan = std::move(*moved);
  }
  StatusOr<std::shared_ptr<HostSymbolResolver>> host = host::linkHostCode(opened.plan->hostCode, budget);
  if (!host.isOk())
    return host.status();
  if (!opened.plan->engines.empty()) {
    INLAY_RETURN_IF_ERROR(budgetConstants(*opened.plan, budget));
    INLAY_RETURN_IF_ERROR(admitDevice(options));
    StatusOr<std::shared_ptr<Device>> device = shareDevice(options.device, *opened.plan);
    if (!device.isOk())
      return Status(device.status().code(), device.status().message() + adviseNone(*opened.plan));
    opened.device = std::move(*device);
  }
  auto program = loadRecovering(opened.plan, opened.device, *host, options.callbacks, options.runners,
                                host::getHostKernelLoader(), makeRecovery(opened.device, options));
  if (!program.isOk())
    return program.status();
  opened.program = std::move(*program);
  if (options.stop)
    opened.program->stopWhen(options.stop);
  if (options.memoryLimit)
    opened.program->limitTemporaries({budget.left(), budget.left()});
  return opened;
}

/// Returns the limits of temporaries without a limit by the caller: no call can need more than the machine has. A
/// device with memory of its own refuses what it doesn't have.
static TemporaryLimits limitsOfMachine(const Device *device) {
  TemporaryLimits limits;
  long pages = sysconf(_SC_PHYS_PAGES), pageSize = sysconf(_SC_PAGESIZE);
  if (pages > 0 && pageSize > 0)
    limits.host = static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageSize);
  if (device && device->unifiedMemory())
    limits.device = limits.host;
  return limits;
}

StatusOr<LoadedProgram> loadPlan(std::shared_ptr<const Plan> plan, const OpenOptions &options) {
  Budget budget(options.memoryLimit ? options.memoryLimit : UINT64_MAX); // a plan of this process is trusted
  return guard([&] { return load(std::move(plan), options, budget); });
}

static StatusOr<LoadedProgram> open(const std::string &path, const OpenOptions &options) {
  bool needsDevice = !vulkan::wantsNoDevice(options.device) && hasDeviceKernels(path);
  if (needsDevice)
    INLAY_RETURN_IF_ERROR(admitDevice(options));
  EarlyDrivers drivers(needsDevice);
  Budget budget(options.memoryLimit ? options.memoryLimit : kDefaultMemoryLimit);
  ContainerReadOptions reading;
  reading.publicKeyFile = options.publicKeyFile;
  reading.memoryLimit = options.memoryLimit;
  reading.budget = &budget;
  StatusOr<ContainerContents> saved = readContainer(path, reading);
  if (!saved.isOk())
    return saved.status();
  StatusOr<LoadedProgram> opened = load(std::move(saved->plan), options, budget);
  if (!opened.isOk())
    return Status(opened.status().code(), fmt::format("'{}' can't be loaded: {}", path, opened.status().message()));
  opened->info = std::move(saved->info);
  if (!options.memoryLimit)
    opened->program->limitTemporaries(limitsOfMachine(opened->device.get()));
  return opened;
}

StatusOr<LoadedProgram> openProgram(const std::string &path, const OpenOptions &options) {
  return guard([&] { return open(path, options); });
}

} // namespace inlay::rt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands behind the mgpu* entry points: modules, functions, memory and launches on one device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H
#define INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H

#include "inlay/Runtime/Core/Device.h"

#include <map>
#include <mutex>

namespace inlay::rt::vulkan::mgpu {

/// One kernel of a module; its pipelines are kept per number of buffers.
struct Function {
  std::shared_ptr<const std::vector<uint32_t>> spirv;
  std::string name;
  std::mutex mutex;
  std::map<size_t, std::shared_ptr<DeviceEngine>> engines; ///< guarded by `mutex`
};

/// A loaded binary. Functions live as long as it.
struct Module {
  std::shared_ptr<const std::vector<uint32_t>> spirv;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Function>> functions; ///< guarded by `mutex`
};

/// Memory that a kernel is given: a host address and its size in bytes.
struct Argument {
  void *data;
  size_t bytes;
};

/// Thread-safe. Opens the device at first use and keeps it to the end of the process.
class Launcher {
public:
  static Launcher &get();

  StatusOr<void *> allocate(size_t bytes);
  /// False if `data` wasn't allocated here.
  bool release(void *data);

  /// Runs and waits. Memory from `allocate` is used where it lies, other memory is copied in and out.
  Status launch(Function &function, const std::array<int64_t, 3> &grid, const std::vector<Argument> &arguments);

private:
  StatusOr<std::shared_ptr<Device>> device();
  StatusOr<std::shared_ptr<DeviceEngine>> engine(Device &device, Function &function, size_t buffers);
  std::shared_ptr<DeviceBuffer> find(const Argument &argument);

  std::mutex mutex_;
  std::shared_ptr<Device> device_;                               ///< guarded by `mutex_`
  std::map<void *, std::shared_ptr<DeviceBuffer>> deviceMemory_; ///< guarded by `mutex_`
  std::map<void *, std::unique_ptr<std::byte[]>> hostMemory_;    ///< guarded by `mutex_`
};

} // namespace inlay::rt::vulkan::mgpu

#endif // INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H

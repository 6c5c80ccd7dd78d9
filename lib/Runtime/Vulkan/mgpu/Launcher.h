// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launcher: the implementation of the mgpu* entry points: modules, functions, memory and launches on one device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H
#define INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H

#include "inlay/Runtime/Core/Device.h"

#include <map>
#include <mutex>

namespace inlay::rt::vulkan::mgpu {

/// A kernel of a module. Its pipelines are kept per number of buffers.
struct Function {
  std::shared_ptr<const std::vector<uint32_t>> spirv;
  std::string name;
  std::mutex mutex;
  std::map<size_t, std::shared_ptr<DeviceEngine>> engines; ///< Guarded by `mutex`.
};

/// A loaded binary. It owns its functions.
struct Module {
  std::shared_ptr<const std::vector<uint32_t>> spirv;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Function>> functions; ///< Guarded by `mutex`.
};

/// Memory that a kernel gets: a host address and its size in bytes.
struct Argument {
  void *data;
  size_t bytes;
};

/// Launches kernels. Thread-safe. Opens the device at first use and keeps it until the process exits.
class Launcher {
public:
  static Launcher &get();

  StatusOr<void *> allocate(size_t bytes);
  /// Frees memory. Returns false if `data` wasn't allocated by `allocate`.
  bool release(void *data);

  /// Launches a kernel and waits. Memory from `allocate` is used in place; other memory is copied in and out.
  Status launch(Function &function, const std::array<int64_t, 3> &grid, const std::vector<Argument> &arguments);

private:
  StatusOr<std::shared_ptr<Device>> device();
  StatusOr<std::shared_ptr<DeviceEngine>> engine(Device &device, Function &function, size_t buffers);
  std::shared_ptr<DeviceBuffer> find(const Argument &argument);

  std::mutex mutex_;
  std::shared_ptr<Device> device_;                               ///< Guarded by `mutex_`.
  std::map<void *, std::shared_ptr<DeviceBuffer>> deviceMemory_; ///< Guarded by `mutex_`.
  std::map<void *, std::unique_ptr<std::byte[]>> hostMemory_;    ///< Guarded by `mutex_`.
};

} // namespace inlay::rt::vulkan::mgpu

#endif // INLAY_LIB_RUNTIME_VULKAN_MGPU_LAUNCHER_H

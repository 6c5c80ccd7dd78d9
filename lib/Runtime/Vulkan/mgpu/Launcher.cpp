// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements modules, memory and launches for upstream MLIR's runtime interface. Mgpu.cpp has the C functions. Plans
// do not use it.

#include "Launcher.h"

#include "Runtime/Vulkan/Pipeline/SpirvEntry.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <fmt/format.h>

#include <new>

namespace inlay::rt::vulkan::mgpu {

Launcher &Launcher::get() {
  static Launcher *launcher = new Launcher; // never destroyed: at exit the driver may have been unloaded before
  return *launcher;
}

StatusOr<std::shared_ptr<Device>> Launcher::device() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!device_) {
    StatusOr<std::shared_ptr<Device>> opened = openDevice("");
    if (!opened.isOk())
      return opened.status();
    device_ = std::move(*opened);
  }
  return device_;
}

StatusOr<void *> Launcher::allocate(size_t bytes) {
  StatusOr<std::shared_ptr<Device>> target = device();
  if (!target.isOk())
    return target.status();
  bytes = bytes ? bytes : 1;
  if (!(*target)->unifiedMemory()) {
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]);
    if (!memory)
      return Status(StatusCode::ResourceExhausted, fmt::format("out of host memory for {} bytes", bytes));
    void *data = memory.get();
    std::lock_guard<std::mutex> lock(mutex_);
    hostMemory_.emplace(data, std::move(memory));
    return data;
  }
  StatusOr<std::shared_ptr<DeviceBuffer>> buffer = (*target)->allocate(bytes);
  if (!buffer.isOk())
    return buffer.status();
  void *data = (*buffer)->hostPointer();
  std::lock_guard<std::mutex> lock(mutex_);
  deviceMemory_.emplace(data, std::move(*buffer));
  return data;
}

bool Launcher::release(void *data) {
  std::lock_guard<std::mutex> lock(mutex_);
  return deviceMemory_.erase(data) + hostMemory_.erase(data) > 0;
}

std::shared_ptr<DeviceBuffer> Launcher::find(const Argument &argument) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = deviceMemory_.find(argument.data);
  return it != deviceMemory_.end() && argument.bytes <= it->second->size() ? it->second : nullptr;
}

StatusOr<std::shared_ptr<DeviceEngine>> Launcher::engine(Device &device, Function &function, size_t buffers) {
  std::lock_guard<std::mutex> lock(function.mutex);
  std::shared_ptr<DeviceEngine> &slot = function.engines[buffers];
  if (slot)
    return slot;
  StatusOr<SpirvEntry> entry = findEntry(*function.spirv, function.name);
  if (!entry.isOk())
    return entry.status();
  Engine engine;
  engine.name = function.name;
  engine.arguments = static_cast<uint32_t>(buffers);
  Kernel &kernel = engine.kernels.emplace_back();
  kernel.name = function.name;
  kernel.spirv = *function.spirv;
  kernel.bindings.assign(buffers, Access::ReadWrite);
  kernel.block = entry->localSize.value_or(std::array<uint32_t, 3>{1, 1, 1});
  Dispatch &dispatch = engine.dispatches.emplace_back();
  for (uint32_t i = 0; i < buffers; ++i)
    dispatch.buffers.push_back(i);
  // The grid is passed as three dims of an input, so one engine serves all launches.
  dispatch.grid = {Expr::dim(0, 0), Expr::dim(0, 1), Expr::dim(0, 2)};
  StatusOr<std::shared_ptr<DeviceEngine>> loaded = device.load(engine);
  if (loaded.isOk()) {
    INLAY_RETURN_IF_ERROR((*loaded)->wait()); // engines that fail are not stored
    slot = *loaded;
  }
  return loaded;
}

Status Launcher::launch(Function &function, const std::array<int64_t, 3> &grid,
                        const std::vector<Argument> &arguments) {
  StatusOr<std::shared_ptr<Device>> target = device();
  if (!target.isOk())
    return target.status();
  Device &device = **target;
  StatusOr<std::shared_ptr<DeviceEngine>> engine = this->engine(device, function, arguments.size());
  if (!engine.isOk())
    return engine.status();
  std::vector<std::shared_ptr<DeviceBuffer>> buffers;
  std::map<void *, std::shared_ptr<DeviceBuffer>> copies; // one buffer for memory that is passed twice
  for (const Argument &argument : arguments) {
    std::shared_ptr<DeviceBuffer> buffer = find(argument);
    if (!buffer && copies.count(argument.data) && copies[argument.data]->size() >= argument.bytes)
      buffer = copies[argument.data];
    if (!buffer) {
      StatusOr<std::shared_ptr<DeviceBuffer>> made = device.allocate(argument.bytes);
      if (!made.isOk())
        return made.status();
      buffer = *made;
      INLAY_RETURN_IF_ERROR(device.upload(*buffer, argument.data, argument.bytes));
      copies[argument.data] = buffer;
    }
    buffers.push_back(std::move(buffer));
  }
  StatusOr<std::unique_ptr<DeviceCommand>> command =
      device.record(**engine, buffers, {std::vector<int64_t>(grid.begin(), grid.end())});
  if (!command.isOk())
    return command.status();
  INLAY_RETURN_IF_ERROR(device.run({command->get()}));
  for (auto &[data, buffer] : copies)
    INLAY_RETURN_IF_ERROR(device.download(*buffer, data, buffer->size()));
  return Status::ok();
}

} // namespace inlay::rt::vulkan::mgpu

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills a device buffer: in place if the host can see it, else through a copy. Runtime/Vulkan/VulkanDevice.cpp
// implements the rest of the interface.

#include "inlay/Runtime/Core/Device.h"

#include <fmt/format.h>

#include <memory>
#include <new>

namespace inlay::rt {

Status Device::fill(DeviceBuffer &buffer, size_t bytes, BufferWriter write) {
  if (!write)
    return {StatusCode::InvalidArgument, "expected a writer for the buffer, but got null"};
  if (bytes > buffer.size())
    return {StatusCode::InvalidArgument,
            fmt::format("expected at most {} bytes to write, but got {}", buffer.size(), bytes)};
  if (void *pointer = buffer.hostPointer()) {
    write(pointer);
    return Status::ok();
  }
  std::unique_ptr<char[]> made(new (std::nothrow) char[bytes]);
  if (!made)
    return {StatusCode::ResourceExhausted,
            fmt::format("out of memory for {} bytes that are copied to the device", bytes)};
  write(made.get());
  return upload(buffer, made.get(), bytes);
}

} // namespace inlay::rt

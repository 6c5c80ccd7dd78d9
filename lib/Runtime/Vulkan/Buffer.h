// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A range of device memory as the executor sees it.

#ifndef INLAY_LIB_RUNTIME_VULKAN_BUFFER_H
#define INLAY_LIB_RUNTIME_VULKAN_BUFFER_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt::vulkan {

class Buffer final : public DeviceBuffer {
public:
  static StatusOr<std::shared_ptr<Buffer>> create(std::shared_ptr<Context> context, uint64_t bytes) {
    StatusOr<MemoryRange> range = context->memory.allocate(bytes);
    if (!range.isOk())
      return range.status();
    return std::shared_ptr<Buffer>(new Buffer(std::move(context), *range));
  }
  ~Buffer() override { context_->memory.release(range_); }

  size_t size() const override { return range_.size; }
  void *hostPointer() const override { return range_.hostPointer(); }
  const MemoryRange &range() const { return range_; }

private:
  Buffer(std::shared_ptr<Context> context, const MemoryRange &range) : context_(std::move(context)), range_(range) {}

  std::shared_ptr<Context> context_;
  MemoryRange range_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_BUFFER_H

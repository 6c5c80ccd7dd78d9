// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffer: a range of device memory that implements DeviceBuffer.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_BUFFER_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_BUFFER_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Trace.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace inlay::rt::vulkan {

class Buffer final : public DeviceBuffer {
public:
  static StatusOr<std::shared_ptr<Buffer>> create(std::shared_ptr<Context> context, uint64_t bytes) {
    std::shared_ptr<Buffer> buffer(new Buffer(std::move(context)));
    StatusOr<MemoryRange> range = buffer->context_->memory.allocate(bytes);
    if (!range.isOk())
      return range.status();
    buffer->range_ = *range;
    return buffer;
  }
  /// Imports host memory that `owner`, or else the caller, keeps alive. Returns null if the device can't use it in
  /// place.
  static std::shared_ptr<Buffer> importHost(std::shared_ptr<Context> context, const void *data, uint64_t bytes,
                                            std::shared_ptr<const void> owner) {
    uint64_t alignment = context->info.hostImportAlignment;
    uint64_t offset = alignment ? reinterpret_cast<uintptr_t>(data) % alignment : 0;
    if (!alignment || offset % context->info.bindingAlignment || context->isForked())
      return nullptr;
    std::shared_ptr<Buffer> buffer(new Buffer(std::move(context)));
    buffer->imported_ = buffer->context_->memory.importBlock(data, bytes, alignment);
    if (!buffer->imported_)
      return nullptr;
    buffer->imported_->imported = ImportedMemory(*buffer->context_, std::move(owner));
    buffer->range_ = {buffer->imported_.get(), offset, bytes};
    return buffer;
  }
  ~Buffer() override {
    if (!imported_ && range_.block && !context_->isForked())
      context_->memory.release(range_);
  }

  /// Sets the writer of the buffer's bytes, for host-visible memory. It runs when the buffer is first used, or
  /// immediately if the buffer is already in use.
  void fill(BufferWriter write) {
    std::lock_guard<std::mutex> lock(filling_);
    if (isUsed_)
      write(hostPointer());
    else
      write_ = std::move(write);
  }
  /// Runs the pending writer. Must be called before the bytes are read or a command that uses them is recorded.
  void prepare() {
    if (isUsed_)
      return;
    std::lock_guard<std::mutex> lock(filling_);
    if (write_) {
      TraceSpan span("upload", "upload");
      write_(hostPointer());
      write_ = nullptr; // kept until here, in case the trace has no memory
    }
    isUsed_ = true;
  }

  size_t size() const override { return range_.size; }
  void *hostPointer() const override { return range_.hostPointer(); }
  const MemoryRange &range() const { return range_; }

private:
  explicit Buffer(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  MemoryRange range_; ///< Without a block if the memory could not be allocated.
  std::mutex filling_;
  BufferWriter write_;                    ///< The pending writer; guarded by `filling_`.
  std::atomic<bool> isUsed_ = false;      ///< Set with `filling_` locked.
  std::unique_ptr<MemoryBlock> imported_; ///< The imported block of `range_`; null if the range is from the pool.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_BUFFER_H

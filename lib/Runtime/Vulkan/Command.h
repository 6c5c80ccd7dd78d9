// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine bound to buffers and recorded: command buffer, descriptor sets, scratch memory.

#ifndef INLAY_LIB_RUNTIME_VULKAN_COMMAND_H
#define INLAY_LIB_RUNTIME_VULKAN_COMMAND_H

#include "Buffer.h"
#include "Engine.h"

#include "inlay/Runtime/Vulkan/HazardTracker.h"

namespace inlay::rt::vulkan {

/// Keeps its engine and buffers alive. May be submitted again when the last submission has finished.
class Command final : public DeviceCommand {
public:
  static StatusOr<std::unique_ptr<Command>> record(std::shared_ptr<Context> context,
                                                   std::shared_ptr<LoadedEngine> engine,
                                                   const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                   const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch);

  VkCommandBuffer handle() const { return commands_; }
  /// Barriers between dispatches, for tests.
  uint32_t barriers() const { return barriers_; }

private:
  /// A dispatch with its expressions evaluated.
  struct Work {
    const Dispatch *dispatch;
    std::array<int64_t, 3> grid;
    std::vector<uint32_t> pushConstants;
    VkDescriptorSet set = VK_NULL_HANDLE;
  };

  Command(std::shared_ptr<Context> context, std::shared_ptr<LoadedEngine> engine)
      : context_(std::move(context)), engine_(std::move(engine)) {}

  const Kernel &kernelOf(const Work &work) const { return engine_->engine().kernels[work.dispatch->kernel]; }
  Status bindArguments(const std::vector<std::shared_ptr<DeviceBuffer>> &arguments);
  Status evaluate(const InputDims &inputs);
  StatusOr<Work> evaluateDispatch(const Dispatch &dispatch, const InputDims &inputs) const;
  Status bindScratch(const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch);
  Status checkRanges() const;
  std::string nameBuffer(uint32_t buffer) const;
  Status allocateSets();
  void writeSet(const Work &work) const;
  Status createCommands();
  Status recordAll();
  void recordWork(const Work &work, HazardTracker &hazards);
  void recordBarrier(bool toHost);

  std::shared_ptr<Context> context_;
  std::shared_ptr<LoadedEngine> engine_;
  std::vector<std::shared_ptr<DeviceBuffer>> arguments_;
  std::shared_ptr<DeviceBuffer> scratch_;
  std::vector<MemoryRange> ranges_; ///< per engine-local buffer number
  std::vector<Work> work_;
  DescriptorPoolHandle descriptors_;
  CommandPoolHandle pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  uint32_t barriers_ = 0;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_COMMAND_H

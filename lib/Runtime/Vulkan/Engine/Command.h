// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command: an engine bound to buffers and recorded, with command buffers, descriptor sets and scratch memory.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_COMMAND_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_COMMAND_H

#include "Buffer.h"
#include "Runtime/Vulkan/Memory/TexelViews.h"
#include "Timestamps.h"
#include "VulkanEngine.h"

#include "HazardTracker.h"

namespace inlay::rt::vulkan {

/// A recorded engine. It keeps its engine and buffers alive. It may be submitted again after the last submission has
/// finished.
///
/// If all pipelines exist, it is recorded in one part. Otherwise parts are recorded during the first submission, as
/// pipelines become ready, so that the device can start early. Each part doubles the number of recorded dispatches, so
/// that there are few parts.
class Command final : public DeviceCommand {
public:
  static StatusOr<std::unique_ptr<Command>> record(std::shared_ptr<Context> context,
                                                   std::shared_ptr<VulkanEngine> engine,
                                                   const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                   const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch);

  struct Part {
    DescriptorPoolHandle descriptors;
    VkCommandBuffer commands = VK_NULL_HANDLE;
  };
  /// The parts recorded so far, in order.
  const std::vector<Part> &parts() const { return parts_; }
  bool isComplete() const { return !parts_.empty() && recorded_ == work_.size(); }
  /// Waits for more pipelines and records one more part.
  Status recordMore();

  /// Makes the command use other arguments. It is recorded again, in parts, when it is submitted.
  void rebind(const std::vector<std::shared_ptr<DeviceBuffer>> &arguments);

  /// Returns a variant with a barrier and timestamps around each dispatch. It is recorded at the first call.
  StatusOr<VkCommandBuffer> recordTimed();
  /// Returns the timestamps of the variant's last run, by dispatch. The run must have finished.
  StatusOr<std::vector<DispatchTicks>> readTicks() const;

  /// Returns the number of barriers between dispatches of a part, for tests.
  uint32_t barriers() const { return barriers_; }

private:
  /// A dispatch with its expressions evaluated.
  struct Work {
    uint32_t number;
    const Dispatch *dispatch;
    std::array<int64_t, 3> grid;
    std::vector<uint32_t> pushConstants;
    VkDescriptorSet set = VK_NULL_HANDLE;
  };

  Command(std::shared_ptr<Context> context, std::shared_ptr<VulkanEngine> engine)
      : context_(std::move(context)), engine_(std::move(engine)), views_(*context_) {}

  const Kernel &kernelOf(const Work &work) const { return engine_->engine().kernels[work.dispatch->kernel]; }
  Status bindArguments(const std::vector<std::shared_ptr<DeviceBuffer>> &arguments);
  Status evaluate(const InputDims &inputs);
  StatusOr<Work> evaluateDispatch(uint32_t number, const InputDims &inputs) const;
  Status bindScratch(const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch);
  Status checkRanges() const;
  std::string nameBuffer(uint32_t buffer) const;
  Status allocateSets(Part &part, size_t begin, size_t end);
  Status writeSet(const Work &work);
  Status createPool();
  Status allocateCommands(VkCommandBuffer &commands) const;
  StatusOr<size_t> waitForMore();
  void prepareArguments(size_t begin, size_t end) const;
  Status recordPart();
  Status recordDispatches(VkCommandBuffer commands, size_t begin, size_t end);
  Status recordAllTimed();
  Status annotate(const Status &status) const;
  bool needsBarrier(const Work &work, HazardTracker &hazards) const;
  void recordWork(VkCommandBuffer commands, const Work &work) const;
  void recordBarrier(VkCommandBuffer commands, bool toHost) const;

  std::shared_ptr<Context> context_;
  std::shared_ptr<VulkanEngine> engine_;
  std::vector<std::shared_ptr<DeviceBuffer>> arguments_;
  std::shared_ptr<DeviceBuffer> scratch_;
  std::vector<MemoryRange> ranges_; ///< Per engine-local buffer number.
  std::vector<Work> work_;
  TexelViews views_;
  CommandPoolHandle pool_;
  std::vector<Part> parts_;
  size_t recorded_ = 0;     ///< Number of elements of `work_` that the parts contain.
  QueryPoolHandle queries_; ///< Two queries per element of `work_`.
  VkCommandBuffer timed_ = VK_NULL_HANDLE;
  uint32_t barriers_ = 0;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_COMMAND_H

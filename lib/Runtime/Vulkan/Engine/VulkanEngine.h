// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VulkanEngine: the pipelines of an engine on one device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt::vulkan {

/// The pipelines are created by the context's builder, starting in `load`. Everything else is immutable, so calls can
/// share the engine.
class VulkanEngine final : public DeviceEngine, public std::enable_shared_from_this<VulkanEngine> {
public:
  /// Checks the engine against the device and starts to create its pipelines. Copies what recording needs, so `engine`
  /// need not outlive the result.
  static StatusOr<std::shared_ptr<VulkanEngine>> load(std::shared_ptr<Context> context, const Engine &engine);

  StatusOr<size_t> scratchBytes(const InputDims &inputs) const override;
  Status wait() override;
  Status state() const override;

  const Engine &engine() const { return engine_; }
  /// Return true if there is nothing to wait for, for one kernel or for all.
  bool isReady(uint32_t kernel) const { return pipelines_[kernel]->isDone(); }
  bool isReady() const;
  /// Like `wait`, for one kernel or for all. The message names only the kernel.
  Status waitForPipeline(uint32_t kernel);
  Status waitForPipelines();
  /// Returns a pipeline. Valid after one of these functions has returned ok.
  const Pipeline &pipeline(uint32_t kernel) const { return pipelines_[kernel]->pipeline(); }

private:
  VulkanEngine(std::shared_ptr<Context> context, const Engine &engine);

  Status startPipeline(const Kernel &kernel);
  Status failureOf(size_t kernel) const;
  Status findFailure() const;
  Status annotate(const Status &status) const;

  std::shared_ptr<Context> context_;
  Engine engine_;                                ///< Without SPIR-V.
  std::vector<PipelineBuilder::Task> pipelines_; ///< Per kernel.
  std::atomic<bool> isSaved_{false};             ///< True once the pipeline cache with these pipelines was saved.
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H

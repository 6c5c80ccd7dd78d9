// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine's pipelines on one device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt::vulkan {

/// Its pipelines are made by the context's builder, from `load` on; otherwise immutable, so calls share it freely.
class VulkanEngine final : public DeviceEngine, public std::enable_shared_from_this<VulkanEngine> {
public:
  /// Checks the engine against the device and starts with its pipelines. Copies what recording needs: `engine` may die.
  static StatusOr<std::shared_ptr<VulkanEngine>> load(std::shared_ptr<Context> context, const Engine &engine);

  StatusOr<size_t> scratchBytes(const InputDims &inputs) const override;
  Status wait() override;
  Status state() const override;

  const Engine &engine() const { return engine_; }
  /// Whether nothing has to be waited for, of one kernel or of all.
  bool isReady(uint32_t kernel) const { return pipelines_[kernel]->isDone(); }
  bool isReady() const;
  /// `wait`, for one kernel or for all, with a message that names the kernel alone.
  Status waitForPipeline(uint32_t kernel);
  Status waitForPipelines();
  /// Once one of these has returned ok.
  const Pipeline &pipeline(uint32_t kernel) const { return pipelines_[kernel]->pipeline(); }

private:
  VulkanEngine(std::shared_ptr<Context> context, const Engine &engine);

  Status startPipeline(const Kernel &kernel);
  Status failureOf(size_t kernel) const;
  Status findFailure() const;
  Status annotate(const Status &status) const;

  std::shared_ptr<Context> context_;
  Engine engine_;                                ///< without SPIR-V
  std::vector<PipelineBuilder::Task> pipelines_; ///< per kernel
  std::atomic<bool> isSaved_{false};             ///< the driver's cache with them
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_VULKANENGINE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine's pipelines on one device.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_H

#include "Context.h"

#include "inlay/Runtime/Core/Device.h"

namespace inlay::rt::vulkan {

/// One kernel ready to dispatch.
struct Pipeline {
  SetLayoutHandle setLayout;
  PipelineLayoutHandle layout;
  PipelineHandle pipeline;
};

/// Immutable after `load`, so calls share it freely.
class LoadedEngine final : public DeviceEngine, public std::enable_shared_from_this<LoadedEngine> {
public:
  /// Checks the engine against the device and builds its pipelines. Copies what recording needs: `engine` may die.
  static StatusOr<std::shared_ptr<LoadedEngine>> load(std::shared_ptr<Context> context, const Engine &engine);

  StatusOr<size_t> scratchBytes(const InputDims &inputs) const override;

  const Engine &engine() const { return engine_; }
  const Pipeline &pipeline(uint32_t kernel) const { return pipelines_[kernel]; }

private:
  LoadedEngine(std::shared_ptr<Context> context, const Engine &engine);

  Status buildPipeline(const Kernel &kernel, const std::vector<uint32_t> &spirv);
  StatusOr<VkPipeline> createPipeline(const Kernel &kernel, const std::string &entry, VkShaderModule shader,
                                      VkPipelineLayout layout) const;

  std::shared_ptr<Context> context_;
  Engine engine_; ///< without SPIR-V
  std::vector<Pipeline> pipelines_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_H

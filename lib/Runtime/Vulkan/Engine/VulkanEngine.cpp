// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates the layouts, shaders and pipelines of an engine. Pipeline/PipelineBuilder.cpp runs this on threads.
// Command.cpp records dispatches.

#include "VulkanEngine.h"
#include "Runtime/Vulkan/Device/Results.h"
#include "Runtime/Vulkan/Memory/TexelViews.h"
#include "Scratch.h"

#include "Runtime/Vulkan/Pipeline/SpirvEntry.h"
#include "inlay/Runtime/Vulkan/Limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt::vulkan {

VulkanEngine::VulkanEngine(std::shared_ptr<Context> context, const Engine &engine) : context_(std::move(context)) {
  engine_.name = engine.name;
  engine_.arguments = engine.arguments;
  engine_.scratch = engine.scratch;
  engine_.dispatches = engine.dispatches;
  for (const Kernel &kernel : engine.kernels) {
    Kernel &copy = engine_.kernels.emplace_back();
    copy.name = kernel.name;
    copy.bindings = kernel.bindings;
    copy.pushConstants = kernel.pushConstants;
    copy.block = kernel.block;
    copy.requirements = kernel.requirements;
    copy.kinds = kernel.kinds;
  }
}

static StatusOr<SetLayoutHandle> createSetLayout(const DeviceTable &table, const Kernel &kernel) {
  size_t bindings = kernel.bindings.size();
  std::vector<VkDescriptorSetLayoutBinding> list(bindings);
  for (size_t i = 0; i < bindings; ++i)
    list[i] = {static_cast<uint32_t>(i), descriptorType(kernel.kind(i)), 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = static_cast<uint32_t>(bindings);
  info.pBindings = list.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(checkResult("vkCreateDescriptorSetLayout",
                                    table.vk.vkCreateDescriptorSetLayout(table.device, &info, nullptr, &layout)));
  return SetLayoutHandle(table, layout);
}

static StatusOr<PipelineLayoutHandle> createLayout(const DeviceTable &table, VkDescriptorSetLayout setLayout,
                                                   uint32_t pushConstants) {
  VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushConstants * 4};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &setLayout;
  info.pushConstantRangeCount = pushConstants ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreatePipelineLayout", table.vk.vkCreatePipelineLayout(table.device, &info, nullptr, &layout)));
  return PipelineLayoutHandle(table, layout);
}

static StatusOr<ShaderModuleHandle> createShader(const DeviceTable &table, const std::vector<uint32_t> &spirv) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = spirv.size() * sizeof(uint32_t);
  info.pCode = spirv.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(
      checkResult("vkCreateShaderModule", table.vk.vkCreateShaderModule(table.device, &info, nullptr, &shader)));
  return ShaderModuleHandle(table, shader);
}

static StatusOr<VkPipeline> createPipeline(const Context &context, const Kernel &kernel, const std::string &entry,
                                           VkShaderModule shader, VkPipelineLayout layout) {
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  subgroup.requiredSubgroupSize = requiredSubgroupSize(kernel);
  bool choosable = context.caps().minSubgroupSize != context.caps().maxSubgroupSize;
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.pNext = choosable && subgroup.requiredSubgroupSize ? &subgroup : nullptr;
  if (subgroup.requiredSubgroupSize && context.caps().fullSubgroups)
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT; // blocks consist of full subgroups
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = entry.c_str();
  info.layout = layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(checkResult(
      "vkCreateComputePipelines",
      context.vk.vkCreateComputePipelines(context.device, context.pipelines.get(), 1, &info, nullptr, &pipeline)));
  return pipeline;
}

/// Creates all Vulkan objects of a kernel. It may read only those parts of the kernel that `PipelineTask::fits`
/// compares.
static StatusOr<Pipeline> buildPipeline(const Context &context, const Kernel &kernel, const std::string &entry) {
  StatusOr<SetLayoutHandle> setLayout = createSetLayout(context, kernel);
  if (!setLayout.isOk())
    return setLayout.status();
  StatusOr<PipelineLayoutHandle> layout = createLayout(context, setLayout->get(), kernel.pushConstants);
  if (!layout.isOk())
    return layout.status();
  StatusOr<ShaderModuleHandle> shader = createShader(context, kernel.spirv);
  if (!shader.isOk())
    return shader.status();
  StatusOr<VkPipeline> pipeline = createPipeline(context, kernel, entry, shader->get(), layout->get());
  if (!pipeline.isOk())
    return pipeline.status();
  return Pipeline{std::move(*setLayout), std::move(*layout), PipelineHandle(context, *pipeline)};
}

Status VulkanEngine::startPipeline(const Kernel &kernel) {
  INLAY_RETURN_IF_ERROR(checkKernelLimits(context_->caps(), kernel));
  StatusOr<SpirvEntry> entry = findEntry(kernel.spirv, kernel.name);
  if (!entry.isOk())
    return {entry.status().code(), fmt::format("kernel '{}': {}", kernel.name, entry.status().message())};
  if (entry->localSize && *entry->localSize != kernel.block)
    return {StatusCode::InvalidArgument,
            fmt::format("kernel '{}': expected a block of {}x{}x{}, but its SPIR-V has {}x{}x{}", kernel.name,
                        kernel.block[0], kernel.block[1], kernel.block[2], (*entry->localSize)[0],
                        (*entry->localSize)[1], (*entry->localSize)[2])};
  // The raw pointer is safe: the builder's threads end before the context does.
  auto create = [context = context_.get()](const Kernel &kernel, const std::string &entry) {
    return buildPipeline(*context, kernel, entry);
  };
  pipelines_.push_back(context_->builder.start(kernel, entry->name, create));
  return Status::ok();
}

Status VulkanEngine::failureOf(size_t kernel) const {
  Status status = pipelines_[kernel]->status();
  if (status.isOk())
    return status;
  return {status.code(), fmt::format("kernel '{}': {}", engine_.kernels[kernel].name, status.message())};
}

Status VulkanEngine::findFailure() const {
  for (size_t i = 0; i < pipelines_.size(); ++i)
    INLAY_RETURN_IF_ERROR(failureOf(i));
  return Status::ok();
}

bool VulkanEngine::isReady() const {
  return std::all_of(pipelines_.begin(), pipelines_.end(), [](const auto &task) { return task->isDone(); });
}

Status VulkanEngine::waitForPipeline(uint32_t kernel) {
  context_->builder.wait({pipelines_[kernel]});
  return failureOf(kernel);
}

Status VulkanEngine::waitForPipelines() {
  context_->builder.wait(pipelines_);
  INLAY_RETURN_IF_ERROR(findFailure());
  if (!isSaved_.exchange(true) && !context_->isForked())
    context_->pipelines.save();
  return Status::ok();
}

Status VulkanEngine::annotate(const Status &status) const {
  return status.isOk() ? status : Status(status.code(), fmt::format("engine '{}': {}", engine_.name, status.message()));
}

Status VulkanEngine::wait() { return annotate(waitForPipelines()); }

Status VulkanEngine::state() const { return annotate(findFailure()); }

StatusOr<size_t> VulkanEngine::scratchBytes(const InputDims &inputs) const {
  StatusOr<ScratchLayout> layout = layOutScratch(engine_, context_->caps(), inputs);
  if (!layout.isOk())
    return annotate(layout.status());
  return size_t(layout->bytes);
}

StatusOr<std::shared_ptr<VulkanEngine>> VulkanEngine::load(std::shared_ptr<Context> context, const Engine &engine) {
  std::shared_ptr<VulkanEngine> loaded(new VulkanEngine(std::move(context), engine));
  for (const Kernel &kernel : engine.kernels)
    if (Status status = loaded->startPipeline(kernel); !status.isOk())
      return loaded->annotate(status);
  return loaded;
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds, records and re-records the dispatches of an engine. VulkanEngine.cpp has its pipelines, HazardTracker.cpp
// the barriers, and Scratch.cpp the layout of scratch memory.

#include "Command.h"
#include "Runtime/Vulkan/Device/Results.h"
#include "Scratch.h"

#include "inlay/Runtime/Vulkan/Limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace inlay::rt::vulkan {

/// Returns the bytes to bind. Kernels may access the whole last word of a buffer; memory is aligned to more than a
/// word.
static uint64_t boundBytes(const MemoryRange &range) { return (range.size + 3) / 4 * 4; }

Status Command::bindArguments(const std::vector<std::shared_ptr<DeviceBuffer>> &arguments) {
  const Engine &engine = engine_->engine();
  if (arguments.size() != engine.arguments)
    return {StatusCode::InvalidArgument,
            fmt::format("expected {} buffers, but got {}", engine.arguments, arguments.size())};
  arguments_ = arguments;
  for (const std::shared_ptr<DeviceBuffer> &argument : arguments_) {
    if (!argument)
      return {StatusCode::InvalidArgument, fmt::format("buffer {} is null", ranges_.size())};
    ranges_.push_back(static_cast<const Buffer &>(*argument).range());
  }
  return Status::ok();
}

StatusOr<Command::Work> Command::evaluateDispatch(uint32_t number, const InputDims &inputs) const {
  const Dispatch &dispatch = engine_->engine().dispatches[number];
  Work work{number, &dispatch, {}, {}};
  for (int i = 0; i < 3; ++i) {
    StatusOr<int64_t> count = dispatch.grid[i].evaluate(inputs);
    if (!count.isOk())
      return count.status();
    work.grid[i] = *count;
  }
  INLAY_RETURN_IF_ERROR(checkGrid(context_->caps(), work.grid));
  for (size_t i = 0; i < dispatch.pushConstants.size(); ++i) {
    StatusOr<int64_t> value = dispatch.pushConstants[i].evaluate(inputs);
    if (!value.isOk())
      return value.status();
    // Strides may be negative. Kernels compute indices modulo 2^32.
    if (*value < std::numeric_limits<int32_t>::min() || *value > int64_t(std::numeric_limits<uint32_t>::max()))
      return Status(StatusCode::InvalidArgument,
                    fmt::format("push constant {} is {}, which doesn't fit a 32-bit integer", i, *value));
    work.pushConstants.push_back(static_cast<uint32_t>(*value));
  }
  return work;
}

Status Command::evaluate(const InputDims &inputs) {
  const Engine &engine = engine_->engine();
  for (uint32_t i = 0; i < engine.dispatches.size(); ++i) {
    StatusOr<Work> work = evaluateDispatch(i, inputs);
    if (!work.isOk())
      return {work.status().code(),
              fmt::format("dispatch {} (kernel '{}'): {}", i, engine.kernels[engine.dispatches[i].kernel].name,
                          work.status().message())};
    if (work->grid[0] && work->grid[1] && work->grid[2])
      work_.push_back(std::move(*work));
  }
  return Status::ok();
}

Status Command::bindScratch(const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch) {
  StatusOr<ScratchLayout> layout = layOutScratch(engine_->engine(), context_->caps(), inputs);
  if (!layout.isOk())
    return layout.status();
  if (layout->bytes == 0)
    return Status::ok();
  if (!scratch) {
    StatusOr<std::shared_ptr<Buffer>> made = Buffer::create(context_, layout->bytes);
    if (!made.isOk())
      return made.status();
    scratch = std::move(*made);
  }
  if (scratch->size() < layout->bytes)
    return {StatusCode::InvalidArgument,
            fmt::format("expected at least {} bytes of scratch, but got {}", layout->bytes, scratch->size())};
  scratch_ = std::move(scratch);
  MemoryRange whole = static_cast<const Buffer &>(*scratch_).range();
  for (size_t i = 0; i < layout->sizes.size(); ++i)
    ranges_.push_back({whole.block, whole.offset + layout->offsets[i], layout->sizes[i]});
  return Status::ok();
}

std::string Command::nameBuffer(uint32_t buffer) const {
  uint32_t arguments = engine_->engine().arguments;
  return buffer < arguments ? fmt::format("argument {}", buffer) : fmt::format("scratch {}", buffer - arguments);
}

Status Command::checkRanges() const {
  for (const Work &work : work_)
    for (size_t i = 0; i < work.dispatch->buffers.size(); ++i) {
      uint32_t buffer = work.dispatch->buffers[i];
      Status status = checkBoundRange(context_->caps(), kernelOf(work).kind(i), boundBytes(ranges_[buffer]));
      if (!status.isOk())
        return {status.code(),
                fmt::format("kernel '{}': {}: {}", kernelOf(work).name, nameBuffer(buffer), status.message())};
    }
  return Status::ok();
}

/// Allocates the descriptor sets of a part from a separate pool.
Status Command::allocateSets(Part &part, size_t begin, size_t end) {
  uint32_t sets = 0, buffers = 0, texels = 0;
  std::vector<VkDescriptorSetLayout> layouts;
  for (size_t i = begin; i < end; ++i) {
    const Work &work = work_[i];
    for (size_t binding = 0; binding < work.dispatch->buffers.size(); ++binding)
      ++(kernelOf(work).kind(binding) == BindingKind::Storage ? buffers : texels);
    layouts.push_back(engine_->pipeline(work.dispatch->kernel).setLayout.get());
    ++sets;
  }
  std::vector<VkDescriptorPoolSize> sizes;
  if (buffers)
    sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers});
  if (texels)
    sizes.push_back({VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, texels});
  if (sizes.empty())
    return Status::ok();
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = sets;
  poolInfo.poolSizeCount = static_cast<uint32_t>(sizes.size());
  poolInfo.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(checkResult("vkCreateDescriptorPool",
                                    context_->vk.vkCreateDescriptorPool(context_->device, &poolInfo, nullptr, &pool)));
  part.descriptors = DescriptorPoolHandle(*context_, pool);
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = sets;
  info.pSetLayouts = layouts.data();
  std::vector<VkDescriptorSet> handles(sets);
  INLAY_RETURN_IF_ERROR(checkResult("vkAllocateDescriptorSets",
                                    context_->vk.vkAllocateDescriptorSets(context_->device, &info, handles.data())));
  for (size_t i = begin; i < end; ++i) {
    work_[i].set = handles[i - begin];
    INLAY_RETURN_IF_ERROR(writeSet(work_[i]));
  }
  return Status::ok();
}

Status Command::writeSet(const Work &work) {
  size_t count = work.dispatch->buffers.size();
  std::vector<VkDescriptorBufferInfo> infos(count);
  std::vector<VkBufferView> views(count);
  std::vector<VkWriteDescriptorSet> writes;
  for (size_t i = 0; i < count; ++i) {
    const MemoryRange &range = ranges_[work.dispatch->buffers[i]];
    BindingKind kind = kernelOf(work).kind(i);
    infos[i] = {range.block->buffer.get(), range.offset, boundBytes(range)};
    if (kind != BindingKind::Storage) {
      StatusOr<VkBufferView> view = views_.get(infos[i], kind);
      if (!view.isOk())
        return {view.status().code(), fmt::format("kernel '{}': {}: {}", kernelOf(work).name,
                                                  nameBuffer(work.dispatch->buffers[i]), view.status().message())};
      views[i] = *view;
    }
    VkWriteDescriptorSet &write = writes.emplace_back();
    write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = work.set;
    write.dstBinding = static_cast<uint32_t>(i);
    write.descriptorCount = 1;
    write.descriptorType = descriptorType(kind);
    write.pBufferInfo = &infos[i];
    write.pTexelBufferView = &views[i];
  }
  if (!writes.empty())
    context_->vk.vkUpdateDescriptorSets(context_->device, static_cast<uint32_t>(writes.size()), writes.data(), 0,
                                        nullptr);
  return Status::ok();
}

Status Command::createPool() {
  // Each command has a separate pool, so that threads can record at the same time.
  VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.queueFamilyIndex = context_->info.queueFamily;
  VkCommandPool pool = VK_NULL_HANDLE;
  INLAY_RETURN_IF_ERROR(checkResult("vkCreateCommandPool",
                                    context_->vk.vkCreateCommandPool(context_->device, &poolInfo, nullptr, &pool)));
  pool_ = CommandPoolHandle(*context_, pool);
  return Status::ok();
}

Status Command::allocateCommands(VkCommandBuffer &commands) const {
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  return checkResult("vkAllocateCommandBuffers",
                     context_->vk.vkAllocateCommandBuffers(context_->device, &info, &commands));
}

void Command::recordBarrier(VkCommandBuffer commands, bool toHost) const {
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                          VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT; // reads of texel buffers count as sampled reads
  if (toHost) {
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
  }
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  context_->vk.vkCmdPipelineBarrier2(commands, &dependency);
}

bool Command::needsBarrier(const Work &work, HazardTracker &hazards) const {
  const Kernel &kernel = kernelOf(work);
  std::vector<HazardTracker::Use> uses;
  for (size_t i = 0; i < kernel.bindings.size(); ++i) {
    const MemoryRange &range = ranges_[work.dispatch->buffers[i]];
    uses.push_back(
        {reinterpret_cast<uint64_t>(range.block), range.offset, range.offset + boundBytes(range), kernel.bindings[i]});
  }
  return hazards.needsBarrier(uses);
}

void Command::recordWork(VkCommandBuffer commands, const Work &work) const {
  const Pipeline &pipeline = engine_->pipeline(work.dispatch->kernel);
  context_->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline.get());
  if (work.set)
    context_->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout.get(), 0, 1,
                                         &work.set, 0, nullptr);
  if (!work.pushConstants.empty())
    context_->vk.vkCmdPushConstants(commands, pipeline.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                    static_cast<uint32_t>(work.pushConstants.size() * sizeof(uint32_t)),
                                    work.pushConstants.data());
  context_->vk.vkCmdDispatch(commands, static_cast<uint32_t>(work.grid[0]), static_cast<uint32_t>(work.grid[1]),
                             static_cast<uint32_t>(work.grid[2]));
}

Status Command::recordDispatches(VkCommandBuffer commands, size_t begin, size_t end) {
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  INLAY_RETURN_IF_ERROR(checkResult("vkBeginCommandBuffer", context_->vk.vkBeginCommandBuffer(commands, &info)));
  recordBarrier(commands, /*toHost=*/false); // wait for earlier submissions
  HazardTracker hazards;
  uint32_t barriers = 0;
  for (size_t i = begin; i < end; ++i) {
    if (needsBarrier(work_[i], hazards)) {
      recordBarrier(commands, /*toHost=*/false);
      ++barriers;
    }
    recordWork(commands, work_[i]);
  }
  if (end == work_.size())
    recordBarrier(commands, /*toHost=*/true);
  INLAY_RETURN_IF_ERROR(checkResult("vkEndCommandBuffer", context_->vk.vkEndCommandBuffer(commands)));
  barriers_ += barriers;
  return Status::ok();
}

/// Waits for the pipelines of further dispatches, as many as are recorded but at least one. Includes following
/// dispatches whose pipelines are ready. Returns the end of these dispatches.
StatusOr<size_t> Command::waitForMore() {
  size_t end = std::min(work_.size(), std::max<size_t>(1, 2 * recorded_));
  for (size_t i = recorded_; i < end; ++i)
    INLAY_RETURN_IF_ERROR(engine_->waitForPipeline(work_[i].dispatch->kernel));
  while (end < work_.size() && engine_->isReady(work_[end].dispatch->kernel)) {
    INLAY_RETURN_IF_ERROR(engine_->waitForPipeline(work_[end].dispatch->kernel));
    ++end;
  }
  if (end == work_.size())
    INLAY_RETURN_IF_ERROR(engine_->waitForPipelines());
  return end;
}

/// Fills the arguments that these dispatches use.
void Command::prepareArguments(size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i)
    for (uint32_t buffer : work_[i].dispatch->buffers)
      if (buffer < arguments_.size())
        static_cast<Buffer &>(*arguments_[buffer]).prepare();
}

Status Command::recordPart() {
  StatusOr<size_t> end = waitForMore();
  if (!end.isOk())
    return end.status();
  prepareArguments(recorded_, *end);
  Part part;
  if (!pool_.get())
    INLAY_RETURN_IF_ERROR(createPool());
  INLAY_RETURN_IF_ERROR(allocateSets(part, recorded_, *end));
  INLAY_RETURN_IF_ERROR(allocateCommands(part.commands));
  INLAY_RETURN_IF_ERROR(recordDispatches(part.commands, recorded_, *end));
  parts_.push_back(std::move(part));
  recorded_ = *end;
  return Status::ok();
}

Status Command::recordMore() { return annotate(recordPart()); }

void Command::rebind(const std::vector<std::shared_ptr<DeviceBuffer>> &arguments) {
  parts_.clear();
  recorded_ = barriers_ = 0;
  timed_ = VK_NULL_HANDLE;
  pool_ = CommandPoolHandle();
  views_ = TexelViews(*context_); // before the buffers that they refer to
  arguments_ = arguments;
  for (size_t i = 0; i < arguments_.size(); ++i)
    ranges_[i] = static_cast<const Buffer &>(*arguments_[i]).range();
}

Status Command::annotate(const Status &status) const {
  return status.isOk()
             ? status
             : Status(status.code(), fmt::format("engine '{}': {}", engine_->engine().name, status.message()));
}

/// Records the timed variant. Each timestamp waits for the kernels before it, so that the times of dispatches don't
/// overlap.
Status Command::recordAllTimed() {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  INLAY_RETURN_IF_ERROR(checkResult("vkBeginCommandBuffer", context_->vk.vkBeginCommandBuffer(timed_, &begin)));
  auto count = static_cast<uint32_t>(work_.size());
  if (count > 0)
    context_->vk.vkCmdResetQueryPool(timed_, queries_.get(), 0, 2 * count);
  for (uint32_t i = 0; i < count; ++i) {
    recordBarrier(timed_, /*toHost=*/false);
    context_->vk.vkCmdWriteTimestamp2(timed_, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, queries_.get(), 2 * i);
    recordWork(timed_, work_[i]);
    context_->vk.vkCmdWriteTimestamp2(timed_, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, queries_.get(), 2 * i + 1);
  }
  recordBarrier(timed_, /*toHost=*/true);
  return checkResult("vkEndCommandBuffer", context_->vk.vkEndCommandBuffer(timed_));
}

StatusOr<VkCommandBuffer> Command::recordTimed() {
  if (timed_)
    return timed_;
  while (!isComplete())
    if (Status status = recordMore(); !status.isOk())
      return status;
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = std::max<uint32_t>(2 * static_cast<uint32_t>(work_.size()), 1);
  VkQueryPool pool = VK_NULL_HANDLE;
  Status status =
      checkResult("vkCreateQueryPool", context_->vk.vkCreateQueryPool(context_->device, &info, nullptr, &pool));
  if (!status.isOk())
    return status;
  queries_ = QueryPoolHandle(*context_, pool);
  status = allocateCommands(timed_);
  if (status.isOk())
    status = recordAllTimed();
  if (status.isOk())
    return timed_;
  timed_ = VK_NULL_HANDLE; // the pool owns it
  return status;
}

StatusOr<std::vector<DispatchTicks>> Command::readTicks() const {
  std::vector<DispatchTicks> ticks;
  if (work_.empty())
    return ticks;
  std::vector<uint64_t> values(2 * work_.size());
  Status status = checkResult(
      "vkGetQueryPoolResults",
      context_->vk.vkGetQueryPoolResults(context_->device, queries_.get(), 0, static_cast<uint32_t>(values.size()),
                                         values.size() * sizeof(uint64_t), values.data(), sizeof(uint64_t),
                                         VK_QUERY_RESULT_64_BIT)); // no need to wait: the run has finished
  if (!status.isOk())
    return status;
  for (size_t i = 0; i < work_.size(); ++i)
    ticks.push_back({work_[i].number, values[2 * i], values[2 * i + 1]});
  return ticks;
}

StatusOr<std::unique_ptr<Command>> Command::record(std::shared_ptr<Context> context,
                                                   std::shared_ptr<VulkanEngine> engine,
                                                   const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
                                                   const InputDims &inputs, std::shared_ptr<DeviceBuffer> scratch) {
  std::unique_ptr<Command> command(new Command(std::move(context), std::move(engine)));
  Status status = command->bindArguments(arguments);
  if (status.isOk())
    status = command->evaluate(inputs);
  if (status.isOk())
    status = command->bindScratch(inputs, std::move(scratch));
  if (status.isOk())
    status = command->checkRanges();
  if (status.isOk() && command->engine_->isReady())
    status = command->recordPart();
  if (!status.isOk())
    return command->annotate(status);
  return command;
}

} // namespace inlay::rt::vulkan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../PlanBuilder.h"
#include "../VulkanFixture.h"
#include "Runtime/Vulkan/Engine/Command.h"

#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <cmath>
#include <numeric>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct VulkanDeviceTest : VulkanFixture {};

/// A fixture with device memory that the host can't access.
struct VulkanStagingTest : VulkanFixture {
  void SetUp() override {
    setenv("INLAY_VULKAN_FORCE_STAGING", "1", 1);
    VulkanFixture::SetUp();
    unsetenv("INLAY_VULKAN_FORCE_STAGING");
  }
};

std::vector<float> iota(size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

} // namespace

TEST_F(VulkanDeviceTest, AddsTwoBuffers) {
  auto a = upload(iota(1000, 0)), b = upload(iota(1000, 5)), c = upload(std::vector<float>(1000, -1));
  ASSERT_EQ(run(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(900)), {a, b, c}).message(), "");
  std::vector<float> result = download(*c);
  EXPECT_EQ(result[0], 5);
  EXPECT_EQ(result[899], 899 + 904);
  EXPECT_EQ(result[900], -1) << "beyond the count that the push constant gives";
}

TEST_F(VulkanDeviceTest, GridAndPushConstantsFollowTheInputsDims) {
  auto a = upload(iota(300, 0)), b = upload(iota(300, 0)), c = upload(std::vector<float>(300, -1));
  Expr count = Expr::binary(Expr::Op::Mul, Expr::dim(0, 0), Expr::dim(0, 1));
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), count);
  ASSERT_EQ(run(engine, {a, b, c}, {{7, 30}}).message(), "");
  EXPECT_EQ(download(*c)[209], 418);
  EXPECT_EQ(download(*c)[210], -1);
}

TEST_F(VulkanDeviceTest, AGridOfZeroRunsNothing) {
  auto a = upload(iota(8, 0)), c = upload(std::vector<float>(8, -1));
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(0));
  ASSERT_EQ(run(engine, {a, a, c}).message(), "");
  EXPECT_EQ(download(*c)[0], -1);
}

TEST_F(VulkanDeviceTest, AnEngineWithoutDispatchesRuns) {
  Engine engine;
  engine.name = "empty";
  EXPECT_EQ(run(engine, {}).message(), "");
}

TEST_F(VulkanDeviceTest, ReadsTexelsThatAKernelJustWrote) {
  auto a = upload(iota(1000, 0)), b = upload(iota(1000, 5)), c = upload(std::vector<float>(1000, -1));
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(1000));
  engine.kernels.push_back(texelKernel("copy"));
  engine.scratch = {Expr(4000), Expr(4000)};
  Dispatch copy = engine.dispatches[0];
  copy.kernel = 1;
  engine.dispatches[0].buffers = {0, 1, 4};
  copy.buffers = {4, 3};
  engine.dispatches.push_back(copy);
  copy.buffers = {3, 2}; // from scratch to an argument, after a copy from scratch to scratch
  engine.dispatches.push_back(copy);
  ASSERT_EQ(run(engine, {a, b, c}).message(), "");
  std::vector<float> result = download(*c);
  for (size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(result[i], float(2 * i + 5));
}

TEST_F(VulkanDeviceTest, ATexelBufferHasAtLeastOneTexel) {
  auto a = upload(iota(2, 0)), c = upload(iota(2, 0));
  Engine engine = elementwiseEngine(texelKernel("copy"), Expr(2));
  engine.kernels[0].kinds[0] = BindingKind::VectorTexels;
  Status status = run(engine, {a, c});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("expected at least 16 bytes for a texel, but got 8"), std::string::npos)
      << status.message();
}

/// Returns a chain through scratch: t0 = a + b, t1 = t0 * b, c = t1 + t0, d = t1 * a.
static Engine chainEngine(int64_t count) {
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(count));
  engine.kernels.push_back(binaryKernel("mul", "OpFMul"));
  engine.arguments = 4;
  engine.scratch = {Expr(count * 4), Expr(count * 4)};
  Dispatch dispatch = engine.dispatches[0];
  engine.dispatches.clear();
  auto add = [&](uint32_t kernel, std::vector<uint32_t> buffers) {
    dispatch.kernel = kernel;
    dispatch.buffers = std::move(buffers);
    engine.dispatches.push_back(dispatch);
  };
  add(0, {0, 1, 4});
  add(1, {4, 1, 5});
  add(0, {5, 4, 2});
  add(1, {5, 0, 3});
  return engine;
}

TEST_F(VulkanDeviceTest, ScratchCarriesDataAndBarriersStandWhereItFlows) {
  auto a = upload(iota(5000, 0)), b = upload(iota(5000, 1));
  auto c = upload(std::vector<float>(5000)), d = upload(std::vector<float>(5000));
  auto loaded = device->load(chainEngine(5000));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  ASSERT_EQ((*loaded)->wait().message(), "");
  auto command = device->record(**loaded, {a, b, c, d}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  EXPECT_EQ(static_cast<vulkan::Command &>(**command).parts().size(), 1u);
  EXPECT_EQ(static_cast<vulkan::Command &>(**command).barriers(), 2u) << "the last two dispatches are independent";
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(device->run({command->get()}).message(), "");
  std::vector<float> sum = download(*c), product = download(*d);
  for (float x : {0.0f, 1.0f, 77.0f, 4999.0f}) {
    float first = x + x + 1, second = first * (x + 1);
    EXPECT_FLOAT_EQ(sum[size_t(x)], second + first);
    EXPECT_FLOAT_EQ(product[size_t(x)], second * x);
  }
}

TEST_F(VulkanDeviceTest, WaitingForASubmissionWaitsForAllBefore) {
  auto a = upload(iota(5000, 0)), b = upload(std::vector<float>(5000)), c = upload(std::vector<float>(5000));
  auto loaded = device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(5000)));
  auto first = device->record(**loaded, {a, a, b}, {}), second = device->record(**loaded, {b, b, c}, {});
  ASSERT_TRUE(second.isOk()) << second.status().message();
  for (int i = 0; i < 20; ++i) {
    auto firstRun = device->submit({first->get()}), secondRun = device->submit({second->get()});
    ASSERT_TRUE(firstRun.isOk() && secondRun.isOk());
    EXPECT_LT(*firstRun, *secondRun);
    ASSERT_EQ(device->wait(*secondRun).message(), "");
    EXPECT_EQ(download(*c)[4999], 4 * 4999) << "the second submission reads results of the first";
    EXPECT_EQ(device->wait(*firstRun).message(), "");
  }
}

TEST_F(VulkanDeviceTest, TimedRunsSayWhenEachDispatchRan) {
  auto a = upload(iota(5000, 0)), b = upload(iota(5000, 1));
  auto c = upload(std::vector<float>(5000)), d = upload(std::vector<float>(5000));
  Engine engine = chainEngine(5000);
  engine.dispatches[1].grid[0] = Expr(1);
  engine.dispatches.insert(engine.dispatches.begin(), engine.dispatches[0]);
  engine.dispatches[0].grid[0] = Expr(0);
  auto loaded = device->load(engine);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  auto command = device->record(**loaded, {a, b, c, d}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  for (int i = 0; i < 3; ++i) {
    std::vector<DispatchTime> times;
    int64_t before = traceTime();
    ASSERT_EQ(device->runTimed(**command, times).message(), "");
    int64_t last = before;
    std::vector<uint32_t> numbers;
    for (const DispatchTime &time : times) {
      numbers.push_back(time.dispatch);
      EXPECT_LE(last, time.begin);
      EXPECT_LE(time.begin, time.end);
      last = time.end;
    }
    EXPECT_LE(last, traceTime());
    if (context->info.timestamps.validBits > 0) {
      EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 2, 3, 4})) << "the first has no workgroups";
    }
    ASSERT_EQ(device->run({command->get()}).message(), "") << "as before";
  }
  EXPECT_FLOAT_EQ(download(*d)[1], 6);
  EXPECT_NE(device->describeTiming().find(device->deviceName()), std::string::npos);
}

TEST_F(VulkanDeviceTest, ATimedRunOfNothing) {
  auto a = upload(iota(8, 0)), c = upload(std::vector<float>(8, -1));
  auto loaded = device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(0)));
  auto command = device->record(**loaded, {a, a, c}, {});
  std::vector<DispatchTime> times;
  EXPECT_EQ(device->runTimed(**command, times).message(), "");
  EXPECT_TRUE(times.empty());
}

TEST_F(VulkanDeviceTest, CommandsOfOneSubmissionShareScratch) {
  auto loaded = device->load(chainEngine(5000));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  auto bytes = (*loaded)->scratchBytes({});
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  EXPECT_GE(*bytes, 40000u);
  auto scratch = *device->allocate(*bytes);
  auto a = upload(iota(5000, 0)), b = upload(iota(5000, 1)), c = upload(iota(5000, 2));
  auto d = upload(std::vector<float>(5000)), e = upload(std::vector<float>(5000)), f = upload(iota(5000, 0));
  auto first = device->record(**loaded, {a, b, d, e}, {}, scratch);
  auto second = device->record(**loaded, {b, c, f, a}, {}, scratch);
  ASSERT_TRUE(first.isOk() && second.isOk());
  ASSERT_EQ(device->run({first->get(), second->get()}).message(), "");
  EXPECT_FLOAT_EQ(download(*d)[10], 21 * 11 + 21);
  EXPECT_FLOAT_EQ(download(*f)[10], 23 * 12 + 23);
  auto small = *device->allocate(*bytes - 1);
  EXPECT_NE(device->record(**loaded, {a, b, d, e}, {}, small).status().message().find("bytes of scratch, but got"),
            std::string::npos);
}

/// The recorded commands: barriers to compute (b) and to the host (h), dispatches (d).
static std::string recorded;

TEST_F(VulkanDeviceTest, ACommandStartsBehindTheOneBeforeItAndEndsBeforeTheHost) {
  auto a = upload(iota(64, 0)), b = upload(iota(64, 1)), c = upload(iota(64, 1)), d = upload(iota(64, 1));
  static PFN_vkCmdPipelineBarrier2 barrier = context->vk.vkCmdPipelineBarrier2;
  static PFN_vkCmdDispatch dispatch = context->vk.vkCmdDispatch;
  context->vk.vkCmdPipelineBarrier2 = [](VkCommandBuffer commands, const VkDependencyInfo *info) {
    VkPipelineStageFlags2 stages = info->pMemoryBarriers[0].dstStageMask;
    recorded += stages & VK_PIPELINE_STAGE_2_HOST_BIT             ? 'h'
                : stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT ? 'b'
                                                                  : '?';
    barrier(commands, info);
  };
  context->vk.vkCmdDispatch = [](VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    recorded += 'd';
    dispatch(commands, x, y, z);
  };
  ASSERT_EQ(run(chainEngine(64), {a, b, c, d}).message(), "");
  EXPECT_EQ(recorded, "bdbdbddh");
}

TEST_F(VulkanDeviceTest, CommandsOfOneSubmissionSeeEachOther) {
  constexpr size_t count = 100000;
  auto a = upload(iota(count, 0)), b = upload(std::vector<float>(count, 1)), c = upload(std::vector<float>(count));
  auto loaded = device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(int64_t(count))));
  std::vector<std::unique_ptr<DeviceCommand>> commands;
  std::vector<DeviceCommand *> order;
  for (int i = 0; i < 6; ++i) {
    auto command = i % 2 ? device->record(**loaded, {c, b, a}, {}) : device->record(**loaded, {a, b, c}, {});
    ASSERT_TRUE(command.isOk()) << command.status().message();
    commands.push_back(std::move(*command));
    order.push_back(commands.back().get());
  }
  ASSERT_EQ(device->run(order).message(), "");
  EXPECT_EQ(download(*a), iota(count, 6));
}

TEST_F(VulkanDeviceTest, WhatTheValidationLayerSaysFailsTheRun) {
  if (!std::getenv("INLAY_VULKAN_VALIDATION"))
    GTEST_SKIP() << "needs INLAY_VULKAN_VALIDATION";
  auto a = upload(iota(8, 0)), c = upload(std::vector<float>(8));
  auto loaded = device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8)));
  auto command = device->record(**loaded, {a, a, c}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  Status status = device->run({command->get(), command->get()});
  EXPECT_NE(status.message().find("VUID-vkQueueSubmit2-commandBuffer-03875"), std::string::npos) << status.message();
}

TEST_F(VulkanDeviceTest, ManyThreadsUseOneDevice) {
  auto loaded = device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(64)));
  ASSERT_TRUE(loaded.isOk());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        auto a = upload(std::vector<float>(64, float(t))), c = upload(std::vector<float>(64));
        auto command = device->record(**loaded, {a, a, c}, {});
        if (!command.isOk() || !device->run({command->get()}).isOk() || download(*c)[63] != 2 * float(t))
          ++wrong;
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(VulkanDeviceTest, BuffersShareAFewBlocks) {
  std::vector<std::shared_ptr<DeviceBuffer>> buffers;
  for (int i = 0; i < 300; ++i)
    buffers.push_back(upload({float(i)}));
  EXPECT_EQ(context->memory.blockCount(), 1u);
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(download(*buffers[i])[0], float(i));
  auto large = device->allocate(size_t(100) << 20);
  ASSERT_TRUE(large.isOk());
  EXPECT_EQ(context->memory.blockCount(), 2u);
  large->reset();
  EXPECT_EQ(context->memory.blockCount(), 1u) << "a large block is freed with its buffer";
}

TEST_F(VulkanDeviceTest, EmptyBuffersHoldNothing) {
  auto empty = device->allocate(0);
  ASSERT_TRUE(empty.isOk());
  EXPECT_TRUE(device->upload(**empty, nullptr, 0).isOk());
  EXPECT_TRUE(device->download(**empty, nullptr, 0).isOk());
}

TEST_F(VulkanDeviceTest, RefusesHugeBuffers) {
  auto huge = device->allocate(SIZE_MAX);
  EXPECT_EQ(huge.status().code(), StatusCode::ResourceExhausted);
  EXPECT_NE(huge.status().message().find("18446744073709551615 bytes is too large"), std::string::npos);
}

TEST_F(VulkanDeviceTest, BufferOutlivesItsDevice) {
  auto a = upload({1, 2});
  device.reset();
  context.reset();
  EXPECT_EQ(a->size(), 8u);
}

TEST_F(VulkanDeviceTest, LoadNamesTheKernelAndBothNumbers) {
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8));
  engine.kernels[0].block = {32, 1, 1};
  EXPECT_EQ(device->load(engine).status().message(),
            "engine 'engine_add': kernel 'add': expected a block of 32x1x1, but its SPIR-V has 64x1x1");
  engine.kernels[0].block = {4096, 1, 1};
  EXPECT_NE(device->load(engine).status().message().find("block x is 4096, but the device allows "), std::string::npos);
  engine.kernels[0].block = {64, 1, 1};
  engine.kernels[0].requirements = {"telepathy"};
  EXPECT_EQ(device->load(engine).status().message(),
            "engine 'engine_add': kernel 'add': unknown requirement 'telepathy'");
  engine.kernels[0].requirements = {};
  engine.kernels[0].spirv = {1, 2, 3};
  EXPECT_NE(device->load(engine).status().message().find("kernel 'add': SPIR-V module: expected the magic"),
            std::string::npos);
}

TEST_F(VulkanDeviceTest, ABufferThatKernelsCannotSeeAllOfIsRefused) {
  uint64_t maxRange = context->caps().maxStorageBufferRange;
  if (maxRange > uint64_t(1) << 28 || maxRange + 4 > context->caps().maxAllocationBytes)
    GTEST_SKIP() << "such a large buffer is too much for a test";
  auto small = upload(iota(8, 0));
  auto large = device->allocate(maxRange + 4), fits = device->allocate(maxRange);
  ASSERT_TRUE(large.isOk() && fits.isOk());
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8));
  EXPECT_EQ(run(engine, {small, small, *fits}).message(), "");
  Status status = run(engine, {small, small, *large});
  EXPECT_EQ(status.message(), "engine 'engine_add': kernel 'add': argument 2: a buffer has " +
                                  std::to_string(maxRange + 4) + " bytes, but the device's kernels see at most " +
                                  std::to_string(maxRange));
}

TEST_F(VulkanDeviceTest, RecordNamesTheDispatchAndBothNumbers) {
  auto a = upload(iota(8, 0));
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr::dim(0, 0));
  EXPECT_EQ(run(engine, {a, a}, {{8}}).message(), "engine 'engine_add': expected 3 buffers, but got 2");
  EXPECT_EQ(run(engine, {a, nullptr, a}, {{8}}).message(), "engine 'engine_add': buffer 1 is null");
  EXPECT_NE(run(engine, {a, a, a}, {{int64_t(1) << 31}})
                .message()
                .find("dispatch 0 (kernel 'add'): grid x is 33554432, but the device allows 65535"),
            std::string::npos);
  engine.dispatches[0].grid[0] = Expr(1);
  EXPECT_EQ(run(engine, {a, a, a}, {{int64_t(1) << 32}}).message(),
            "engine 'engine_add': dispatch 0 (kernel 'add'): push constant 0 is 4294967296, which doesn't fit a "
            "32-bit integer");
  EXPECT_EQ(run(engine, {a, a, a}, {{-(int64_t(1) << 31) - 1}}).message(),
            "engine 'engine_add': dispatch 0 (kernel 'add'): push constant 0 is -2147483649, which doesn't fit a "
            "32-bit integer");
}

TEST_F(VulkanDeviceTest, AKernelMaySeeNoMoreThanTheDevicesRange) {
  uint64_t range = context->caps().maxStorageBufferRange;
  if (range >= context->caps().maxAllocationBytes)
    GTEST_SKIP() << "no buffer is that large";
  auto large = device->allocate(range + 4);
  ASSERT_TRUE(large.isOk());
  auto a = upload(iota(8, 0));
  Status status = run(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8)), {a, *large, a});
  EXPECT_NE(status.message().find("kernel 'add': argument 1: a buffer has "), std::string::npos) << status.message();
}

TEST_F(VulkanStagingTest, CopiesInChunksOfAnySize) {
  EXPECT_FALSE(device->unifiedMemory());
  for (size_t count : {size_t(1), size_t(3), size_t(2097152), size_t(2097153), size_t(5000001)}) {
    std::vector<float> values = iota(count, 1);
    auto buffer = upload(values);
    EXPECT_EQ(buffer->hostPointer(), nullptr);
    EXPECT_TRUE(download(*buffer) == values) << count;
  }
}

TEST_F(VulkanStagingTest, KernelsSeeUploadsAndDownloadsSeeKernels) {
  auto a = upload(iota(1000, 0)), b = upload(iota(1000, 5)), c = upload(std::vector<float>(1000, -1));
  ASSERT_EQ(run(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(1000)), {a, b, c}).message(), "");
  EXPECT_EQ(download(*c)[999], 999 + 1004);
}

/// Returns the plan of y = (x + w) * w over two engines, as a compiler would emit it.
static std::shared_ptr<Plan> twoEnginePlan(int64_t count) {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t w = builder.constant("w", MemorySpace::Device, iota(size_t(count), 2));
  uint32_t dx = builder.temporary("dx", MemorySpace::Device, {n}),
           ds = builder.temporary("ds", MemorySpace::Device, {n});
  uint32_t dy = builder.temporary("dy", MemorySpace::Device, {n});
  builder.plan->engines = {elementwiseEngine(binaryKernel("add", "OpFAdd"), n),
                           elementwiseEngine(binaryKernel("mul", "OpFMul"), n)};
  builder.copy(x, dx);
  builder.launch(0, {dx, w, ds}, {0});
  builder.launch(1, {ds, w, dy}, {1});
  builder.copy(dy, y, {2});
  return builder.plan;
}

static void runTwoEnginePlan(std::shared_ptr<Device> device) {
  auto program = Program::load(twoEnginePlan(1000), device, nullptr);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  for (size_t count : {size_t(1), size_t(1000), size_t(77), size_t(1000)}) {
    std::vector<float> x = iota(count, 0), y(count);
    ASSERT_EQ((*program)->call({view(x)}, {view(y)}).message(), "");
    for (size_t i = 0; i < count; ++i)
      ASSERT_FLOAT_EQ(y[i], (float(i) + float(i + 2)) * float(i + 2));
  }
}

TEST_F(VulkanDeviceTest, RunsAPlan) { runTwoEnginePlan(device); }
TEST_F(VulkanStagingTest, RunsAPlan) { runTwoEnginePlan(device); }

/// Allocates host memory as the allocators of frameworks do.
static std::shared_ptr<float> allocateHost(size_t count, size_t offset) {
  auto *block = static_cast<float *>(std::aligned_alloc(4096, 4096 * 64));
  EXPECT_LE(count + offset, size_t(1024 * 64));
  return {block + offset, [block](float *) { std::free(block); }};
}

TEST_F(VulkanDeviceTest, ReadsHostMemoryInPlace) {
  if (!context->info.hostImportAlignment)
    GTEST_SKIP() << "the device can't";
  std::shared_ptr<float> memory = allocateHost(5000, 1040); // spans several pages and doesn't start on one
  std::fill_n(memory.get(), 5000, 3.0f);
  std::shared_ptr<DeviceBuffer> imported = device->importHost(memory.get(), 5000 * sizeof(float), nullptr);
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->hostPointer(), memory.get());
  EXPECT_EQ(imported->size(), 5000 * sizeof(float));
  auto b = upload(iota(5000, 0)), c = upload(std::vector<float>(5000, -1));
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(5000));
  ASSERT_EQ(run(engine, {imported, b, c}).message(), "");
  EXPECT_EQ(download(*c)[4999], 5002);
  memory.get()[4999] = 1;
  ASSERT_EQ(run(engine, {imported, b, c}).message(), "");
  EXPECT_EQ(download(*c)[4999], 5000);
}

TEST_F(VulkanDeviceTest, MemoryAtOddPlacesIsNotReadInPlace) {
  std::shared_ptr<float> memory = allocateHost(1001, 0);
  if (context->info.bindingAlignment > 1) {
    EXPECT_FALSE(device->importHost(reinterpret_cast<std::byte *>(memory.get()) + 1, 4000, nullptr));
  }
}

TEST_F(VulkanStagingTest, WhatTheHostCantShareIsNotReadInPlace) {
  std::shared_ptr<float> memory = allocateHost(1000, 0);
  EXPECT_FALSE(device->importHost(memory.get(), 4000, nullptr));
}

/// Runs a plan whose inputs and results the device may use in place, with arguments as storage buffers and as texels.
static void runImportingPlan(std::shared_ptr<Device> device) {
  constexpr int64_t kCount = 100000; // not a multiple of the page size
  for (const Kernel &kernel : {binaryKernel("add", "OpFAdd"), texelKernel("texels")}) {
    PlanBuilder builder;
    Expr n = Expr::dim(0, 0);
    uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
    uint32_t a = builder.temporary("a", MemorySpace::Device, {n}), b = builder.temporary("b", MemorySpace::Device, {n});
    builder.plan->engines = {elementwiseEngine(kernel, n)};
    builder.copy(x, a);
    bool isBinary = kernel.bindings.size() == 3;
    builder.launch(0, isBinary ? std::vector<uint32_t>{a, a, b} : std::vector<uint32_t>{a, b});
    builder.copy(b, y);
    auto program = Program::load(builder.plan, device, nullptr);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    std::vector<TensorView> kept;
    for (int round = 0; round < 4; ++round) {
      auto values = std::make_shared<std::vector<float>>(iota(kCount - round * 16, float(round)));
      TensorView input = view(*values);
      if (round != 2)
        input.owner = values;
      auto results = (*program)->call({input});
      ASSERT_TRUE(results.isOk()) << results.status().message();
      input.owner = nullptr;
      EXPECT_EQ(values.use_count(), 1);
      kept.push_back((*results)[0]);
    }
    for (size_t round = 0; round < kept.size(); ++round)
      for (int64_t i = 0; i < kept[round].dims[0]; ++i)
        ASSERT_EQ(static_cast<float *>(kept[round].data)[i], float(i + int64_t(round)) * (isBinary ? 2 : 1));
  }
}

TEST_F(VulkanDeviceTest, UsesTheCallersMemoryInPlace) { runImportingPlan(device); }
TEST_F(VulkanStagingTest, UsesNoMemoryOfTheCallersInPlace) { runImportingPlan(device); }

/// Fills buffers. The device may run writers immediately or later, but immediately if a command uses the buffer.
static void fillBuffers(Device &device, VulkanFixture &fixture) {
  auto writer = [](float value) { return [value](void *to) { std::fill_n(static_cast<float *>(to), 1000, value); }; };
  auto add = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(1000));
  auto a = fixture.upload(std::vector<float>(1000, -1)), b = fixture.upload(iota(1000, 0));
  auto fresh = device.allocate(4000), read = device.allocate(4000);
  ASSERT_TRUE(fresh.isOk() && read.isOk());
  ASSERT_TRUE(device.fill(**fresh, 4000, writer(1)).isOk());
  ASSERT_TRUE(device.fill(**fresh, 4000, writer(2)).isOk()) << "replaces the first writer";
  ASSERT_EQ(fixture.run(add, {*fresh, b, a}).message(), "");
  EXPECT_EQ(fixture.download(*a)[999], 1001);
  ASSERT_TRUE(device.fill(**fresh, 4000, writer(3)).isOk());
  ASSERT_EQ(fixture.run(add, {*fresh, b, a}).message(), "");
  EXPECT_EQ(fixture.download(*a)[999], 1002);
  ASSERT_TRUE(device.fill(**read, 4000, writer(4)).isOk());
  EXPECT_EQ(fixture.download(**read)[999], 4) << "before any command";
  EXPECT_EQ(device.fill(**read, 4004, writer(5)).message(), "expected at most 4000 bytes to write, but got 4004");
  EXPECT_EQ(device.fill(**read, 4000, nullptr).message(), "expected a writer for the buffer, but got null");
}

TEST_F(VulkanDeviceTest, BuffersAreFilledBeforeTheyAreUsed) { fillBuffers(*device, *this); }
TEST_F(VulkanStagingTest, BuffersAreFilledBeforeTheyAreUsed) { fillBuffers(*device, *this); }

/// Replaces a large constant, which the device may read in place. The new bytes must take effect.
static void replaceLargeConstant(std::shared_ptr<Device> device) {
  constexpr size_t kCount = 40000;
  std::shared_ptr<Plan> plan = twoEnginePlan(kCount);
  auto make = [&](float value) {
    std::shared_ptr<float> memory = allocateHost(kCount, 16);
    std::fill_n(memory.get(), kCount, value);
    return Constant{memory.get(), kCount * sizeof(float), memory};
  };
  plan->constants[0] = make(2);
  auto program = Program::load(plan, device, nullptr);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  for (float weight : {2.0f, 5.0f, 7.0f}) {
    if (weight != 2) {
      ASSERT_EQ((*program)->replaceConstants({{0, make(weight)}}).message(), "");
    }
    std::vector<float> x = iota(kCount, 0), y(kCount);
    ASSERT_EQ((*program)->call({view(x)}, {view(y)}).message(), "");
    for (size_t i = 0; i < kCount; ++i)
      ASSERT_FLOAT_EQ(y[i], (float(i) + weight) * weight);
  }
}

TEST_F(VulkanDeviceTest, LargeConstantsAreReplaced) { replaceLargeConstant(device); }
TEST_F(VulkanStagingTest, LargeConstantsAreReplaced) { replaceLargeConstant(device); }

TEST_F(VulkanDeviceTest, ListedDevicesContainTheSelectedOne) {
  auto devices = vulkan::listDevices();
  auto selected = vulkan::selectDevice("");
  ASSERT_TRUE(devices.isOk() && selected.isOk());
  EXPECT_TRUE(std::any_of(devices->begin(), devices->end(), [&](auto &caps) { return caps.name == selected->name; }));
  EXPECT_GE(selected->maxWorkgroupInvocations, 128u);
  EXPECT_GE(selected->maxStorageBufferRange, uint64_t(1) << 27);
}

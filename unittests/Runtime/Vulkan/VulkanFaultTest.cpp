// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Injects results into the device's function table that tests can't provoke in a driver. Tests machines without a
// driver, each in a separate process.

#include "../PlanBuilder.h"
#include "../TemporaryPath.h"
#include "../VulkanFixture.h"
#include "Runtime/Vulkan/Pipeline/PipelineCache.h"

#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct VulkanFaultTest : VulkanFixture {
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8));
};

} // namespace

TEST_F(VulkanFaultTest, ALostDeviceIsRemembered) {
  auto a = upload(std::vector<float>(8, 1));
  auto submit = context->vk.vkQueueSubmit2;
  context->vk.vkQueueSubmit2 = [](VkQueue, uint32_t, const VkSubmitInfo2 *, VkFence) { return VK_ERROR_DEVICE_LOST; };
  Status status = run(engine, {a, a, a});
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_EQ(status.message(), "vkQueueSubmit2 failed with VK_ERROR_DEVICE_LOST");
  context->vk.vkQueueSubmit2 = submit;
  status = run(engine, {a, a, a});
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_EQ(status.message(), "the device was lost earlier: vkQueueSubmit2 failed with VK_ERROR_DEVICE_LOST");
}

TEST_F(VulkanFaultTest, AfterAFailedWaitTheDeviceIsAskedWhetherItHasFinished) {
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  context->vk.vkWaitSemaphores = [](VkDevice, const VkSemaphoreWaitInfo *, uint64_t) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  EXPECT_EQ(run(engine, {a, a, c}).message(), "");
  EXPECT_EQ(download(*c)[7], 2);
}

TEST_F(VulkanFaultTest, ADeviceThatCannotBeAskedIsLost) {
  static PFN_vkWaitSemaphores really;
  really = context->vk.vkWaitSemaphores;
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  context->vk.vkWaitSemaphores = [](VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit) {
    really(device, info, limit);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  auto ask = context->vk.vkGetSemaphoreCounterValue;
  context->vk.vkGetSemaphoreCounterValue = [](VkDevice, VkSemaphore, uint64_t *) {
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  Status status = run(engine, {a, a, c});
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_EQ(status.message(), "vkWaitSemaphores failed with VK_ERROR_OUT_OF_HOST_MEMORY");
  context->vk.vkGetSemaphoreCounterValue = ask; // so that objects can be destroyed
}

/// Opens a device that ignores submissions, so that calls end by the time limit.
TEST_F(VulkanFaultTest, ADeviceThatNeverFinishesIsLostInTime) {
  setenv("INLAY_DEVICE_TIMEOUT", "0.05", 1);
  auto other = vulkan::openContext("");
  unsetenv("INLAY_DEVICE_TIMEOUT");
  ASSERT_TRUE(other.isOk()) << other.status().message();
  (*other)->vk.vkQueueSubmit2 = [](VkQueue, uint32_t, const VkSubmitInfo2 *, VkFence) { return VK_SUCCESS; };
  static int destroyed;
  destroyed = 0;
  (*other)->vk.vkDestroyPipeline = [](VkDevice, VkPipeline, const VkAllocationCallbacks *) { ++destroyed; };
  auto begin = std::chrono::steady_clock::now();
  {
    std::shared_ptr<Device> stuck = vulkan::makeDevice(*other);
    auto loaded = stuck->load(engine);
    auto a = stuck->allocate(32);
    auto command = stuck->record(**loaded, {*a, *a, *a}, {});
    Status status = stuck->run({command->get()});
    EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    EXPECT_EQ(status.message(), "the device hasn't finished within 0.05 s (INLAY_DEVICE_TIMEOUT)");
  }
  EXPECT_EQ(destroyed, 0) << "the device may be using it";
  EXPECT_TRUE((*other)->hasLeaked);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(DeviceTimeout, IsANumberOfSeconds) {
  EXPECT_EQ(vulkan::parseTimeout("1.5")->value(), std::chrono::milliseconds(1500));
  EXPECT_EQ(*vulkan::parseTimeout("0"), std::nullopt);
  for (const char *text : {"", "soon", "-1", "1s", "nan", "inf", "1e10"}) {
    Status status = vulkan::parseTimeout(text).status();
    EXPECT_EQ(status.message(),
              "INLAY_DEVICE_TIMEOUT: expected seconds from 0 to 1000000000, but got '" + std::string(text) + "'");
  }
}

/// Memory that a device reads in place is kept while the device may access it, whatever is closed.
TEST(ImportedMemory, OutlivesADeviceThatHangs) {
  static uint64_t reached;
  vulkan::DeviceTable table;
  table.vk.vkGetSemaphoreCounterValue = [](VkDevice, VkSemaphore, uint64_t *value) {
    *value = reached;
    return VK_SUCCESS;
  };
  auto owner = std::make_shared<int>(0);
  {
    vulkan::ImportedMemory done(table, owner);
  }
  EXPECT_EQ(owner.use_count(), 1);
  table.isStuck = true;
  table.submitted = 5;
  reached = 4;
  {
    vulkan::ImportedMemory inUse(table, owner);
  }
  EXPECT_EQ(owner.use_count(), 2);
  reached = 5;
  {
    vulkan::ImportedMemory finished(table, owner);
  }
  EXPECT_EQ(owner.use_count(), 2);
}

/// Returns the plan of y = x + x for many floats.
static std::shared_ptr<Plan> sumPlan() {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t a = builder.temporary("a", MemorySpace::Device, {n}), b = builder.temporary("b", MemorySpace::Device, {n});
  builder.plan->engines = {elementwiseEngine(binaryKernel("add", "OpFAdd"), n)};
  builder.copy(x, a);
  builder.launch(0, {a, a, b});
  builder.copy(b, y);
  return builder.plan;
}

TEST_F(VulkanFaultTest, MemoryImportedByAHangingDeviceIsKept) {
  if (!context->info.hostImportAlignment)
    GTEST_SKIP() << "the device can't use memory in place";
  setenv("INLAY_DEVICE_TIMEOUT", "0.05", 1);
  auto other = vulkan::openContext("");
  unsetenv("INLAY_DEVICE_TIMEOUT");
  ASSERT_TRUE(other.isOk()) << other.status().message();
  (*other)->vk.vkQueueSubmit2 = [](VkQueue, uint32_t, const VkSubmitInfo2 *, VkFence) { return VK_SUCCESS; };
  auto values = std::make_shared<std::vector<float>>(100000, 1.0f);
  TensorView input = view(*values);
  input.owner = values;
  {
    auto program = Program::load(sumPlan(), vulkan::makeDevice(*other), nullptr);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    EXPECT_EQ((*program)->call({input}).status().code(), StatusCode::DeviceLost);
  }
  input.owner = nullptr;
  EXPECT_EQ(values.use_count(), 2);
}

TEST_F(VulkanFaultTest, MemoryThatCannotBeImportedIsCopied) {
  for (bool failsToImport : {false, true}) {
    static int imports;
    imports = 0;
    static auto reallyAsk = context->vk.vkGetMemoryHostPointerPropertiesEXT;
    auto refuse = [](VkDevice, VkExternalMemoryHandleTypeFlagBits, const void *, VkMemoryHostPointerPropertiesEXT *) {
      return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    };
    auto count = [](VkDevice device, VkExternalMemoryHandleTypeFlagBits type, const void *pointer,
                    VkMemoryHostPointerPropertiesEXT *properties) {
      ++imports;
      return reallyAsk(device, type, pointer, properties);
    };
    if (failsToImport)
      context->vk.vkGetMemoryHostPointerPropertiesEXT = refuse;
    else
      context->vk.vkGetMemoryHostPointerPropertiesEXT = count;
    auto program = Program::load(sumPlan(), device, nullptr);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    auto values = std::make_shared<std::vector<float>>(100000, 3.0f);
    TensorView input = view(*values);
    input.owner = values;
    auto results = (*program)->call({input});
    ASSERT_TRUE(results.isOk()) << results.status().message();
    EXPECT_EQ(static_cast<float *>((*results)[0].data)[99999], 6);
    EXPECT_EQ(imports, failsToImport || !context->info.hostImportAlignment ? 0 : 2);
  }
}

TEST_F(VulkanFaultTest, OutOfDeviceMemory) {
  context->vk.vkAllocateMemory = [](VkDevice, const VkMemoryAllocateInfo *, const VkAllocationCallbacks *,
                                    VkDeviceMemory *) { return VK_ERROR_OUT_OF_DEVICE_MEMORY; };
  auto buffer = device->allocate(100);
  EXPECT_EQ(buffer.status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(buffer.status().message(), "vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY for 256 bytes");
}

static int allocationsLeft;
static PFN_vkAllocateMemory realAllocate;

TEST_F(VulkanFaultTest, ShortMemoryGivesASmallBlock) {
  realAllocate = context->vk.vkAllocateMemory;
  context->vk.vkAllocateMemory = [](VkDevice device, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory) {
    if (info->allocationSize > 4096)
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    ++allocationsLeft;
    return realAllocate(device, info, callbacks, memory);
  };
  auto buffer = device->allocate(1000);
  EXPECT_TRUE(buffer.isOk()) << buffer.status().message();
  EXPECT_EQ(allocationsLeft, 1);
}

TEST_F(VulkanFaultTest, PipelineCreationFails) {
  context->vk.vkCreateComputePipelines = [](VkDevice, VkPipelineCache, uint32_t, const VkComputePipelineCreateInfo *,
                                            const VkAllocationCallbacks *, VkPipeline *) { return VK_ERROR_UNKNOWN; };
  auto loaded = device->load(engine);
  ASSERT_TRUE(loaded.isOk()) << "the failure is reported later";
  std::string failure = "engine 'engine_add': kernel 'add': vkCreateComputePipelines failed with VK_ERROR_UNKNOWN";
  EXPECT_EQ((*loaded)->wait().message(), failure);
  EXPECT_EQ((*loaded)->state().message(), failure);
  auto a = upload(std::vector<float>(8, 1));
  EXPECT_EQ(device->record(**loaded, {a, a, a}, {}).status().message(), failure);
}

namespace {

/// Two dispatches. The pipeline of the second is not created before a command was submitted.
struct SlowPipelines : VulkanFaultTest {
  static inline std::mutex mutex;
  static inline std::condition_variable changed;
  static inline int submissions;
  static inline bool fails;
  static inline PFN_vkCreateComputePipelines create;
  static inline PFN_vkQueueSubmit2 submit;

  SlowPipelines() {
    engine.kernels.push_back(binaryKernel("mul", "OpFMul"));
    engine.arguments = 4;
    Dispatch second = engine.dispatches[0];
    second.kernel = 1;
    second.buffers = {2, 1, 3}; // (a + b) * b
    engine.dispatches.push_back(second);
  }
  void SetUp() override {
    VulkanFaultTest::SetUp();
    if (!context)
      return;
    submissions = 0;
    fails = false;
    create = context->vk.vkCreateComputePipelines;
    submit = context->vk.vkQueueSubmit2;
    context->vk.vkCreateComputePipelines = [](VkDevice device, VkPipelineCache cache, uint32_t count,
                                              const VkComputePipelineCreateInfo *infos,
                                              const VkAllocationCallbacks *callbacks, VkPipeline *made) {
      if (std::string(infos->stage.pName) == "mul") {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait_for(lock, std::chrono::seconds(20), [] { return submissions > 0; });
        if (fails)
          return VK_ERROR_OUT_OF_DEVICE_MEMORY;
      }
      return create(device, cache, count, infos, callbacks, made);
    };
    context->vk.vkQueueSubmit2 = [](VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence) {
      std::lock_guard<std::mutex> lock(mutex);
      ++submissions;
      changed.notify_all();
      return submit(queue, count, infos, fence);
    };
  }
};

} // namespace

TEST_F(SlowPipelines, TheDeviceBeginsWithWhatIsReady) {
  auto a = upload(std::vector<float>(8, 1)), b = upload(std::vector<float>(8, 2)), c = upload(std::vector<float>(8)),
       d = upload(std::vector<float>(8));
  auto loaded = device->load(engine);
  auto command = device->record(**loaded, {a, b, c, d}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(device->run({command->get()}).message(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "the second pipeline didn't wait";
  EXPECT_EQ(download(*d)[7], 6);
  EXPECT_EQ(submissions, 2);
  ASSERT_EQ(device->run({command->get()}).message(), "");
  EXPECT_EQ(submissions, 3) << "later calls use one submission";
}

TEST_F(SlowPipelines, WhatHasBegunEndsBeforeTheFailureIsTold) {
  fails = true;
  auto a = upload(std::vector<float>(8, 1)), b = upload(std::vector<float>(8, 2)), c = upload(std::vector<float>(8)),
       d = upload(std::vector<float>(8, -1));
  auto loaded = device->load(engine);
  auto command = device->record(**loaded, {a, b, c, d}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(device->run({command->get()}).message(), "engine 'engine_add': kernel 'mul': vkCreateComputePipelines "
                                                       "failed with VK_ERROR_OUT_OF_DEVICE_MEMORY");
  EXPECT_EQ(submissions, 2) << "one submission of the first part per call";
  EXPECT_EQ(download(*c)[7], 3);
  EXPECT_EQ(download(*d)[7], -1);
}

/// Tests a driver that finds the device lost while it still runs.
TEST_F(SlowPipelines, WhatHasBegunEndsOnALostDeviceToo) {
  static int waits;
  static PFN_vkWaitSemaphores wait;
  waits = 0;
  wait = context->vk.vkWaitSemaphores;
  context->vk.vkWaitSemaphores = [](VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit) {
    ++waits;
    return wait(device, info, limit);
  };
  context->vk.vkQueueSubmit2 = [](VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence) {
    std::lock_guard<std::mutex> lock(mutex);
    changed.notify_all();
    return ++submissions == 2 ? VK_ERROR_DEVICE_LOST : submit(queue, count, infos, fence);
  };
  auto a = upload(std::vector<float>(8, 1)), b = upload(std::vector<float>(8, 2)), c = upload(std::vector<float>(8)),
       d = upload(std::vector<float>(8, -1));
  auto loaded = device->load(engine);
  auto command = device->record(**loaded, {a, b, c, d}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  EXPECT_EQ(device->run({command->get()}).message(), "vkQueueSubmit2 failed with VK_ERROR_DEVICE_LOST");
  EXPECT_EQ(waits, 1);
  if (device->unifiedMemory()) {
    EXPECT_EQ(static_cast<const float *>(c->hostPointer())[7], 3);
  }
}

TEST_F(VulkanFaultTest, DescriptorPoolFails) {
  auto a = upload(std::vector<float>(8, 1));
  context->vk.vkCreateDescriptorPool = [](VkDevice, const VkDescriptorPoolCreateInfo *, const VkAllocationCallbacks *,
                                          VkDescriptorPool *) { return VK_ERROR_FRAGMENTATION; };
  Status status = run(engine, {a, a, a});
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message(), "engine 'engine_add': vkCreateDescriptorPool failed with VK_ERROR_FRAGMENTATION");
}

TEST_F(VulkanFaultTest, QueryPoolFails) {
  if (context->info.timestamps.validBits == 0)
    GTEST_SKIP() << "no timestamps";
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  auto loaded = device->load(engine);
  auto command = device->record(**loaded, {a, a, c}, {});
  ASSERT_TRUE(command.isOk()) << command.status().message();
  auto works = context->vk.vkCreateQueryPool;
  context->vk.vkCreateQueryPool = [](VkDevice, const VkQueryPoolCreateInfo *, const VkAllocationCallbacks *,
                                     VkQueryPool *) { return VK_ERROR_OUT_OF_DEVICE_MEMORY; };
  std::vector<DispatchTime> times;
  EXPECT_EQ(device->runTimed(**command, times).code(), StatusCode::ResourceExhausted);
  context->vk.vkCreateQueryPool = works;
  EXPECT_EQ(device->runTimed(**command, times).message(), "");
  EXPECT_EQ(times.size(), 1u);
}

TEST_F(VulkanFaultTest, AValidationMessageFailsTheNextRun) {
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  context->instance.log().add("something is off");
  EXPECT_EQ(run(engine, {a, a, c}).message(), "the validation layer reported 1 message\n  something is off");
  EXPECT_EQ(run(engine, {a, a, c}).message(), "");
}

namespace {

/// Prints the error of listDevices in a new process with this environment.
void sayListDevices(const char *name, const char *value) {
  unsetenv("VK_DRIVER_FILES");
  unsetenv("VK_ICD_FILENAMES");
  if (value)
    setenv(name, value, 1);
  auto devices = vulkan::listDevices();
  std::fprintf(stderr, "%s\n", devices.isOk() ? "devices" : devices.status().message().c_str());
  std::exit(0);
}

struct VulkanDriverDeathTest : testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

} // namespace

TEST_F(VulkanDriverDeathTest, ADriverFileThatDoesNotExistIsNamed) {
  EXPECT_EXIT(sayListDevices("VK_DRIVER_FILES", "/no/such/icd.json"), testing::ExitedWithCode(0),
              "vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER: libvulkan.so.1 found no working driver; "
              "VK_DRIVER_FILES=/no/such/icd.json \\(/no/such/icd.json can't be read\\)");
  EXPECT_EXIT(sayListDevices("VK_ICD_FILENAMES", "/no/such/icd.json"), testing::ExitedWithCode(0),
              "VK_ICD_FILENAMES=/no/such/icd.json \\(/no/such/icd.json can't be read\\)");
}

TEST_F(VulkanDriverDeathTest, ABrokenDriverFileIsNamed) {
  std::string path = temporaryPath("broken-icd.json");
  std::ofstream(path) << "{ this is no json";
  EXPECT_EXIT(sayListDevices("VK_DRIVER_FILES", path.c_str()), testing::ExitedWithCode(0),
              "vkCreateInstance failed with VK_ERROR_.*broken-icd.json");
  std::filesystem::remove(path);
}

TEST_F(VulkanDriverDeathTest, AMissingValidationLayerIsAnError) {
  setenv("VK_LAYER_PATH", "/no/such/folder", 1);
  setenv("INLAY_VULKAN_VALIDATION", "1", 1);
  EXPECT_EXIT(sayListDevices("", nullptr), testing::ExitedWithCode(0),
              "INLAY_VULKAN_VALIDATION is set, but the layer VK_LAYER_KHRONOS_validation was not found");
  unsetenv("VK_LAYER_PATH");
}

TEST(VulkanLoader, ALoaderThatDoesNotExistIsNamed) {
  auto loader = vulkan::openLoader("libno-such-vulkan.so.1");
  EXPECT_EQ(loader.status().code(), StatusCode::Unavailable);
  EXPECT_EQ(loader.status().message().find("the Vulkan loader libno-such-vulkan.so.1 was not found (libno-such"), 0u);
  EXPECT_EQ(vulkan::openLoader("libm.so.6").status().message(),
            "libm.so.6 is not a Vulkan loader: it has no vkGetInstanceProcAddr");
}

TEST(PipelineCacheFile, ReadsBackAndIgnoresWhatIsCorrupt) {
  std::string folder = temporaryPath("cache"), path = folder + "/a.vkcache";
  std::vector<char> payload = {'a', 'b', 'c', 'd'};
  ASSERT_TRUE(vulkan::writeFramed(path, payload));
  EXPECT_EQ(vulkan::readFramed(path), payload);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "no temporary file is left";
  auto size = std::filesystem::file_size(path);
  for (size_t i = 0; i < size; ++i) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(std::streamoff(i));
    char byte = char(file.get());
    file.seekp(std::streamoff(i));
    file.put(char(byte ^ 1));
    file.close();
    EXPECT_TRUE(vulkan::readFramed(path).empty()) << "byte " << i;
    ASSERT_TRUE(vulkan::writeFramed(path, payload));
  }
  for (size_t i = 0; i < size; ++i) {
    ASSERT_TRUE(vulkan::writeFramed(path, payload));
    std::filesystem::resize_file(path, i);
    EXPECT_TRUE(vulkan::readFramed(path).empty()) << "length " << i;
  }
  EXPECT_TRUE(vulkan::readFramed("/no/such/file").empty());
  std::filesystem::remove_all(folder);
}

TEST_F(VulkanFaultTest, ACorruptCacheFileIsReplaced) {
  std::string folder = temporaryPath("cache");
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  std::string path = folder + "/inlay/" + context->info.cacheKey + ".vkcache";
  std::filesystem::create_directories(folder + "/inlay");
  std::ofstream(path) << "rubbish";
  auto other = vulkan::openDevice("");
  ASSERT_TRUE(other.isOk()) << other.status().message();
  auto loaded = (*other)->load(engine);
  ASSERT_TRUE(loaded.isOk());
  EXPECT_EQ((*loaded)->wait().message(), "");
  EXPECT_FALSE(vulkan::readFramed(path).empty());
  std::filesystem::remove_all(folder);
}

/// Uses a cache folder that no user can write to.
TEST_F(VulkanFaultTest, WithoutAPlaceForTheCacheAllElseWorks) {
  setenv("XDG_CACHE_HOME", "/proc/self/no-such", 1);
  auto other = vulkan::openContext("");
  unsetenv("XDG_CACHE_HOME");
  ASSERT_TRUE(other.isOk()) << other.status().message();
  context = *other;
  device = vulkan::makeDevice(context);
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  EXPECT_EQ(run(engine, {a, a, c}).message(), "");
  EXPECT_EQ(download(*c)[7], 2);
}

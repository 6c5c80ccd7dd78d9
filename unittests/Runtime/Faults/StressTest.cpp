// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many threads call shared programs on one device while sizes change, constants are replaced and calls fail. The tests
// find most under a sanitizer. INLAY_FULL=1 runs longer.

#include "Faults.h"
#include "Programs.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct StressTest : testing::Test {
  void SetUp() override {
    auto made = vulkan::VulkanInstance::make([](vulkan::VulkanInstance &instance) { wrapFunctions(instance); });
    if (!made.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << made.status().message();
      GTEST_SKIP() << made.status().message();
    }
    instance = &keepForever(std::move(*made));
  }
  void TearDown() override { armFaults({}); }

  StatusOr<std::shared_ptr<Device>> open() {
    auto context = vulkan::openContext(*instance, "", [](vulkan::DeviceTable &device) { wrapFunctions(device); });
    if (!context.isOk())
      return context.status();
    return vulkan::makeDevice(*context);
  }

  /// A program that all threads call, and its results.
  struct Shared {
    FaultProgram description;
    std::unique_ptr<Program> program;
    std::atomic<size_t> calls{0}, wrong{0}, errors{0};
  };

  static bool isRight(const FaultProgram &program, const std::vector<float> &x, const std::vector<float> &y) {
    for (float weight : {1.0f, 2.0f, 3.0f, 4.0f}) { // all elements must use the same replacement
      bool isRight = true;
      for (size_t i = 0; i < x.size() && isRight; ++i) {
        float expected = program.compute(x, i, weightOf(weight, int64_t(i)));
        isRight = std::fabs(y[i] - expected) <= 1e-3f * std::fabs(expected);
      }
      if (isRight)
        return true;
    }
    return false;
  }

  static void callOften(Shared &shared, uint32_t seed, const std::atomic<bool> &stop) {
    std::mt19937 random(seed);
    while (!stop) {
      auto owner = std::make_shared<std::vector<float>>(1 + random() % kMaxLanes + shared.description.importedElements);
      std::vector<float> &x = *owner, y(x.size(), -1);
      for (float &value : x)
        value = float(3 + random() % 20);
      Status status = callOnce(shared.description, *shared.program, owner, y);
      ++shared.calls;
      if (!status.isOk())
        ++shared.errors;
      else
        shared.wrong += !isRight(shared.description, x, y);
    }
  }

  /// Returns up to two random faults of calls that come soon. Hanging devices are left out, because objects that other
  /// calls use then leak.
  static std::vector<Fault> pickFaults(std::mt19937 &random) {
    static const char *const entries[] = {"vkQueueSubmit2",           "vkWaitSemaphores",     "vkAllocateMemory",
                                          "vkCreateComputePipelines", "vkCreateCommandPool",  "vkBeginCommandBuffer",
                                          "vkCreateDescriptorPool",   "vkEndCommandBuffer",   "vkCreateDevice",
                                          "vkAllocateDescriptorSets", "vkCreateShaderModule", "vkCreateSemaphore"};
    std::vector<Fault> faults;
    for (int i = 0; i < 2; ++i) {
      const char *entry = entries[random() % std::size(entries)];
      std::vector<VkResult> failures = failuresOf(entry);
      Fault fault{entry, uint32_t(random() % 30), failures[random() % failures.size()]};
      if (!fault.hangs() && fault.result != VK_TIMEOUT && random() % 4 != 0)
        faults.push_back(std::move(fault));
    }
    return faults;
  }

  vulkan::VulkanInstance *instance = nullptr;
};

} // namespace

TEST_F(StressTest, ManyThreadsShareProgramsThatFail) {
  StatusOr<std::shared_ptr<Device>> device = open();
  ASSERT_TRUE(device.isOk()) << device.status().message();
  std::vector<std::unique_ptr<Shared>> programs;
  std::atomic<size_t> notices{0};
  for (FaultProgram &description : faultPrograms()) {
    if (!description.canMove || description.hasEffects)
      continue;
    RecoveryOptions options;
    options.firstBackoff = std::chrono::milliseconds(2);
    options.longestBackoff = std::chrono::milliseconds(50);
    options.reopenDevice = [this] { return open(); };
    options.notify = [&](const RecoveryNotice &) { ++notices; };
    auto loaded = loadRecovering(description.plan, *device, faultLibrary(), faultCallback, {}, nullptr, options);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    programs.push_back(std::make_unique<Shared>());
    programs.back()->description = std::move(description);
    programs.back()->program = std::move(*loaded);
  }
  device->reset();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2 * programs.size(); ++i)
    threads.emplace_back([&, i] { callOften(*programs[i % programs.size()], i, stop); });
  std::mt19937 random(3);
  const char *full = std::getenv("INLAY_FULL");
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(full && *full ? 60 : 2);
  size_t faults = 0;
  while (std::chrono::steady_clock::now() < end) {
    armFaults(pickFaults(random));
    Shared &shared = *programs[random() % programs.size()];
    Status status = shared.program->replaceConstants({{0, makeWeights(float(1 + random() % 4))}});
    EXPECT_TRUE(status.isOk()) << status.message();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 10));
    faults += countStruck();
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  armFaults({});
  size_t calls = 0;
  for (const std::unique_ptr<Shared> &shared : programs) {
    EXPECT_EQ(shared->wrong, 0u) << shared->description.name;
    EXPECT_EQ(shared->errors, 0u) << shared->description.name;
    calls += shared->calls;
  }
  programs.clear();
  EXPECT_EQ(describeLiveObjects(), "");
  fmt::print("{} calls, {} faults, {} changes of where segments run\n", calls, faults, notices.load());
}

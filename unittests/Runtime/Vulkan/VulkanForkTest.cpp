// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices in a child of fork, beside threads of the parent that were in calls.

#include "../Child.h"
#include "../VulkanFixture.h"
#include "Runtime/Vulkan/Device/VulkanInstance.h"

#include <atomic>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct VulkanForkTest : VulkanFixture {
  Engine engine = elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8));
};

} // namespace

TEST_F(VulkanForkTest, AChildOfForkHasNoDevice) {
  GTEST_FLAG_SET(death_test_style, "fast");
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  auto runInChild = [&] {
    std::fprintf(stderr, "%s\n", run(engine, {a, a, c}).message().c_str());
    device.reset(); // must not wait for threads of the driver
    context.reset();
    _exit(0);
  };
  EXPECT_EXIT(runInChild(), testing::ExitedWithCode(0), "only the parent process can use it");
  EXPECT_EQ(run(engine, {a, a, c}).message(), "");
}

/// A child must not wait for locks that threads of the parent held.
TEST_F(VulkanForkTest, AForkDuringASubmissionLeavesNoLockInTheChild) {
  auto a = upload(std::vector<float>(8, 1)), c = upload(std::vector<float>(8, 1));
  auto loaded = *device->load(engine);
  auto command = std::move(*device->record(*loaded, {a, a, c}, {}));
  static std::atomic<bool> isInside, mayEnd;
  static PFN_vkQueueSubmit2 submit;
  isInside = mayEnd = false;
  submit = context->vk.vkQueueSubmit2;
  context->vk.vkQueueSubmit2 = [](VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence) {
    isInside = true;
    while (!mayEnd)
      std::this_thread::yield();
    return submit(queue, count, infos, fence);
  };
  std::thread thread([&] { EXPECT_EQ(device->run({command.get()}).message(), ""); });
  while (!isInside)
    std::this_thread::yield();
  EXPECT_TRUE(holdsInChild([&] {
    auto isRefused = [](const Status &status) {
      return status.message() ==
             "the device was opened before this process was forked: only the parent process can use it";
    };
    float value = 0;
    std::vector<DispatchTime> times;
    return device->state().isOk() && isRefused(device->load(engine).status()) &&
           isRefused(device->allocate(8).status()) && isRefused(device->upload(*a, &value, 4)) &&
           isRefused(device->download(*a, &value, 4)) && isRefused(device->fill(*a, 4, [](void *) {})) &&
           isRefused(device->record(*loaded, {a, a, c}, {}).status()) && isRefused(device->run({command.get()})) &&
           isRefused(device->submit({command.get()}).status()) && isRefused(device->wait(1)) &&
           isRefused(device->runTimed(*command, times)) && !device->importHost(&value, 4, nullptr);
  }));
  mayEnd = true;
  thread.join();
}

/// Forks while another thread opens Vulkan for the first time in its process. Returns true if a child hangs.
static bool hangsBesideOpening() {
  std::atomic<bool> begins{false};
  std::thread other([&begins] {
    begins = true;
    static_cast<void>(vulkan::VulkanInstance::get());
  });
  while (!begins)
    std::this_thread::yield();
  bool hangs = false;
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    hangs = hangs || !holdsInChild([] {
              Status status = vulkan::VulkanInstance::get().status();
              return status.isOk() ||
                     status.message().find("while another thread of its parent opened Vulkan") != std::string::npos;
            });
  }
  other.join();
  return hangs;
}

TEST(VulkanForkDeathTest, AChildDoesNotWaitForAThreadThatOpensVulkan) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(_exit(hangsBesideOpening()), testing::ExitedWithCode(0), "");
}

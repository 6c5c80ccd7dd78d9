// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of fault injection itself.

#include "Faults.h"
#include "Kernels.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// A device without a driver. Handles of the Vulkan loader begin with a pointer to its function table.
struct FakeHandle {
  const void *dispatch = this;
  VkDevice device() { return reinterpret_cast<VkDevice>(this); }
};

StatusOr<std::unique_ptr<vulkan::VulkanInstance>> makeInstance() {
  return vulkan::VulkanInstance::make([](vulkan::VulkanInstance &instance) { wrapFunctions(instance); });
}

StatusOr<std::shared_ptr<vulkan::Context>> open(vulkan::VulkanInstance &instance) {
  return vulkan::openContext(instance, "", [](vulkan::DeviceTable &device) { wrapFunctions(device); });
}

} // namespace

TEST(Faults, aSecondDestroyFailsTheTest) {
  FakeHandle handle;
  vulkan::DeviceTable table;
  table.device = handle.device();
  table.vk.vkDestroyBuffer = [](VkDevice, VkBuffer, const VkAllocationCallbacks *) {};
  table.vk.vkCreateBuffer = [](VkDevice, const VkBufferCreateInfo *, const VkAllocationCallbacks *, VkBuffer *buffer) {
    *buffer = reinterpret_cast<VkBuffer>(uintptr_t(1));
    return VK_SUCCESS;
  };
  wrapFunctions(table);
  static VkDevice device;
  static PFN_vkDestroyBuffer destroy;
  static VkBuffer buffer;
  device = table.device;
  destroy = table.vk.vkDestroyBuffer;
  ASSERT_EQ(table.vk.vkCreateBuffer(device, nullptr, nullptr, &buffer), VK_SUCCESS);
  destroy(device, buffer, nullptr);
  EXPECT_NONFATAL_FAILURE(destroy(device, buffer, nullptr), "vkDestroyBuffer of an object that isn't there");
}

TEST(Faults, anUnlistedEntryPointFailsTheTest) {
  EXPECT_FALSE(failuresOf("vkCreateBuffer").empty());
  EXPECT_NONFATAL_FAILURE(static_cast<void>(failuresOf("vkUnlisted")), "vkUnlisted isn't in the list of entry points");
}

TEST(Faults, allFunctionsAreListed) {
#define INLAY_CHECK(entry) static_cast<void>(failuresOf(#entry));
  INLAY_LOADER_FUNCTIONS(INLAY_CHECK)
  INLAY_INSTANCE_FUNCTIONS(INLAY_CHECK)
  INLAY_DEVICE_FUNCTIONS(INLAY_CHECK)
#undef INLAY_CHECK
}

/// Devices of instances with and without a layer have different functions.
TEST(Faults, callsReachTheFunctionsOfTheirDevice) {
  FakeHandle handles[2];
  vulkan::DeviceTable tables[2];
  for (int i = 0; i < 2; ++i)
    tables[i].device = handles[i].device();
  tables[0].vk.vkDeviceWaitIdle = [](VkDevice) { return VK_NOT_READY; };
  tables[1].vk.vkDeviceWaitIdle = [](VkDevice) { return VK_EVENT_SET; };
  for (vulkan::DeviceTable &table : tables)
    wrapFunctions(table);
  EXPECT_EQ(tables[0].vk.vkDeviceWaitIdle(tables[0].device), VK_NOT_READY);
  EXPECT_EQ(tables[1].vk.vkDeviceWaitIdle(tables[1].device), VK_EVENT_SET);
  EXPECT_EQ(tables[0].vk.vkCreateBuffer, nullptr) << "the device lacks it";
}

/// Exits after a device was leaked, and after another device was opened whose instance has the validation layer.
[[noreturn]] static void exitAfterALeak() {
  setenv("INLAY_VULKAN_VALIDATION", "0", 1);
  setenv("INLAY_DEVICE_TIMEOUT", "0.05", 1);
  vulkan::VulkanInstance &instance = keepForever(std::move(*makeInstance()));
  armFaults({{"vkQueueSubmit2", 0, VK_SUCCESS}});
  {
    std::shared_ptr<vulkan::Context> context = *open(instance);
    std::shared_ptr<Device> device = vulkan::makeDevice(context);
    auto engine = *device->load(elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(8)));
    auto buffer = *device->allocate(32);
    auto command = std::move(*device->record(*engine, {buffer, buffer, buffer}, {}));
    if (device->run({command.get()}).code() != StatusCode::DeviceLost)
      std::fprintf(stderr, "the device isn't lost\n");
  }
  setenv("INLAY_VULKAN_VALIDATION", "1", 1);
  vulkan::VulkanInstance &other = keepForever(std::move(*makeInstance()));
  std::shared_ptr<vulkan::Context> context = *open(other);
  armFaults({{"vkGetSemaphoreCounterValue", 0, VK_ERROR_DEVICE_LOST}}); // so that the exit doesn't poll for long
  std::exit(0);
}

TEST(FaultsAtExit, aLeakedDeviceIsDrainedByItsOwnFunctions) {
  if (auto instance = makeInstance(); !instance.isOk() || !open(**instance).isOk()) {
    ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr);
    GTEST_SKIP() << "no Vulkan device";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitAfterALeak(), testing::ExitedWithCode(0), "^$");
}

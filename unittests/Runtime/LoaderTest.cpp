// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans become programs; devices are shared, and those that can't run a plan aren't taken.

#include "inlay/Runtime/Loader/Loader.h"
#include "Kernels.h"
#include "PlanBuilder.h"
#include "inlay/Runtime/Host/Processor.h"
#include "inlay/Runtime/Loader/SharedDevice.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

std::vector<char> readSample() {
  std::ifstream file(INLAY_CODE_SAMPLE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// y = sin(x) * 2 + 1 on the host.
PlanBuilder sinePlan() {
  PlanBuilder b;
  uint32_t x = b.input("x", {Expr(4)}), y = b.output("y", {Expr(4)});
  b.call(b.hostFunction("sample_sine", {Access::Read, Access::Write}), {x, y});
  b.plan->hostCode.triple = host::thisProcessor().arch + "-unknown-linux-gnu";
  b.plan->hostCode.objects.push_back({"any", {}, readSample()});
  return b;
}

/// c = a + b on a device.
std::shared_ptr<Plan> sumPlan(std::vector<std::string> requirements = {}) {
  PlanBuilder b;
  uint32_t a = b.input("a", {Expr(4)}), c = b.output("c", {Expr(4)});
  uint32_t on = b.temporary("a", MemorySpace::Device, {Expr(4)}),
           sum = b.temporary("c", MemorySpace::Device, {Expr(4)});
  Kernel kernel = binaryKernel("sum", "OpFAdd");
  kernel.requirements = std::move(requirements);
  b.plan->engines.push_back(elementwiseEngine(kernel, Expr(4)));
  uint32_t first = b.copy(a, on);
  uint32_t second = b.launch(0, {on, on, sum}, {first});
  b.copy(sum, c, {second});
  return b.plan;
}

TEST(Loader, hostCodeRunsWithoutADevice) {
  auto opened = loadPlan(sinePlan().plan);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  EXPECT_EQ(opened->device, nullptr);
  std::vector<float> x = {0, 0.5f, 1, 2}, y(4);
  EXPECT_EQ(opened->program->call({view(x)}, {view(y)}).message(), "");
  EXPECT_FLOAT_EQ(y[3], std::sin(2.0f) * 2 + 1);
}

TEST(Loader, codeForAnotherProcessorIsRefused) {
  PlanBuilder b = sinePlan();
  b.plan->hostCode.objects[0].cpu = "newer";
  b.plan->hostCode.objects[0].features = {"avx4096"};
  auto opened = loadPlan(b.plan);
  EXPECT_EQ(opened.status().code(), StatusCode::Unavailable);
  EXPECT_NE(opened.status().message().find("that for 'newer' needs avx4096; the processor has "), std::string::npos)
      << opened.status().message();
}

struct LoaderOnDevice : testing::Test {
  void SetUp() override {
    if (auto devices = vulkan::selectDevice(""); !devices.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << devices.status().message();
      GTEST_SKIP() << devices.status().message();
    }
  }
};

TEST_F(LoaderOnDevice, programsShareADevice) {
  std::shared_ptr<Device> device;
  {
    auto first = loadPlan(sumPlan()), second = loadPlan(sumPlan());
    ASSERT_TRUE(first.isOk()) << first.status().message();
    ASSERT_TRUE(second.isOk()) << second.status().message();
    EXPECT_EQ(first->device, second->device);
    std::vector<float> a = {1, 2, 3, 4}, c(4);
    EXPECT_EQ(second->program->call({view(a)}, {view(c)}).message(), "");
    EXPECT_EQ(c, (std::vector<float>{2, 4, 6, 8}));
    device = first->device;
  }
  auto again = reopenDevice(device), same = reopenDevice(device);
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_NE(*again, device);
  EXPECT_EQ(*again, *same);
  auto after = loadPlan(sumPlan());
  ASSERT_TRUE(after.isOk());
  EXPECT_EQ(after->device, *again);
}

TEST_F(LoaderOnDevice, errorsSayWhatEachDeviceLacks) {
  auto opened = loadPlan(sumPlan({"workgroup-memory=2000000000"}));
  EXPECT_EQ(opened.status().code(), StatusCode::Unavailable);
  const std::string &message = opened.status().message();
  EXPECT_NE(message.find("kernel 'sum': needs 2000000000 bytes of workgroup memory, but the device has"),
            std::string::npos)
      << message;
}

TEST(SharedDevice, unfitDevicesAreNotChosen) {
  vulkan::DeviceCaps small = vulkan::DeviceCaps::computeDefault(), large = small, gone = small;
  large.float16 = true;
  gone.unusable = "too old";
  std::vector<vulkan::DeviceCaps> devices = {small, large, gone};
  markUnfit(devices, *sumPlan({"float16"}));
  EXPECT_EQ(devices[0].unusable, "kernel 'sum': needs 'float16', which device 'default' doesn't have");
  EXPECT_EQ(devices[1].unusable, "");
  EXPECT_EQ(devices[2].unusable, "too old");
}

} // namespace

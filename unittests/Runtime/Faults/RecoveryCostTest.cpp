// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the cost of recovery: nothing measurable per call, and the change of programs at a failure.

#include "FakeDevice.h"
#include "Faults.h"
#include "Kernels.h"
#include "PlanBuilder.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(INLAY_EMULATOR)
constexpr bool kCountsTime = false; // sanitizers and emulators cost more than what is measured
#else
constexpr bool kCountsTime = true;
#endif

using Milliseconds = std::chrono::duration<double, std::milli>;

template <typename Work>
double measure(Work work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return Milliseconds(std::chrono::steady_clock::now() - begin).count();
}

struct Library final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &) override {
    return HostEntry([](void *const *buffers) {
      const auto *x = static_cast<const float *>(buffers[0]), *w = static_cast<const float *>(buffers[1]);
      for (int64_t i = 0, count = *static_cast<int64_t *>(buffers[3]); i < count; ++i)
        static_cast<float *>(buffers[2])[i] = x[i] + w[i];
    });
  }
};

/// y = x + w over `count` elements.
std::shared_ptr<Plan> makePlan(int64_t count) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(count)}), y = builder.output("y", {Expr(count)});
  uint32_t w = builder.constant("w", MemorySpace::Device, std::vector<float>(size_t(count), 2));
  uint32_t a = builder.temporary("a", MemorySpace::Device, {Expr(count)}),
           b = builder.temporary("b", MemorySpace::Device, {Expr(count)});
  builder.plan->engines = {elementwiseEngine(binaryKernel("add", "OpFAdd"), Expr(count))};
  builder.plan->engines[0].hostVersion =
      static_cast<int32_t>(builder.hostFunction("add", {Access::Read, Access::Read, Access::Write}));
  builder.plan->hostCode.functions[0].sizes = {Expr(count)};
  builder.copy(x, a);
  builder.launch(0, {a, w, b});
  builder.copy(b, y);
  return builder.plan;
}

} // namespace

TEST(RecoveryCost, OfACall) {
  std::shared_ptr<Plan> plan = makePlan(4);
  auto device = std::make_shared<FakeDevice>(true);
  auto plain = Program::load(plan, device, std::make_shared<Library>());
  auto recovering = loadRecovering(plan, device, std::make_shared<Library>(), {}, {}, nullptr);
  ASSERT_TRUE(plain.isOk() && recovering.isOk());
  std::vector<float> x(4, 1), y(4);
  constexpr int kCalls = 20000;
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < 2; ++i) {
      Program &program = i == 0 ? **plain : **recovering;
      bool isOk = true;
      double time = measure([&] {
        for (int call = 0; call < kCalls; ++call)
          isOk = program.call({view(x)}, {view(y)}).isOk() && isOk;
      });
      ASSERT_TRUE(isOk);
      best[i] = std::min(best[i], time * 1e6 / kCalls);
    }
  fmt::print("a call takes {:.0f} ns, one that would be recovered {:.0f} ns\n", best[0], best[1]);
  if (kCountsTime) {
    EXPECT_LT(best[1] - best[0], 2000);
  }
}

TEST(RecoveryCost, OfAFailure) {
  constexpr int64_t kCount = 65535 * 16;
  auto instance = vulkan::VulkanInstance::make([](vulkan::VulkanInstance &instance) { wrapFunctions(instance); });
  if (!instance.isOk())
    GTEST_SKIP() << instance.status().message();
  std::shared_ptr<Plan> plan = makePlan(kCount);
  std::vector<float> x(size_t(kCount), 1), y(size_t(kCount), 0.0f);
  double minimum = 1e9;
  for (int round = 0; round < 3; ++round) {
    auto context = vulkan::openContext(**instance, "", [](vulkan::DeviceTable &device) { wrapFunctions(device); });
    ASSERT_TRUE(context.isOk()) << context.status().message();
    RecoveryOptions options;
    options.notify = [](const RecoveryNotice &) {};
    auto program =
        loadRecovering(plan, vulkan::makeDevice(*context), std::make_shared<Library>(), {}, {}, nullptr, options);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    auto call = [&] { ASSERT_EQ((*program)->call({view(x)}, {view(y)}).message(), ""); };
    call();
    double onDevice = measure(call);
    armFaults({{"vkQueueSubmit2", 0, VK_ERROR_DEVICE_LOST}});
    double failing = measure(call);
    EXPECT_EQ(y[kCount - 1], 3);
    ASSERT_EQ(countStruck(), 1u);
    armFaults({});
    double onHost = std::min(measure(call), measure(call));
    fmt::print("on the device {:.1f} ms, failing {:.1f} ms, on the host {:.1f} ms: {:.1f} ms more\n", onDevice, failing,
               onHost, failing - onHost);
    minimum = std::min(minimum, failing - onHost);
  }
  if (kCountsTime) {
    EXPECT_LT(minimum, 50);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations of programs on a Vulkan device fail in turn: a random sample, or all of them with INLAY_FULL=1. The
// operation must return a typed error or the right result, later calls must work, and nothing may be left on the
// device.

#include "../Faults/Programs.h"
#include "../TemporaryPath.h"
#include "Allocations.h"
#include "FailEach.h"
#include "Runtime/Vulkan/Device/ProcessExit.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"
#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Recovery.h"
#include "inlay/Runtime/Core/Trace.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// The arguments of a call, which tests make without failures.
struct Arguments {
  Arguments(const FaultProgram &program, size_t lanes)
      : x(std::make_shared<std::vector<float>>(lanes + program.importedElements)), y(x->size(), -1.0f) {
    for (size_t i = 0; i < x->size(); ++i)
      (*x)[i] = float(3 + i % 17);
    inputs = {view(*x)};
    inputs[0].owner = program.importedElements > 0 ? x : nullptr;
    outputs = {view(y)};
  }
  Arguments(const Arguments &) = delete;

  /// Returns an error unless the result is right for one of these weights.
  Status check(const FaultProgram &program, std::initializer_list<float> weights) const {
    for (float weight : weights) {
      bool isRight = true;
      for (size_t i = 0; i < x->size() && isRight; ++i) {
        float expected = program.compute(*x, i, weightOf(weight, int64_t(i)));
        isRight = std::fabs(y[i] - expected) <= 1e-3f * std::fabs(expected);
      }
      if (isRight)
        return Status::ok();
    }
    return {StatusCode::Internal, "a wrong result"};
  }

  std::shared_ptr<std::vector<float>> x;
  std::vector<float> y;
  std::vector<TensorView> inputs, outputs;
};

Status callOnDevice(const FaultProgram &description, Program &program, size_t lanes,
                    std::initializer_list<float> weights = {1}) {
  auto arguments = withoutFailures([&] { return std::make_unique<Arguments>(description, lanes); });
  INLAY_RETURN_IF_ERROR(program.call(arguments->inputs, arguments->outputs));
  return withoutFailures([&] { return arguments->check(description, weights); });
}

/// The parameter is the number of a program.
struct VulkanAllocationTest : testing::TestWithParam<size_t> {
  void SetUp() override {
    setenv("XDG_CACHE_HOME", (testing::TempDir() + "/inlay-allocation-cache").c_str(), 1);
    auto opened = vulkan::openContext("");
    if (!opened.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << opened.status().message();
      GTEST_SKIP() << opened.status().message();
    }
    context = *opened;
    device = vulkan::makeDevice(context);
  }
  /// The validation layer reports objects that the device still has.
  void TearDown() override {
    if (!context)
      return;
    vulkan::VulkanInstance &instance = context->instance;
    std::weak_ptr<vulkan::Context> last = context;
    loaded = nullptr;
    device = nullptr;
    context = nullptr;
    EXPECT_TRUE(last.expired()) << "something still uses the device";
    EXPECT_EQ(instance.log().take().message(), "");
  }

  StatusOr<std::unique_ptr<Program>> load() const {
    return Program::load(program.plan, device, library, faultCallback, {}, nullptr);
  }
  void makeProgram() {
    auto made = load();
    ASSERT_TRUE(made.isOk()) << made.status().message();
    loaded = std::move(*made);
  }

  const FaultProgram program = faultPrograms()[GetParam()];
  const std::shared_ptr<HostSymbolResolver> library = faultLibrary();
  std::shared_ptr<vulkan::Context> context;
  std::shared_ptr<Device> device;
  std::unique_ptr<Program> loaded;
};
INSTANTIATE_TEST_SUITE_P(Programs, VulkanAllocationTest, testing::Range<size_t>(0, faultPrograms().size()),
                         [](const auto &info) { return faultPrograms()[info.param].name; });

using VulkanDeviceAllocationTest = VulkanAllocationTest;
INSTANTIATE_TEST_SUITE_P(Straight, VulkanDeviceAllocationTest, testing::Values(0));

} // namespace

TEST_P(VulkanDeviceAllocationTest, OfOpening) {
  failSome(20, [] {
    auto opened = vulkan::openContext("");
    return opened.isOk() ? opened->get()->queue.state() : opened.status();
  });
}

TEST_P(VulkanAllocationTest, OfLoading) {
  auto work = [&]() -> Status {
    auto made = load();
    return made.isOk() ? (*made)->wait() : made.status();
  };
  failSome(12, work, [&] {
    auto made = load();
    return made.isOk() ? callOnDevice(program, **made, 10) : made.status();
  });
}

TEST_P(VulkanAllocationTest, OfCalls) {
  makeProgram();
  size_t lanes = 0; // each call has other sizes, so that it records commands
  failSome(
      12, [&] { return callOnDevice(program, *loaded, 1 + ++lanes % kMaxLanes); },
      [&] { return callOnDevice(program, *loaded, kMaxLanes); });
  Arguments a(program, 10);
  failSome(
      6, [&] { return loaded->callForResults(a.inputs).status(); }, [&] { return callOnDevice(program, *loaded, 10); });
  failSome(
      6,
      [&] {
        auto trace = withoutFailures([] { return std::make_unique<Trace>(); });
        return loaded->profile(a.inputs, a.outputs, trace.get()).status();
      },
      [&] { return callOnDevice(program, *loaded, 10); });
}

TEST_P(VulkanAllocationTest, OfReplacingConstants) {
  makeProgram();
  std::vector<std::pair<uint32_t, Constant>> weights[] = {{{0, makeWeights(1)}}, {{0, makeWeights(2)}}};
  size_t turn = 0;
  failSome(
      6, [&] { return loaded->replaceConstants(weights[++turn % 2]); },
      [&] { return callOnDevice(program, *loaded, 10, {1, 2}); });
}

/// Destructors must not fail.
TEST_P(VulkanAllocationTest, OfClosing) {
  int64_t number = 0;
  for (bool hasFailed = true; hasFailed; ++number) {
    makeProgram();
    ASSERT_EQ(callOnDevice(program, *loaded, 10).message(), "");
    failAllocation(number);
    loaded = nullptr;
    hasFailed = stopFailing();
  }
  RecordProperty("allocations", std::to_string(number - 1));
}

TEST_P(VulkanAllocationTest, OfSaving) {
  std::string path = temporaryPath("saved.inlay");
  failSome(
      6, [&] { return writeContainer(path, *program.plan, {"{}", "{}"}, {"", /*allowFramework=*/true}); },
      [&] { return readContainer(path).status(); });
  std::filesystem::remove(path);
}

/// A device that exceeds its time limit counts as lost even if there is no memory for the message.
TEST_P(VulkanDeviceAllocationTest, OfTimeouts) {
  int64_t number = 0;
  for (bool hasFailed = true; hasFailed; ++number) {
    auto own = *vulkan::openContext("");
    own->vk.vkWaitSemaphores = [](VkDevice, const VkSemaphoreWaitInfo *, uint64_t) { return VK_TIMEOUT; };
    failAllocation(number);
    Status status = guard([&] { return own->queue.wait(0); });
    hasFailed = stopFailing();
    EXPECT_EQ(own->queue.state().code(), StatusCode::DeviceLost) << "allocation " << number;
    EXPECT_EQ(status.code(), hasFailed ? StatusCode::ResourceExhausted : StatusCode::DeviceLost);
  }
  EXPECT_GT(number, 1);
}

/// Registrations that fail don't count, so that one succeeds later.
[[noreturn]] static void exitAfterFailedRegistrations() {
  vulkan::precedeExitHandlers(); // what lives as long as the process is made here
  failAllocation(0, /*all=*/true);
  for (int i = 0; i < 200; ++i)
    vulkan::precedeExitHandlers();
  if (!stopFailing())
    std::fputs("nothing failed\n", stderr);
  std::atexit([] { std::fputs(vulkan::isExiting() ? "exiting\n" : "not exiting\n", stderr); });
  vulkan::precedeExitHandlers();
  std::exit(0);
}

TEST(ExitAllocationTest, FailedRegistrationsAreRepeated) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(exitAfterFailedRegistrations(), testing::ExitedWithCode(0), "^exiting\n$");
}

/// A device is lost while allocations fail. The host computes the result, or the error has a type.
TEST_P(VulkanDeviceAllocationTest, OfRecovery) {
  static std::atomic<int> failures;
  static PFN_vkQueueSubmit2 submit;
  submit = context->vk.vkQueueSubmit2;
  auto life = [&]() -> Status {
    auto own = withoutFailures([] { return *vulkan::openContext(""); });
    own->vk.vkQueueSubmit2 = [](VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence) {
      return failures-- > 0 ? VK_ERROR_DEVICE_LOST : submit(queue, count, infos, fence);
    };
    failures = 0;
    RecoveryOptions options = withoutFailures([&] {
      RecoveryOptions made;
      made.firstBackoff = made.longestBackoff = std::chrono::milliseconds(1);
      made.reopenDevice = [this]() -> StatusOr<std::shared_ptr<Device>> { return device; };
      made.notify = [](const RecoveryNotice &) {};
      return made;
    });
    auto made = loadRecovering(program.plan, vulkan::makeDevice(own), library, faultCallback, {}, nullptr, options);
    if (!made.isOk())
      return made.status();
    for (int call = 0; call < 3; ++call) {
      failures = call == 1;
      INLAY_RETURN_IF_ERROR(callOnDevice(program, **made, 10));
    }
    return Status::ok();
  };
  failSome(4, life);
}

/// Threads share a program while allocations of any of them fail.
TEST_P(VulkanAllocationTest, OfCallsInSeveralThreads) {
  makeProgram();
  std::atomic<bool> stop{false};
  std::atomic<size_t> calls{0}, errors{0}, wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t seed = 0; seed < 3; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!stop) {
        Status status = callOnDevice(program, *loaded, 1 + random() % kMaxLanes);
        ++calls;
        errors += status.code() == StatusCode::ResourceExhausted;
        wrong += !status.isOk() && status.code() != StatusCode::ResourceExhausted;
      }
    });
  std::mt19937 random(11);
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(isFull() ? 5000 : 200);
  size_t failures = 0;
  while (std::chrono::steady_clock::now() < end || failures == 0) {
    failAllocation(random() % 100, /*all=*/random() % 4 == 0);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    failures += stopFailing();
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(callOnDevice(program, *loaded, 10).message(), "");
  RecordProperty("calls", std::to_string(calls));
  RecordProperty("errors", std::to_string(errors));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of processes that exit while threads call the driver and while devices run commands.

#include "Runtime/Vulkan/Device/ProcessExit.h"
#include "../VulkanFixture.h"

#include <atomic>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;
using namespace inlay::rt::vulkan;

namespace {

void say(const char *text) { std::fprintf(stderr, "%s\n", text); }

struct ProcessExitTest : testing::Test {
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

/// Exits while another thread uses the driver. The exit handler stands for those of the driver.
[[noreturn]] void exitDuringUse() {
  std::atexit([] { say(DriverUse() ? "allowed" : "driver ends"); });
  precedeExitHandlers();
  std::atomic<bool> begun{false};
  std::thread([&begun] {
    DriverUse use;
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    say("use ends");
  }).detach();
  while (!begun)
    std::this_thread::yield();
  std::exit(0);
}

TEST_F(ProcessExitTest, theDriverEndsAfterItsUses) {
  EXPECT_EXIT(exitDuringUse(), testing::ExitedWithCode(0), "use ends\ndriver ends\n$");
}

TEST_F(ProcessExitTest, aThreadThatExitsInsideTheDriverDoesNotWaitForItself) {
  auto exitInside = [] {
    precedeExitHandlers();
    DriverUse use;
    std::exit(0);
  };
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(exitInside(), testing::ExitedWithCode(0), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9));
}

/// A layer is loaded after the handler was registered as often as it is without a new library.
[[noreturn]] void exitWithALateLibrary() {
  for (int i = 0; i < 100; ++i)
    precedeExitHandlers();
  if (!dlopen("libanl.so.1", RTLD_NOW)) // of the C library; nothing else loads it
    say("no library");
  std::atexit([] { say(DriverUse() ? "allowed" : "driver ends"); });
  precedeExitHandlers();
  std::exit(0);
}

TEST_F(ProcessExitTest, theStepsPrecedeTheHandlersOfALateLibrary) {
  EXPECT_EXIT(exitWithALateLibrary(), testing::ExitedWithCode(0), "^driver ends\n$");
}

/// Forks while another thread registers the handler, and registers it in the child. Returns true if a child hangs.
bool hangsInAChild() {
  std::atomic<bool> stop{false};
  std::thread other([&stop] {
    while (!stop)
      precedeExitHandlers();
  });
  bool hangs = false;
  for (int i = 0; i < 100 && !hangs; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(2);
      precedeExitHandlers();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    hangs = !WIFEXITED(status);
  }
  stop = true;
  other.join();
  return hangs;
}

TEST_F(ProcessExitTest, aChildOfForkRegistersNothing) { EXPECT_FALSE(hangsInAChild()); }

void sayStep(void *object, ExitStep::Deadline) { say(static_cast<const char *>(object)); }

TEST_F(ProcessExitTest, workIsCanceledBeforeDevicesAreDrained) {
  auto exitWithSteps = [] {
    static char drain[] = "drain", cancel[] = "cancel", removed[] = "removed";
    addExitStep({ExitStep::Phase::Drain, sayStep, drain});
    addExitStep({ExitStep::Phase::Cancel, sayStep, cancel});
    addExitStep({ExitStep::Phase::Cancel, sayStep, removed});
    removeExitStep({ExitStep::Phase::Cancel, sayStep, removed});
    precedeExitHandlers();
    precedeExitHandlers(); // the steps run once
    std::exit(0);
  };
  EXPECT_EXIT(exitWithSteps(), testing::ExitedWithCode(0), "^cancel\ndrain\n$");
}

struct ProcessExitOnDevice : VulkanFixture {
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    VulkanFixture::SetUp();
  }

  /// Returns an engine of dispatches that take some milliseconds each.
  static Engine longEngine(size_t dispatches) {
    Engine engine = elementwiseEngine(binaryKernel("sum", "OpFAdd"), Expr(kCount));
    engine.dispatches.resize(dispatches, engine.dispatches[0]);
    return engine;
  }
  static constexpr int64_t kCount = 1 << 18;
};

/// Exits while threads run commands endlessly, each on a device of its own.
[[noreturn]] void exitDuringRuns(const Engine &engine, size_t bytes) {
  std::atomic<int> running{0};
  for (int i = 0; i < 4; ++i)
    std::thread([&] {
      auto context = openContext("");
      std::shared_ptr<Device> device = makeDevice(*context);
      auto buffer = *device->allocate(bytes);
      auto loaded = *device->load(engine);
      auto command = std::move(*device->record(*loaded, {buffer, buffer, buffer}, {}));
      ++running;
      while (device->run({command.get()}).isOk()) {
      }
      pause(); // the objects live until the process has ended
    }).detach();
  while (running < 4)
    std::this_thread::yield();
  std::exit(0);
}

TEST_F(ProcessExitOnDevice, threadsThatRunCommandsDoNotCrashIt) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EXIT(exitDuringRuns(longEngine(1), kCount * sizeof(float)), testing::ExitedWithCode(0), "");
}

/// Exits while another thread has submitted commands but has not yet waited for them.
[[noreturn]] void exitBetweenSubmitAndWait(const Engine &engine, size_t bytes) {
  static std::atomic<bool> isSubmitted{false}, hasWaited{false}, isDrained{false};
  std::atexit([] { // after the steps
    while (!hasWaited)
      std::this_thread::yield();
  });
  std::shared_ptr<Device> device = makeDevice(*openContext(""));
  addExitStep(
      {ExitStep::Phase::Drain, [](void *, ExitStep::Deadline) { isDrained = true; }, nullptr}); // after the device's
  auto buffer = *device->allocate(bytes);
  auto loaded = *device->load(engine);
  auto command = std::move(*device->record(*loaded, {buffer, buffer, buffer}, {}));
  std::thread([&] {
    uint64_t submission = *device->submit({command.get()});
    isSubmitted = true;
    while (!isExiting())
      std::this_thread::yield();
    say(device->wait(submission).message().c_str());
    say(isDrained ? "idle" : "may be busy");
    hasWaited = true;
    pause(); // the objects live until the process has ended
  }).detach();
  while (!isSubmitted)
    std::this_thread::yield();
  std::exit(0);
}

TEST_F(ProcessExitOnDevice, aWaitDuringTheExitEndsAfterTheCommands) {
  EXPECT_EXIT(exitBetweenSubmitAndWait(longEngine(8), kCount * sizeof(float)), testing::ExitedWithCode(0),
              "^the process is exiting\nidle\n$");
}

/// Exits while a device runs commands that exceeded their time limit.
[[noreturn]] void exitWithALostDevice(const Engine &engine, size_t bytes) {
  static Context *watched = nullptr;
  std::atexit([] { say(watched->isIdle() ? "idle" : "busy"); });
  setenv("INLAY_DEVICE_TIMEOUT", "1e-9", 1);
  // The handler above needs the context while the process exits.
  static auto *context = new std::shared_ptr<Context>(*openContext(""));
  watched = context->get();
  std::shared_ptr<Device> device = makeDevice(*context);
  auto buffer = *device->allocate(bytes);
  auto loaded = *device->load(engine);
  auto command = std::move(*device->record(*loaded, {buffer, buffer, buffer}, {}));
  if (device->run({command.get()}).code() != StatusCode::DeviceLost)
    say("not lost");
  std::exit(0);
}

TEST_F(ProcessExitOnDevice, aLostDeviceEndsItsCommandsBefore) {
  // Few dispatches, so that a busy machine runs them within the time limit of the exit.
  EXPECT_EXIT(exitWithALostDevice(longEngine(8), kCount * sizeof(float)), testing::ExitedWithCode(0), "^idle\n$");
}

} // namespace

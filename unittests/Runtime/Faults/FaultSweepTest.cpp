// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Injects each single fault, or a sample of all, and pairs of faults into the Vulkan calls of some programs. Each
// result must be correct, or the error must have a code. Nothing may leak or hang. INLAY_FULL=1 runs all faults.

#include "Scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// Ends the process with a message if there is no progress for a while.
class Watchdog {
public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void expect(std::string what) {
    std::lock_guard<std::mutex> lock(mutex_);
    what_ = std::move(what);
    since_ = std::chrono::steady_clock::now();
  }

private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stops_) {
      changed_.wait_for(lock, std::chrono::seconds(1));
      if (std::chrono::steady_clock::now() - since_ > std::chrono::seconds(60)) {
        std::fprintf(stderr, "hangs: %s\n", what_.c_str());
        _exit(1);
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "nothing yet";
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  bool stops_ = false;
  std::thread thread_;
};

struct Environment {
  Environment(const char *name, const char *value) : name(name) {
    if (const char *now = std::getenv(name))
      old = now;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { old ? setenv(name, old->c_str(), 1) : unsetenv(name); }
  const char *name;
  std::optional<std::string> old;
};

struct Totals {
  size_t runs = 0, faults = 0, struck = 0, stuck = 0, errors = 0, recoveries = 0;
};

bool isFull() {
  const char *value = std::getenv("INLAY_FULL");
  return value && *value && *value != '0';
}

/// Returns all faults for the calls of a run without faults.
std::vector<Fault> listFaults(const std::map<std::string, uint32_t> &calls) {
  std::vector<Fault> faults;
  for (const auto &[entry, count] : calls)
    for (VkResult result : failuresOf(entry))
      for (uint32_t call = 0; call < count; ++call)
        faults.push_back({entry, call, result});
  return faults;
}

/// Returns `count` random pairs of faults of two different calls.
std::vector<std::vector<Fault>> pickPairs(std::vector<Fault> faults, size_t count, std::mt19937 &random) {
  std::vector<std::vector<Fault>> pairs;
  while (pairs.size() < count) {
    const Fault &first = faults[random() % faults.size()], &second = faults[random() % faults.size()];
    if (first.entry != second.entry || first.call != second.call)
      pairs.push_back({first, second});
  }
  return pairs;
}

/// Returns the faults as lists of one, in random order and `count` at most.
std::vector<std::vector<Fault>> pickSingles(std::vector<Fault> faults, size_t count, std::mt19937 &random) {
  std::shuffle(faults.begin(), faults.end(), random);
  faults.resize(std::min(faults.size(), count));
  std::vector<std::vector<Fault>> singles;
  for (Fault &fault : faults)
    singles.push_back({std::move(fault)});
  return singles;
}

std::string describe(const std::vector<Fault> &faults) {
  std::string text;
  for (const Fault &fault : faults)
    text += (text.empty() ? "" : ", ") + toString(fault);
  return faults.empty() ? "no fault" : text;
}

using Pick = decltype(&pickSingles);

struct FaultSweepTest : testing::Test {
  /// Runs each program with `sample` of the faults that `pick` returns, or with `fullSample` of them with INLAY_FULL=1.
  void sweep(bool staging, bool validation, size_t sample, size_t fullSample, Pick pick = pickSingles) {
    Environment forced("INLAY_VULKAN_FORCE_STAGING", staging ? "1" : "0");
    Environment validated("INLAY_VULKAN_VALIDATION", validation ? "1" : "0");
    auto made = vulkan::VulkanInstance::make([](vulkan::VulkanInstance &instance) { wrapFunctions(instance); });
    if (!made.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << made.status().message();
      GTEST_SKIP() << made.status().message();
    }
    vulkan::VulkanInstance &instance = keepForever(std::move(*made)); // its stuck devices are leaked on purpose
    std::mt19937 random(7);
    Totals totals;
    for (const FaultProgram &program : faultPrograms()) {
      std::string failure = runOne(instance, program, {}, totals);
      ASSERT_EQ(failure, "") << program.name << " without a fault";
      for (std::vector<Fault> &faults : pick(listFaults(countCalls()), isFull() ? fullSample : sample, random)) {
        totals.runs += 1;
        totals.faults += faults.size();
        size_t struck = totals.struck;
        failure = runOne(instance, program, faults, totals);
        ASSERT_EQ(failure, "") << program.name << ", " << describe(faults);
        // The first fault of a pair may prevent the call of the second.
        ASSERT_GT(totals.struck, struck) << program.name << ", " << describe(faults);
      }
    }
    fmt::print("{} runs with {} faults, {} struck, {} runs without end; {} typed errors, {} changes of where segments "
               "run\n",
               totals.runs, totals.faults, totals.struck, totals.stuck, totals.errors, totals.recoveries);
  }

  std::string runOne(vulkan::VulkanInstance &instance, const FaultProgram &program, const std::vector<Fault> &faults,
                     Totals &totals) {
    watchdog.expect(program.name + ", " + describe(faults));
    bool hangs = std::any_of(faults.begin(), faults.end(), [](const Fault &fault) { return fault.hangs(); });
    Environment timeout("INLAY_DEVICE_TIMEOUT", hangs ? "0.2" : "30");
    armFaults(faults);
    Scenario scenario(instance, program);
    scenario.hangs = hangs;
    std::string failure = scenario.run();
    totals.struck += countStruck();
    totals.stuck += hangs;
    totals.errors += scenario.errors();
    totals.recoveries += scenario.recoveries();
    std::string live = describeLiveObjects();
    if (hangs)
      forgetLiveObjects();
    else if (failure.empty() && !live.empty())
      failure = "left behind: " + live;
    if (Status status = instance.log().take(); failure.empty() && !status.isOk())
      failure = status.message();
    if (faults.empty() && scenario.errors() + scenario.recoveries() > 0)
      failure = "something failed without a fault";
    return failure;
  }

  Environment cache{"XDG_CACHE_HOME", (testing::TempDir() + "/inlay-fault-cache").c_str()};
  Watchdog watchdog;
};

} // namespace

TEST_F(FaultSweepTest, OnUnifiedMemory) { sweep(/*staging=*/false, /*validation=*/false, 25, SIZE_MAX); }
TEST_F(FaultSweepTest, OnMemoryThatTheHostCannotSee) { sweep(/*staging=*/true, /*validation=*/false, 25, SIZE_MAX); }

TEST_F(FaultSweepTest, InPairsOnUnifiedMemory) { sweep(false, /*validation=*/false, 12, 2000, pickPairs); }
TEST_F(FaultSweepTest, InPairsOnMemoryThatTheHostCannotSee) { sweep(true, /*validation=*/false, 12, 2000, pickPairs); }

TEST_F(FaultSweepTest, WithTheValidationLayer) { sweep(/*staging=*/true, /*validation=*/true, 6, 100); }

TEST_F(FaultSweepTest, OfTheInstance) {
  Environment validated("INLAY_VULKAN_VALIDATION", "1"); // makes more calls to the instance
  auto wrap = [](vulkan::VulkanInstance &instance) { wrapFunctions(instance); };
  armFaults({});
  auto instance = vulkan::VulkanInstance::make(wrap);
  if (!instance.isOk())
    GTEST_SKIP() << instance.status().message();
  auto wrapDevice = [](vulkan::DeviceTable &device) { wrapFunctions(device); };
  EXPECT_TRUE(vulkan::openContext(**instance, "", wrapDevice).isOk());
  std::vector<Fault> faults = listFaults(countCalls());
  for (const Fault &fault : faults) {
    watchdog.expect(toString(fault));
    armFaults({fault});
    auto other = vulkan::VulkanInstance::make(wrap);
    Status status = other.status();
    if (other.isOk())
      status = vulkan::openContext(**other, "", wrapDevice).status();
    EXPECT_EQ(countStruck(), 1u) << toString(fault);
    if (!status.isOk()) {
      EXPECT_NE(status.message().find("vk"), std::string::npos) << toString(fault) << ": " << status.message();
    }
    EXPECT_EQ(describeLiveObjects(), "") << toString(fault);
  }
  fmt::print("{} faults\n", faults.size());
  armFaults({});
}

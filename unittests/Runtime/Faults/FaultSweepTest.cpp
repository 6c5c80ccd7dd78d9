// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Injects each single fault, or a sample of all, into the Vulkan calls of some programs. Results must be correct or
// errors have a code, nothing may leak and nothing may hang. INLAY_FULL=1 runs all faults.

#include "Scenario.h"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
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
  size_t faults = 0, struck = 0, stuck = 0, errors = 0, recoveries = 0;
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

struct FaultSweepTest : testing::Test {
  /// Runs a sample of faults for each program, or `fullSample` of them with INLAY_FULL=1.
  void sweep(bool staging, bool validation, size_t sample, size_t fullSample) {
    Environment forced("INLAY_VULKAN_FORCE_STAGING", staging ? "1" : "0");
    Environment validated("INLAY_VULKAN_VALIDATION", validation ? "1" : "0");
    auto instance = vulkan::VulkanInstance::make([](vulkan::InstanceTable &table) { wrapTable(table); });
    if (!instance.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << instance.status().message();
      GTEST_SKIP() << instance.status().message();
    }
    std::mt19937 random(7);
    Totals totals;
    for (const FaultProgram &program : faultPrograms()) {
      std::string failure = runOne(**instance, program, std::nullopt, totals);
      ASSERT_EQ(failure, "") << program.name << " without a fault";
      std::vector<Fault> faults = listFaults(countCalls());
      std::shuffle(faults.begin(), faults.end(), random);
      faults.resize(std::min(faults.size(), isFull() ? fullSample : sample));
      for (const Fault &fault : faults) {
        failure = runOne(**instance, program, fault, totals);
        ASSERT_EQ(failure, "") << program.name << ", " << toString(fault);
      }
      totals.faults += faults.size();
    }
    fmt::print("{} faults, {} struck, of these {} without end; {} typed errors, {} changes of where segments run\n",
               totals.faults, totals.struck, totals.stuck, totals.errors, totals.recoveries);
    EXPECT_EQ(totals.struck, totals.faults);
    if (totals.stuck > 0) // its stuck devices are leaked on purpose
      keepForever(std::move(*instance));
  }

  std::string runOne(vulkan::VulkanInstance &instance, const FaultProgram &program, const std::optional<Fault> &fault,
                     Totals &totals) {
    std::string what = fault ? toString(*fault) : "no fault";
    watchdog.expect(program.name + ", " + what);
    bool hangs = fault && fault->hangs();
    Environment timeout("INLAY_DEVICE_TIMEOUT", hangs ? "0.05" : "30");
    armFault(fault);
    Scenario scenario(instance, program);
    scenario.hangs = hangs;
    std::string failure = scenario.run();
    totals.struck += hasStruck();
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
    if (!fault && scenario.errors() + scenario.recoveries() > 0)
      failure = "something failed without a fault";
    return failure;
  }

  Environment cache{"XDG_CACHE_HOME", (testing::TempDir() + "/inlay-fault-cache").c_str()};
  Watchdog watchdog;
};

} // namespace

TEST_F(FaultSweepTest, OnUnifiedMemory) { sweep(/*staging=*/false, /*validation=*/false, 25, SIZE_MAX); }
TEST_F(FaultSweepTest, OnMemoryThatTheHostCannotSee) { sweep(/*staging=*/true, /*validation=*/false, 25, SIZE_MAX); }

TEST_F(FaultSweepTest, WithTheValidationLayer) { sweep(/*staging=*/true, /*validation=*/true, 6, 100); }

TEST_F(FaultSweepTest, OfTheInstance) {
  Environment validated("INLAY_VULKAN_VALIDATION", "1"); // makes more calls to the instance
  auto wrap = [](vulkan::InstanceTable &table) { wrapTable(table); };
  armFault(std::nullopt);
  auto instance = vulkan::VulkanInstance::make(wrap);
  if (!instance.isOk())
    GTEST_SKIP() << instance.status().message();
  auto wrapDevice = [](VolkDeviceTable &table) { wrapTable(table); };
  EXPECT_TRUE(vulkan::openContext(**instance, "", wrapDevice).isOk());
  std::vector<Fault> faults = listFaults(countCalls());
  for (const Fault &fault : faults) {
    watchdog.expect(toString(fault));
    armFault(fault);
    auto other = vulkan::VulkanInstance::make(wrap);
    Status status = other.status();
    if (other.isOk())
      status = vulkan::openContext(**other, "", wrapDevice).status();
    EXPECT_TRUE(hasStruck()) << toString(fault);
    if (!status.isOk()) {
      EXPECT_NE(status.message().find("vk"), std::string::npos) << toString(fault) << ": " << status.message();
    }
    EXPECT_EQ(describeLiveObjects(), "") << toString(fault);
  }
  fmt::print("{} faults\n", faults.size());
  armFault(std::nullopt);
}

TEST(Faults, aSecondDestroyFailsTheTest) {
  VolkDeviceTable table{};
  table.vkDestroyBuffer = [](VkDevice, VkBuffer, const VkAllocationCallbacks *) {};
  table.vkCreateBuffer = [](VkDevice, const VkBufferCreateInfo *, const VkAllocationCallbacks *, VkBuffer *buffer) {
    *buffer = reinterpret_cast<VkBuffer>(uintptr_t(1));
    return VK_SUCCESS;
  };
  wrapTable(table);
  static PFN_vkDestroyBuffer destroy;
  static VkBuffer buffer;
  destroy = table.vkDestroyBuffer;
  ASSERT_EQ(table.vkCreateBuffer(nullptr, nullptr, nullptr, &buffer), VK_SUCCESS);
  destroy(nullptr, buffer, nullptr);
  EXPECT_NONFATAL_FAILURE(destroy(nullptr, buffer, nullptr), "vkDestroyBuffer of an object that isn't there");
}

TEST(Faults, anUnlistedEntryPointFailsTheTest) {
  EXPECT_FALSE(failuresOf("vkCreateBuffer").empty());
  EXPECT_NONFATAL_FAILURE(static_cast<void>(failuresOf("vkUnlisted")), "vkUnlisted isn't in the list of entry points");
}

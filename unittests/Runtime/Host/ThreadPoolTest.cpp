// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Host/Support/ThreadPool.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::host;

/// Restores the number of threads after each test.
class ThreadPoolTest : public testing::Test {
protected:
  void SetUp() override {
    before = pool.threads();
    ASSERT_TRUE(pool.setThreads(4).isOk());
  }
  void TearDown() override { ASSERT_TRUE(pool.setThreads(before).isOk()); }

  /// Returns true if each of `count` iterations runs once.
  bool coversAll(int64_t count, int64_t chunk) {
    std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
    pool.run(count, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        ++runs[static_cast<size_t>(i)];
    });
    for (const std::atomic<int> &run : runs)
      if (run != 1)
        return false;
    return true;
  }

  ThreadPool &pool = ThreadPool::get();
  int64_t before = 1;
};

TEST_F(ThreadPoolTest, EachIterationRunsOnce) {
  for (int64_t threads : {1, 2, 3, 8, 33}) {
    ASSERT_TRUE(pool.setThreads(threads).isOk());
    for (int64_t count : {0, 1, 2, 7, 100, 4096})
      for (int64_t chunk : {0, 1, 3, 1000})
        EXPECT_TRUE(coversAll(count, chunk)) << count << " by " << chunk << " on " << threads;
  }
}

TEST_F(ThreadPoolTest, ThreadsTakeParts) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  pool.run(4, 1, [&](int64_t, int64_t) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  EXPECT_GT(threads.size(), 1u);
}

TEST_F(ThreadPoolTest, ALoopInsideALoopRunsOnItsThread) {
  std::atomic<int> wrong{0}, runs{0};
  pool.run(16, 1, [&](int64_t, int64_t) {
    std::thread::id outer = std::this_thread::get_id();
    pool.run(10, 1, [&](int64_t begin, int64_t end) {
      wrong += std::this_thread::get_id() != outer;
      runs += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(runs, 160);
}

TEST_F(ThreadPoolTest, CallersAtTheSameTimeAllFinish) {
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j)
        good += coversAll(64, 1);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(good, 1200);
}

TEST_F(ThreadPoolTest, TheNumberOfThreadsMayChangeBetweenLoopsOfOthers) {
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0};
  std::thread caller([&] {
    while (!stop)
      bad += !coversAll(100, 1);
  });
  for (int64_t i = 0; i < 30; ++i)
    EXPECT_TRUE(pool.setThreads(1 + i % 5).isOk());
  stop = true;
  caller.join();
  EXPECT_EQ(bad, 0);
}

TEST_F(ThreadPoolTest, WrongNumbersOfThreadsAreErrors) {
  EXPECT_EQ(pool.setThreads(0).message(), "expected a number of threads from 1 to 1024, but got 0");
  EXPECT_EQ(pool.setThreads(1025).message(), "expected a number of threads from 1 to 1024, but got 1025");
  Status inside;
  pool.run(1, 1, [](int64_t, int64_t) {});
  pool.run(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0)
      inside = pool.setThreads(2);
  });
  EXPECT_FALSE(inside.isOk());
  EXPECT_EQ(pool.threads(), 4);
}

TEST_F(ThreadPoolTest, AFailingChunkEndsItsLoopWithItsError) {
  std::atomic<int> runs{0};
  for (int64_t threads : {1, 4}) {
    ASSERT_TRUE(pool.setThreads(threads).isOk());
    runs = 0;
    Status status = pool.run(100000, 1, [&](int64_t begin, int64_t) -> Status {
      ++runs;
      return begin == 5 ? Status(StatusCode::Unavailable, "number 5") : Status::ok();
    });
    EXPECT_EQ(status.code(), StatusCode::Unavailable);
    EXPECT_EQ(status.message(), "number 5");
    EXPECT_LT(runs, 100000) << threads << " threads left out no chunk";
    EXPECT_TRUE(coversAll(1000, 1)) << "after an error";
  }
}

TEST_F(ThreadPoolTest, AnAllocationThatFailsInAChunkIsAnError) {
  std::thread::id caller = std::this_thread::get_id();
  for (bool onCaller : {true, false}) {
    Status status = pool.run(64, 1, [&](int64_t, int64_t) {
      if ((std::this_thread::get_id() == caller) == onCaller)
        throw std::bad_alloc();
      std::this_thread::sleep_for(std::chrono::milliseconds(5)); // so that the other threads get chunks
    });
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << onCaller;
    EXPECT_TRUE(coversAll(1000, 1));
    ASSERT_TRUE(pool.setThreads(3).isOk()) << "the pool is free again";
    ASSERT_TRUE(pool.setThreads(4).isOk());
  }
  Status inside = pool.run(2, 1, [&](int64_t, int64_t) -> Status {
    return pool.run(2, 1, [](int64_t, int64_t) { throw std::bad_alloc(); });
  });
  EXPECT_EQ(inside.code(), StatusCode::ResourceExhausted);
}

TEST_F(ThreadPoolTest, AChildHasWorkersOfItsOwn) {
  EXPECT_TRUE(coversAll(100, 1));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    _exit(coversAll(1000, 1) && coversAll(1000, 1) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(coversAll(100, 1));
}

/// Exits while another thread runs its part of a loop. The handler runs after the pool's destructor.
[[noreturn]] static void exitInsideALoop() {
  std::atexit([] { std::fputs("pool ends\n", stderr); });
  ThreadPool &pool = ThreadPool::get();
  static_cast<void>(pool.setThreads(2));
  std::atomic<bool> begun{false};
  std::thread([&] {
    std::thread::id caller = std::this_thread::get_id();
    pool.run(2, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) {
        while (!begun) // leaves a part for the caller
          std::this_thread::yield();
        return;
      }
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::fputs("part ends\n", stderr);
    });
  }).detach();
  while (!begun)
    std::this_thread::yield();
  std::exit(0);
}

TEST(ThreadPoolDeathTest, AtExitLoopsEndBeforeTheirPool) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(exitInsideALoop(), testing::ExitedWithCode(0), "part ends\npool ends\n$");
}

static void loadAndExit() {
  auto kernels = getHostKernelLoader()->load({});
  std::fputs(kernels.status().message().c_str(), stderr);
  std::exit(kernels.isOk() ? 0 : 7);
}

/// Expects a message when a kernel is loaded with this environment. The variables are read once per process, so each
/// check runs in a new process.
static void expectAtLoad(const char *variable, const char *value, int code, const char *message) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv(variable, value, 1);
  EXPECT_EXIT(loadAndExit(), testing::ExitedWithCode(code), message) << value;
  unsetenv(variable);
}

TEST(HostEnvironment, NoThreadsAreAnErrorAtLoad) {
  expectAtLoad("INLAY_NUM_THREADS", "0", 7, "expected INLAY_NUM_THREADS to be a number from 1 to 1024, but got '0'");
}

TEST(HostEnvironment, TooManyThreadsAreAnErrorAtLoad) {
  expectAtLoad("INLAY_NUM_THREADS", "10000", 7, "a number from 1 to 1024, but got '10000'");
}

TEST(HostEnvironment, WordsAreNoNumbersOfThreads) {
  expectAtLoad("INLAY_NUM_THREADS", "abc", 7, "a number from 1 to 1024, but got 'abc'");
}

TEST(HostEnvironment, ANumberOfThreadsIsTaken) { expectAtLoad("INLAY_NUM_THREADS", "1024", 0, ""); }

TEST(HostEnvironment, DeterministicIsYesOrNo) {
  expectAtLoad("INLAY_DETERMINISTIC", "yes", 7, "expected INLAY_DETERMINISTIC to be 0 or 1, but got 'yes'");
  expectAtLoad("INLAY_DETERMINISTIC", "0", 0, "");
}

TEST(HostEnvironment, ALibraryThatIsNotThereIsAnErrorAtLoad) {
  expectAtLoad("INLAY_HOST_LIBRARY", "/nowhere/lib.so", 7, "INLAY_HOST_LIBRARY: can't load '/nowhere/lib.so'");
}

TEST(HostEnvironment, AnotherLibraryIsAnErrorAtLoad) {
  expectAtLoad("INLAY_HOST_LIBRARY", "libm.so.6", 7, "no function 'inlayOpenHostLibrary'");
}

TEST(HostEnvironment, TheLibraryCanBeTurnedOff) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("INLAY_HOST_LIBRARY", "none", 1);
  EXPECT_EXIT(std::exit(describeHostLibrary() == "built-in kernels" && !hasHostLibrary() ? 0 : 1),
              testing::ExitedWithCode(0), "");
  unsetenv("INLAY_HOST_LIBRARY");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in a child of fork, beside threads that were in calls, and programs that call themselves.

#include "../Child.h"
#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/LazyStatic.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// y = w after a callback that runs `inside`.
struct ForkTest : testing::Test {
  ForkTest() {
    builder.plan->callbacks.push_back({"inside", 2});
    uint32_t x = builder.input("x", {Expr(2)}), y = builder.output("y", {Expr(2)});
    uint32_t w = builder.constant("w", MemorySpace::Host, {1, 2});
    builder.step(StepKind::Callback, 0, {x, w, y});
    auto loaded = Program::load(builder.plan, nullptr, nullptr,
                                [this](uint32_t, const std::vector<TensorView> &inputs,
                                       const std::vector<TensorView> &outputs, const std::vector<int64_t> &) {
                                  if (std::function<void()> run = inside) // which may replace `inside`
                                    run();
                                  std::memcpy(outputs[0].data, inputs[1].data, 8);
                                  return Status::ok();
                                });
    EXPECT_EQ(loaded.status().message(), "");
    program = std::move(*loaded);
  }

  std::vector<float> call() {
    std::vector<float> x(2), y(2);
    Status status = program->call({view(x)}, {view(y)});
    EXPECT_EQ(status.message(), "");
    return y;
  }

  Status replace(std::vector<float> values) {
    auto owner = std::make_shared<std::vector<float>>(std::move(values));
    return program->replaceConstants({{0, Constant{owner->data(), 8, owner, "w"}}});
  }

  /// Returns a thread that is inside of a call, where it waits for `mayEnd`.
  std::thread startWaitingCall() {
    inside = [this] {
      isInside = true;
      while (!mayEnd)
        std::this_thread::yield();
    };
    std::thread thread([this] { call(); });
    while (!isInside)
      std::this_thread::yield();
    return thread;
  }

  PlanBuilder builder;
  std::function<void()> inside;
  std::atomic<bool> isInside{false}, mayEnd{false};
  std::unique_ptr<Program> program;
};

} // namespace

TEST_F(ForkTest, AChildReplacesConstantsBesideACallOfTheParent) {
  std::thread thread = startWaitingCall();
  EXPECT_TRUE(holdsInChild([&] {
    inside = nullptr;
    return replace({5, 6}).isOk() && call() == std::vector<float>({5, 6});
  }));
  mayEnd = true;
  thread.join();
}

TEST_F(ForkTest, AChildCallsBesideAReplacementThatWaitsInTheParent) {
  std::thread caller = startWaitingCall();
  std::thread replacer([&] { EXPECT_TRUE(replace({5, 6}).isOk()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // until it waits
  EXPECT_TRUE(holdsInChild([&] {
    inside = nullptr;
    return call() == std::vector<float>({1, 2});
  }));
  mayEnd = true;
  caller.join();
  replacer.join();
  inside = nullptr;
  EXPECT_EQ(call(), (std::vector<float>{5, 6}));
}

TEST_F(ForkTest, AForkInsideOfACallEndsTheCallInBothProcesses) {
  bool isRight = false, isChild = false;
  inside = [&] {
    inside = nullptr;
    isRight = holdsInChild([&] { return isChild = true, call() == std::vector<float>({1, 2}); });
  };
  EXPECT_EQ(call(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(isRight);
  EXPECT_TRUE(replace({3, 4}).isOk());
  EXPECT_EQ(call(), (std::vector<float>{3, 4}));

#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's detector of deadlocks believes that the child holds the lock that its parent held";
#endif
  pid_t child = 0;
  inside = [&] { child = fork(); };
  std::vector<float> y = call();
  if (child == 0) {
    alarm(20);
    inside = nullptr;
    _exit(y == std::vector<float>({3, 4}) && replace({7, 8}).isOk() && call() == std::vector<float>({7, 8}) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(ForkTest, ACallInsideOfACallDoesNotWaitForAReplacement) {
  std::thread replacer;
  inside = [&] {
    inside = nullptr;
    replacer = std::thread([&] { EXPECT_TRUE(replace({5, 6}).isOk()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // until it waits for the outer call
    EXPECT_EQ(call(), (std::vector<float>{1, 2}));
  };
  EXPECT_EQ(call(), (std::vector<float>{1, 2}));
  replacer.join();
  EXPECT_EQ(call(), (std::vector<float>{5, 6}));
}

TEST_F(ForkTest, ConstantsAreNotReplacedInsideOfACall) {
  Status status;
  inside = [&] { status = replace({5, 6}); };
  EXPECT_EQ(call(), (std::vector<float>{1, 2}));
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "constants can't be replaced inside of a call of the same program: replace them after "
                              "the call");
}

TEST_F(ForkTest, ACacheInUseAtAForkIsEmptyInTheChild) {
  SharedCache<std::vector<int>> used, idle;
  for (auto *cache : {&used, &idle})
    cache->use([](std::vector<int> &values) { values = {1, 2, 3}; });
  std::atomic<bool> isInside{false}, mayEnd{false};
  std::thread thread([&] {
    used.use([&](std::vector<int> &) {
      isInside = true;
      while (!mayEnd)
        std::this_thread::yield();
    });
  });
  while (!isInside)
    std::this_thread::yield();
  EXPECT_TRUE(holdsInChild([&] {
    auto count = [](std::vector<int> &values) { return values.size(); };
    return used.use(count) == 0 && idle.use(count) == 3;
  }));
  mayEnd = true;
  thread.join();
}

TEST_F(ForkTest, AnObjectBeingCreatedAtAForkIsCreatedAgainInTheChild) {
  static LazyStatic<std::vector<int>> shared;
  std::atomic<bool> isInside{false}, mayEnd{false};
  std::thread thread([&] {
    shared.get([&] {
      isInside = true;
      while (!mayEnd)
        std::this_thread::yield();
      return std::vector<int>{1};
    });
  });
  while (!isInside)
    std::this_thread::yield();
  EXPECT_TRUE(holdsInChild([&] {
    auto make = [] { return std::vector<int>{2}; };
    bool isMadeInGrandchild = holdsInChild([&] { return shared.get(make) == std::vector<int>{2}; });
    return isMadeInGrandchild && shared.get(make) == std::vector<int>{2} && shared.get() == std::vector<int>{2};
  }));
  mayEnd = true;
  thread.join();
  EXPECT_EQ(shared.get(), std::vector<int>{1});
}

TEST(LazyStatic, AFailureIsNotStored) {
  static LazyStatic<int> shared;
  EXPECT_THROW(shared.get([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(shared.get([] { return 3; }), 3);
}

TEST(LazyStatic, ThreadsGetOneObject) {
  static LazyStatic<int> shared;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto make = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return ++made;
      };
      EXPECT_EQ(shared.get(make), 1);
    });
  for (std::thread &thread : threads)
    thread.join();
}

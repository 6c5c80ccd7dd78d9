// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time to check, schedule and load a plan grows in proportion to its size.

#include "../FakeDevice.h"
#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Schedule.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

using MakePlan = std::function<void(PlanBuilder &, size_t)>;

struct LoadTimeTest : testing::Test {
  /// Returns the processor time of `work` in seconds.
  static double timeOf(const std::function<void()> &work) {
    std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }

  /// Returns the time to check and schedule the plan of `size` parts.
  static double timeToLoad(const MakePlan &make, size_t size) {
    PlanBuilder b;
    make(b, size);
    double best = 1e9;
    for (int i = 0; i < 3; ++i)
      best = std::min(best, timeOf([&] {
                        Status status = checkPlan(*b.plan);
                        EXPECT_TRUE(status.isOk()) << status.message();
                        makeSchedule(*b.plan, /*unifiedMemory=*/true);
                        makeSchedule(*b.plan, /*unifiedMemory=*/false);
                      }));
    return best;
  }

  /// Expects that a plan 8 times as large takes less than 32 times as long. A quadratic algorithm takes 64 times as
  /// long, and n log n about 10 times.
  static void expectLinear(const MakePlan &make, size_t size) {
    double small = timeToLoad(make, size), large = timeToLoad(make, 8 * size);
    EXPECT_LT(large, 32 * std::max(small, 0.0005));
  }

  static uint32_t host(PlanBuilder &b) { return b.temporary("h", MemorySpace::Host, {Expr(4)}); }
  static uint32_t device(PlanBuilder &b) { return b.temporary("d", MemorySpace::Device, {Expr(4)}); }
};

} // namespace

TEST_F(LoadTimeTest, OfLaunchesOfOneEngineEach) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t last = device(b);
        for (size_t i = 0; i < size; ++i) {
          uint32_t next = device(b);
          b.launch(b.engine("k", 2), {last, next},
                   i ? std::vector<uint32_t>{uint32_t(i - 1)} : std::vector<uint32_t>());
          last = next;
        }
      },
      2000);
}

TEST_F(LoadTimeTest, OfEnginesWithManyArguments) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        for (size_t i = 0; i < size; ++i) {
          uint32_t engine = b.engine("k", 2);
          b.plan->engines[engine].arguments = 1 << 16;
          b.plan->engines[engine].hostVersion = 0;
        }
        b.plan->hostCode.functions.push_back({"f", 1 << 16, {}});
      },
      500);
}

TEST_F(LoadTimeTest, OfLaunchesOfOneLargeEngine) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t engine = b.engine("k", 2), x = device(b), y = device(b);
        b.plan->engines[engine].dispatches.assign(size, b.plan->engines[engine].dispatches[0]);
        b.plan->engines[engine].kernels[0].name.assign(size, 'k');
        for (size_t i = 0; i < size; ++i)
          b.launch(engine, {x, y});
      },
      2000);
}

TEST_F(LoadTimeTest, OfCopiesInAChain) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t last = host(b);
        for (size_t i = 0; i < size; ++i) {
          uint32_t next = i % 3 == 2 ? device(b) : host(b);
          b.copy(last, next);
          last = next;
        }
      },
      2000);
}

TEST_F(LoadTimeTest, OfCopiesOfOneBuffer) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t first = host(b);
        for (size_t i = 0; i < size; ++i)
          b.copy(first, host(b));
      },
      2000);
}

TEST_F(LoadTimeTest, OfCopiesThatStay) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t f = b.hostFunction("f", {Access::ReadWrite});
        for (size_t i = 0; i < size; ++i) {
          uint32_t x = host(b), y = host(b);
          b.copy(x, y);
          b.call(f, {x});
          b.call(f, {y});
        }
      },
      1000);
}

TEST_F(LoadTimeTest, OfCopiesFromInputsAndToResults) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t engine = b.engine("k", 2);
        for (size_t i = 0; i < size; ++i) {
          uint32_t x = b.input("x", {Expr(4)}), y = b.output("y", {Expr(4)}), from = device(b), to = device(b);
          b.copy(x, from);
          b.launch(engine, {from, to});
          b.copy(to, y);
        }
      },
      1000);
}

TEST_F(LoadTimeTest, OfHostStepsBetweenLaunches) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t engine = b.engine("k", 2), f = b.hostFunction("f", {Access::Read, Access::Write});
        uint32_t x = host(b), y = host(b);
        for (size_t i = 0; i < size; ++i) {
          b.launch(engine, {device(b), device(b)});
          b.call(f, {x, y});
        }
      },
      1000);
}

TEST_F(LoadTimeTest, OfLaunchesBehindOneHostStep) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t engine = b.engine("k", 2), f = b.hostFunction("f", {Access::Read, Access::Write});
        std::vector<uint32_t> results;
        for (size_t i = 0; i < size; ++i) {
          results.push_back(device(b));
          b.launch(engine, {device(b), results.back()});
        }
        for (uint32_t result : results)
          b.copy(result, host(b));
        for (size_t i = 0; i < size; ++i)
          b.call(f, {host(b), host(b)}, {uint32_t(i)});
      },
      1000);
}

TEST_F(LoadTimeTest, OfLoops) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t f = b.hostFunction("f", {Access::Read, Access::Write});
        uint32_t x = host(b), n = b.constant(1);
        for (size_t i = 0; i < size; ++i)
          b.control(StepKind::For, {b.number("i", ElementType::I64), n, n, n}, {[&] { b.call(f, {x, host(b)}); }});
      },
      500);
}

TEST_F(LoadTimeTest, OfStepsWithManyPredecessors) {
  expectLinear(
      [](PlanBuilder &b, size_t size) {
        uint32_t engine = b.engine("k", 2), f = b.hostFunction("f", {Access::Read, Access::Write});
        std::vector<uint32_t> all;
        for (size_t i = 0; i < size; ++i)
          all.push_back(b.launch(engine, {device(b), device(b)}));
        b.call(f, {host(b), host(b)}, all);
      },
      1000);
}

TEST_F(LoadTimeTest, OfSlots) {
  auto timeOfSlots = [](size_t size) {
    std::vector<Lifetime> lifetimes;
    std::vector<size_t> sizes;
    for (uint32_t i = 0; i < size; ++i) {
      lifetimes.push_back({i, static_cast<uint32_t>(2 * size - i)}); // all are live together
      sizes.push_back(64 * (i % 7 + 1));
    }
    for (uint32_t i = 0; i < size; ++i) {
      lifetimes.push_back({i, i + 1});
      sizes.push_back(i);
    }
    std::vector<size_t> slots;
    return timeOf([&] { assignSlots(lifetimes, sizes, slots); });
  };
  double small = timeOfSlots(2000), large = timeOfSlots(16000);
  EXPECT_LT(large, 32 * std::max(small, 0.0005));
}

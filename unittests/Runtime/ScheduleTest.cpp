// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanBuilder.h"

#include "inlay/Runtime/Core/Schedule.h"

#include <gtest/gtest.h>

#include <random>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct ScheduleTest : testing::Test {
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(4)}); }
  uint32_t host(const std::string &name) { return builder.temporary(name, MemorySpace::Host, {Expr(4)}); }

  /// Steps of each action, as "LL C H": one word per action.
  std::string actions(bool unified) {
    std::string text;
    for (const Action &action : makeSchedule(*builder.plan, unified).actions) {
      text += text.empty() ? "" : " ";
      text += std::string(action.steps.size(), "LHCB"[static_cast<size_t>(action.kind)]);
    }
    return text;
  }
  bool elided(uint32_t step, bool unified = true) { return makeSchedule(*builder.plan, unified).elided[step]; }

  PlanBuilder builder;
  uint32_t twice = builder.engine("double", 2);
  uint32_t reader = builder.hostFunction("read", {Access::Read, Access::Write});
  uint32_t unknown = (builder.plan->hostCode.functions.push_back({"any", 2, {}}), reader + 1);
};

} // namespace

TEST_F(ScheduleTest, AdjacentLaunchesShareASubmission) {
  uint32_t a = device("a"), b = device("b"), c = device("c");
  builder.launch(twice, {a, b});
  builder.launch(twice, {b, c}, {0});
  EXPECT_EQ(actions(true), "LL");
}

TEST_F(ScheduleTest, IndependentHostWorkDoesNotSplitASubmission) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g});
  builder.launch(twice, {b, c}, {0});
  EXPECT_EQ(actions(true), "H LL");
}

TEST_F(ScheduleTest, HostWorkThatDependsOnALaunchSplitsIt) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g}, {0});
  builder.launch(twice, {b, c}, {1});
  EXPECT_EQ(actions(true), "L H L");
}

TEST_F(ScheduleTest, AnElidedCopyPassesTheDependencyOn) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h, {0});
  builder.call(reader, {h, g}, {1});
  EXPECT_EQ(actions(true), "L H");
  EXPECT_EQ(actions(false), "L C H");
}

TEST_F(ScheduleTest, BytesDecideEvenWhereNoDependencyIsStated) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h);
  builder.call(reader, {h, g});
  EXPECT_EQ(actions(true), "L H");
  EXPECT_EQ(actions(false), "L C H");
}

TEST_F(ScheduleTest, ACopyIsElidedOnlyWithUnifiedMemoryOrInOneSpace) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g"), k = host("k");
  builder.launch(twice, {a, b});
  uint32_t across = builder.copy(b, h);
  builder.call(reader, {h, g});
  uint32_t within = builder.copy(g, k);
  EXPECT_TRUE(elided(across));
  EXPECT_FALSE(elided(across, false));
  EXPECT_TRUE(elided(within, false));
}

TEST_F(ScheduleTest, ACopyStaysWhenASideIsWrittenWhileTheOtherIsUsed) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  uint32_t copy = builder.copy(b, h);
  builder.call(unknown, {h, g});
  EXPECT_TRUE(elided(copy)) << "the source is dead, so the host may write";
  builder.launch(twice, {b, c});
  EXPECT_FALSE(elided(copy)) << "the host may write what a launch still reads";
}

TEST_F(ScheduleTest, ACopyStaysWhenItsTargetWasUsedBefore) {
  uint32_t a = device("a"), h = host("h"), g = host("g");
  builder.call(reader, {h, g});
  uint32_t copy = builder.copy(a, h);
  EXPECT_FALSE(elided(copy));
}

TEST_F(ScheduleTest, CopiesFromInputsAndToOutputsStay) {
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)}), a = device("a");
  builder.copy(x, a);
  builder.copy(a, y);
  EXPECT_EQ(actions(true), "C C");
}

TEST_F(ScheduleTest, SharedStorageLivesAsLongAsAllWhoShareIt) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h);
  builder.call(reader, {h, g});
  Schedule schedule = makeSchedule(*builder.plan, true);
  EXPECT_EQ(schedule.storage[h], b);
  EXPECT_TRUE(schedule.onDevice[b]);
  EXPECT_EQ(schedule.lifetimes[b].first, 0u);
  EXPECT_EQ(schedule.lifetimes[b].last, 1u);
}

TEST(AssignSlots, NeverPutsTwoLiveOnesTogetherAndEachFits) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    std::vector<size_t> sizes, slotSizes;
    for (int i = 0; i < 30; ++i) {
      uint32_t first = random() % 20;
      lifetimes.push_back({first, first + uint32_t(random() % 6)});
      sizes.push_back(1 + random() % 1000);
    }
    std::vector<uint32_t> slots = assignSlots(lifetimes, sizes, slotSizes);
    for (size_t i = 0; i < slots.size(); ++i) {
      EXPECT_GE(slotSizes[slots[i]], sizes[i]);
      for (size_t j = 0; j < i; ++j) {
        bool together = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        EXPECT_FALSE(together && slots[i] == slots[j]);
      }
    }
  }
}

TEST(AssignSlots, AChainNeedsTwo) {
  std::vector<size_t> slotSizes;
  assignSlots({{0, 1}, {1, 2}, {2, 3}, {3, 4}}, {8, 8, 8, 8}, slotSizes);
  EXPECT_EQ(slotSizes, (std::vector<size_t>{8, 8}));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct ScheduleTest : testing::Test {
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(4)}); }
  uint32_t host(const std::string &name) { return builder.temporary(name, MemorySpace::Host, {Expr(4)}); }

  /// Returns the actions as text, one word per action: "LL C H WW".
  std::string actions(bool unified) {
    std::string text;
    for (const Action &action : makeSchedule(*builder.plan, unified).actions) {
      text += text.empty() ? "" : " ";
      text += std::string(action.steps.size(), action.isWait ? 'W' : "LHCB"[static_cast<size_t>(action.kind)]);
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
  EXPECT_EQ(actions(true), "LL WW");
}

TEST_F(ScheduleTest, IndependentHostWorkDoesNotSplitASubmission) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g});
  builder.launch(twice, {b, c}, {0});
  EXPECT_EQ(actions(true), "LL H WW");
}

TEST_F(ScheduleTest, HostWorkThatDependsOnALaunchSplitsIt) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g}, {0});
  builder.launch(twice, {b, c}, {1});
  EXPECT_EQ(actions(true), "L W H L W");
}

TEST_F(ScheduleTest, HostWorkGoesOnWhileTheDeviceWorks) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g});
  builder.launch(twice, {b, c}, {1});
  EXPECT_EQ(actions(true), "L H L WW") << "the second launch waits for the host, not for the first";
}

TEST_F(ScheduleTest, TheDeviceGoesOnWithOtherThingsWhileTheHostWorksOnItsResult) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), d = device("d"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h);
  builder.call(reader, {h, g});
  builder.launch(twice, {c, d});
  EXPECT_EQ(actions(true), "L L W H W") << "the host needs only the first launch";
}

TEST_F(ScheduleTest, ForACopyLaunchesStayTogether) {
  uint32_t y = builder.output("y", {Expr(4)});
  uint32_t a = device("a"), b = device("b"), c = device("c"), d = device("d");
  builder.launch(twice, {a, b});
  builder.copy(b, y);
  builder.launch(twice, {c, d});
  EXPECT_EQ(actions(true), "LL WW C");
}

TEST_F(ScheduleTest, ALaunchIsTakenForwardWithTheCopyThatItNeeds) {
  uint32_t x = builder.input("x", {Expr(4)}), z = builder.input("z", {Expr(4)});
  uint32_t a = device("a"), b = device("b"), c = device("c"), d = device("d"), e = device("e"), h = host("h"),
           g = host("g");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g});
  builder.copy(z, e); // nothing reads it
  builder.copy(x, c);
  builder.launch(twice, {c, d});
  EXPECT_EQ(actions(true), "C LL H C WW");
}

TEST_F(ScheduleTest, WhatFollowsHostWorkStaysBehindIt) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), d = device("d"), h = host("h"), g = host("g"),
           k = host("k");
  builder.launch(twice, {a, b});
  builder.call(reader, {h, g});
  builder.call(reader, {g, k});
  builder.copy(k, c);
  builder.launch(twice, {c, d});
  EXPECT_EQ(actions(true), "L H H L WW") << "the copy shares bytes";
  EXPECT_EQ(actions(false), "L H H C L WW");
}

TEST_F(ScheduleTest, ALaunchDoesNotOvertakeWhoReadsWhatItWrites) {
  uint32_t y = builder.output("y", {Expr(4)}), a = device("a"), b = device("b"), c = device("c");
  builder.launch(twice, {a, b});
  builder.copy(b, y);
  builder.launch(twice, {c, b});
  EXPECT_EQ(actions(true), "L W C L W");
}

TEST_F(ScheduleTest, WhatTheHostTouchesMeanwhileSharesNoBytesWithWhatIsInFlight) {
  uint32_t a = device("a"), b = device("b"), c = device("c"), d = device("d"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.launch(twice, {b, c});
  builder.call(reader, {h, g});
  builder.copy(g, d);
  builder.launch(twice, {d, c});
  Schedule schedule = makeSchedule(*builder.plan, true);
  EXPECT_EQ(actions(true), "LL H L WWW");
  EXPECT_EQ(schedule.storage[d], g);
  EXPECT_EQ(schedule.lifetimes[a].last, 0u);
  EXPECT_EQ(schedule.lifetimes[g].first, 0u) << "live since the submission";
  EXPECT_EQ(schedule.lifetimes[h].first, 2u) << "the device does not use it";
  EXPECT_EQ(schedule.lifetimes[b].first, 0u);
  EXPECT_EQ(schedule.lifetimes[b].last, 1u) << "the device runs launches in order";
}

TEST_F(ScheduleTest, NothingIsInFlightOverALoop) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  uint32_t position = builder.temporary("i", MemorySpace::Host, {}), lower = builder.input("lower", {}),
           upper = builder.input("upper", {}), stride = builder.input("stride", {});
  builder.launch(twice, {a, b});
  uint32_t loop = uint32_t(builder.plan->steps.size());
  builder.plan->steps.push_back({StepKind::For, 0, {position, lower, upper, stride}, {}, "loop"});
  builder.call(reader, {h, g});
  builder.plan->steps[loop].bodies = {1};
  std::vector<Action> actions = makeSchedule(*builder.plan, true).actions;
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_TRUE(actions[1].isWait);
  EXPECT_EQ(actions[2].kind, StepKind::For);
}

/// Two steps that access the same bytes, one of them writing, must stay in the order of the list. A launch ends when it
/// is waited for.
TEST(ScheduleOrder, OfRandomPlansKeepsTheirMeaning) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    PlanBuilder builder;
    uint32_t twice = builder.engine("double", 2), reader = builder.hostFunction("read", {Access::Read, Access::Write});
    std::vector<uint32_t> buffers[2];
    for (int i = 0; i < 12; ++i)
      buffers[i % 2].push_back(builder.temporary("t", i % 2 ? MemorySpace::Device : MemorySpace::Host, {Expr(4)}));
    auto pick = [&](int space) { return buffers[space][random() % buffers[space].size()]; };
    for (int i = 0; i < 25; ++i) {
      int space = int(random() % 2);
      if (random() % 3 == 0)
        builder.copy(pick(space), pick(1 - space));
      else if (space == 1)
        builder.launch(twice, {pick(1), pick(1)});
      else
        builder.call(reader, {pick(0), pick(0)});
    }
    const Plan &plan = *builder.plan;
    for (bool unified : {true, false}) {
      Schedule schedule = makeSchedule(plan, unified);
      std::vector<size_t> begins(plan.steps.size(), 0), ends(plan.steps.size(), 0);
      size_t position = 0, count = 0;
      for (const Action &action : schedule.actions) {
        ++position;
        for (uint32_t step : action.steps) {
          count += !action.isWait;
          (action.isWait ? ends : begins)[step] = position;
          if (action.kind != StepKind::LaunchEngine)
            ends[step] = position;
        }
      }
      ASSERT_EQ(count, plan.steps.size() - size_t(std::count(schedule.elided.begin(), schedule.elided.end(), true)));
      std::vector<StepAccesses> accesses = stepAccesses(plan);
      auto isLaunch = [&](uint32_t step) { return plan.steps[step].kind == StepKind::LaunchEngine; };
      for (uint32_t later = 0; later < plan.steps.size(); ++later)
        for (uint32_t earlier = 0; earlier < later; ++earlier) {
          if (schedule.elided[later] || schedule.elided[earlier])
            continue;
          bool conflict = false;
          for (auto [a, accessA] : accesses[earlier])
            for (auto [b, accessB] : accesses[later])
              conflict |= schedule.storage[a] == schedule.storage[b] && (writes(accessA) || writes(accessB));
          if (!conflict)
            continue;
          if (isLaunch(earlier) && isLaunch(later))
            ASSERT_LE(begins[earlier], begins[later]) << "round " << round; // in one submission the list's order counts
          else
            ASSERT_LT(ends[earlier], begins[later]) << "round " << round;
          ASSERT_GT(ends[earlier], 0u) << "the launch was waited for";
        }
      for (const Action &action : schedule.actions)
        if (action.steps.size() > 1 && !action.isWait) {
          for (size_t i = 1; i < action.steps.size(); ++i)
            ASSERT_LT(action.steps[i - 1], action.steps[i]);
        }
    }
  }
}

TEST_F(ScheduleTest, AnElidedCopyPassesTheDependencyOn) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h, {0});
  builder.call(reader, {h, g}, {1});
  EXPECT_EQ(actions(true), "L W H");
  EXPECT_EQ(actions(false), "L W C H");
}

TEST_F(ScheduleTest, BytesDecideEvenWhereNoDependencyIsStated) {
  uint32_t a = device("a"), b = device("b"), h = host("h"), g = host("g");
  builder.launch(twice, {a, b});
  builder.copy(b, h);
  builder.call(reader, {h, g});
  EXPECT_EQ(actions(true), "L W H");
  EXPECT_EQ(actions(false), "L W C H");
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

//===-- Loans ---------------------------------------------------------------------------------------------------===//

namespace {

struct ImportCandidateTest : ScheduleTest {
  /// Returns the names of the inputs and results that may be imported, each with the temporaries that it replaces and
  /// the steps that use them.
  std::string importCandidates() {
    std::string text;
    for (const ImportCandidate &candidate : makeSchedule(*builder.plan, /*unifiedMemory=*/true).importCandidates) {
      text += (text.empty() ? "" : "; ") + builder.plan->buffers[candidate.buffer].name + " for";
      for (uint32_t number : candidate.buffers)
        text += " " + builder.plan->buffers[number].name;
      text += " in";
      for (uint32_t step : candidate.launches)
        text += " " + std::to_string(step);
    }
    return text;
  }

  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)}), z = builder.output("z", {Expr(4)});
  uint32_t a = device("a"), b = device("b"), c = device("c");
};

} // namespace

TEST_F(ImportCandidateTest, InputsAndResultsStandInForWhatIsCopied) {
  builder.copy(x, a);
  builder.launch(twice, {a, b});
  builder.copy(b, y);
  EXPECT_EQ(importCandidates(), "x for a in 1; y for b in 1");
}

TEST_F(ImportCandidateTest, OneInputStandsInForSeveralTemporaries) {
  builder.copy(x, a);
  builder.launch(twice, {a, c});
  builder.copy(x, b);
  builder.launch(twice, {b, c});
  EXPECT_EQ(importCandidates(), "x for a b in 1 3");
}

TEST_F(ImportCandidateTest, WhatIsWrittenIsNoInput) {
  builder.copy(x, a);
  builder.launch(twice, {a, b});
  builder.launch(twice, {b, a});
  EXPECT_EQ(importCandidates(), "");
}

TEST_F(ImportCandidateTest, WhatSharesItsBytesCountsToo) {
  uint32_t h = host("h"), g = host("g");
  builder.copy(x, a);
  builder.launch(twice, {a, b});
  builder.copy(a, h);
  builder.call(reader, {h, g});
  EXPECT_EQ(importCandidates(), "x for a h in 1");
  builder.call(unknown, {h, g});
  EXPECT_EQ(importCandidates(), "") << "it may write h";
}

TEST_F(ImportCandidateTest, WhatGoesOnToChangeIsNoResult) {
  builder.launch(twice, {a, b});
  builder.copy(b, y);
  builder.launch(twice, {a, b});
  EXPECT_EQ(importCandidates(), "");
}

TEST_F(ImportCandidateTest, OneTemporaryIsOneResult) {
  builder.launch(twice, {a, b});
  builder.copy(b, y);
  builder.copy(b, z);
  EXPECT_EQ(importCandidates(), "y for b in 0");
}

TEST_F(ImportCandidateTest, AnInputIsNoResult) {
  builder.copy(x, a);
  builder.launch(twice, {a, b});
  builder.copy(a, y);
  EXPECT_EQ(importCandidates(), "x for a in 1");
}

TEST_F(ImportCandidateTest, ResultsThatMayBeWrittenTwiceOrNotAreCopied) {
  uint32_t condition = builder.number("condition", ElementType::Bool);
  builder.launch(twice, {a, b});
  builder.control(StepKind::Branch, {condition}, {[&] { builder.copy(b, y); }, [&] {}});
  EXPECT_EQ(importCandidates(), "");
  builder.launch(twice, {a, c});
  builder.copy(c, z);
  EXPECT_EQ(importCandidates(), "z for c in 3") << "after the branch";
  builder.call(reader, {y, z});
  EXPECT_EQ(importCandidates(), "");
}

TEST_F(ImportCandidateTest, WhatTheHostAloneUsesStaysWithIt) {
  uint32_t h = host("h"), g = host("g");
  builder.copy(x, h);
  builder.call(reader, {h, g});
  builder.copy(g, y);
  EXPECT_EQ(importCandidates(), "");
}

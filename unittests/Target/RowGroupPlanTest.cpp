// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Target/Vulkan/Rows/RowGroupPlan.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace inlay;

TEST(RowGroupPlan, RowsAreHalvedUntilTheyFit) {
  std::optional<RowGroupPlan> plan = planRowGroup({{1000, 0, 0, 3}, {1, 0, 1, 2}}, 8, 2048);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rows, 2);
  EXPECT_EQ(plan->elements, 2002);
}

TEST(RowGroupPlan, ARowThatDoesNotFitHasNoPlan) {
  EXPECT_FALSE(planRowGroup({{2049, 0, 0, 0}}, 8, 2048));
  EXPECT_FALSE(planRowGroup({{1, 2048, 0, 0}}, 8, 2048));
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(planRowGroup({{huge, huge, 0, 0}}, 8, 2048));
}

TEST(RowGroupPlan, WithoutBuffersAllRowsFit) {
  std::optional<RowGroupPlan> plan = planRowGroup({}, 8, 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rows, 8);
  EXPECT_EQ(plan->elements, 0);
}

TEST(RowGroupPlan, BuffersNeededAtOnceDoNotOverlap) {
  std::mt19937 random(0);
  auto draw = [&](int64_t max) { return static_cast<int64_t>(random() % (max + 1)); };
  for (int round = 0; round < 500; ++round) {
    std::vector<RowBuffer> buffers;
    for (int64_t count = draw(8); count > 0; --count) {
      auto first = static_cast<unsigned>(draw(6));
      buffers.push_back({draw(100), draw(20), first, first + static_cast<unsigned>(draw(3))});
    }
    std::optional<RowGroupPlan> plan = planRowGroup(buffers, 16, 600);
    if (!plan)
      continue;
    auto size = [&](size_t i) { return buffers[i].perRow * plan->rows + buffers[i].perGroup; };
    for (size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_LE(plan->offsets[i] + size(i), plan->elements);
      for (size_t j = 0; j < i; ++j)
        if (buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last) {
          EXPECT_TRUE(plan->offsets[i] + size(i) <= plan->offsets[j] || plan->offsets[j] + size(j) <= plan->offsets[i]);
        }
    }
    EXPECT_LE(plan->elements, 600);
  }
}

TEST(RowGroupPlan, SharesLeaveNoInvocationWithTwo) {
  EXPECT_EQ(chooseShares(64, 1), 64);
  EXPECT_EQ(chooseShares(64, 3), 16);
  EXPECT_EQ(chooseShares(8, 8), 1);
  EXPECT_EQ(chooseShares(8, 100), 1);
}

TEST(RowGroupPlan, ARowHasMoreInvocationsIfItIsLonger) {
  EXPECT_EQ(chooseRowInvocations(64, 256), 64);
  EXPECT_EQ(chooseRowInvocations(512, 256), 64);
  EXPECT_EQ(chooseRowInvocations(513, 256), 128);
  EXPECT_EQ(chooseRowInvocations(1000, 256), 128);
  EXPECT_EQ(chooseRowInvocations(1 << 20, 256), 256);
  EXPECT_EQ(chooseRowInvocations(1 << 20, 128), 128);
  EXPECT_EQ(chooseRowInvocations(1 << 20, 32), 32);
}

TEST(RowGroupPlan, AnIterationRunsADivisorOfTheStepsIfThereIsOne) {
  EXPECT_EQ(chooseUnrolled(0), 1);
  EXPECT_EQ(chooseUnrolled(1), 1);
  EXPECT_EQ(chooseUnrolled(2), 2);
  EXPECT_EQ(chooseUnrolled(7), 7);
  EXPECT_EQ(chooseUnrolled(12), 6);
  EXPECT_EQ(chooseUnrolled(16), 8);
  EXPECT_EQ(chooseUnrolled(11), 4);
  for (int64_t steps = 1; steps < 1000; ++steps) {
    EXPECT_GE(chooseUnrolled(steps), 1);
    EXPECT_LE(chooseUnrolled(steps), steps);
  }
}

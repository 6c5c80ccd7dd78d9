// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Target/Vulkan/GPU/SumPolicy.h"
#include "../Convert/LoopNests.h"

#include <gtest/gtest.h>

#include <random>

using namespace inlay;
using inlay::testing::matmul;

namespace {

constexpr int64_t longest = 65534;
const SubgroupProductProfile software = SubgroupProductProfile::forSoftware(/*lanes=*/8, /*readsTexels=*/true);

/// s += x[k]
LoopNestShape sum(int64_t k) {
  LoopNestShape shape;
  shape.loops = {{k, true}};
  shape.inputStrides = {{1}};
  shape.outputStrides = {0};
  return shape;
}

} // namespace

TEST(SumPolicy, SplitsFewResultsOfManyTerms) {
  EXPECT_GE(chooseParts(matmul(16, 16, 16384), 2, longest, software), 4);
  EXPECT_GE(chooseParts(matmul(1, 256, 32768), 2, longest, SubgroupProductProfile::forGPU(32)), 4);
}

TEST(SumPolicy, KeepsADeviceBusyWithManyResults) {
  EXPECT_EQ(chooseParts(matmul(512, 512, 512), 2, longest, software), 1);
  EXPECT_EQ(chooseParts(matmul(4096, 4096, 4096), 2, longest, SubgroupProductProfile::forGPU(32)), 1);
}

TEST(SumPolicy, SplitsNothingShort) { EXPECT_EQ(chooseParts(matmul(4, 4, 64), 2, longest, software), 1); }

TEST(SumPolicy, AGPUSplitsWhereSoftwareIsBusy) {
  // At most 16 subgroups keep software busy. A GPU would run only a few workgroups.
  LoopNestShape row = matmul(1, 4096, 4096);
  EXPECT_EQ(chooseParts(row, 2, longest, software), 1);
  EXPECT_GT(chooseParts(row, 2, longest, SubgroupProductProfile::forGPU(32)), 1);
}

TEST(SumPolicy, NothingTakesMoreThanTheLongest) {
  EXPECT_GE(chooseParts(matmul(2048, 2048, 131072), 2, longest, software), 3);
  EXPECT_EQ(chooseParts(sum(60000), 0, longest, software), 1) << "a part of a row kernel";
  EXPECT_EQ(chooseParts(sum(1 << 20), 0, longest, software), 1 << 10);
  EXPECT_EQ(chooseParts(sum(524287), 0, longest, software), 1) << "a prime";
}

TEST(SumPolicy, SplitsALoneSumOfFewResults) {
  EXPECT_EQ(chooseParts(sum(60000), 0, longest, software, /*isAlone=*/true), 240);
  EXPECT_EQ(chooseParts(sum(4096), 0, longest, software, /*isAlone=*/true), 1) << "short";
  LoopNestShape rows = sum(10000);
  rows.loops.push_back({1000, false});
  rows.inputStrides = {{1, 10000}};
  rows.outputStrides = {0, 1};
  EXPECT_EQ(chooseParts(rows, 0, longest, software, /*isAlone=*/true), 1) << "enough rows";
  EXPECT_EQ(chooseParts(rows, 0, longest, SubgroupProductProfile::forGPU(32), /*isAlone=*/true), 100);
}

TEST(SumPolicy, AnOpenSizeIsntSplit) {
  LoopNestShape shape = sum(1 << 20);
  shape.loops[0].isOpen = true;
  EXPECT_EQ(chooseParts(shape, 0, longest, software), 1);
}

TEST(SumPolicy, PartsDivideTheLoop) {
  std::mt19937 random(1);
  auto draw = [&](int64_t max) { return std::uniform_int_distribution<int64_t>(1, max)(random); };
  for (int round = 0; round < 300; ++round) {
    LoopNestShape shape = matmul(draw(64), draw(64), draw(200000));
    for (const SubgroupProductProfile &profile :
         {software, SubgroupProductProfile::forGPU(32), SubgroupProductProfile()}) {
      int64_t parts = chooseParts(shape, 2, longest, profile);
      ASSERT_GE(parts, 1);
      EXPECT_EQ(shape.loops[2].size % parts, 0);
      bool canFit = false;
      for (int64_t divisor = 2; divisor <= 256; ++divisor)
        canFit |= shape.loops[2].size % divisor == 0 && shape.loops[2].size / divisor <= longest;
      if (canFit || shape.loops[2].size <= longest)
        EXPECT_LE(shape.loops[2].size / parts, longest) << shape.loops[2].size;
    }
  }
}

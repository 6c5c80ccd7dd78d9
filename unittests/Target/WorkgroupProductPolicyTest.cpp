// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Target/Vulkan/Blocks/WorkgroupProductPolicy.h"
#include "../Convert/LoopNests.h"

#include <gtest/gtest.h>

#include <limits>

using namespace inlay;
using inlay::testing::matmul;

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

WorkgroupProductProfile makeGPU(int64_t maxInvocations = 1024, int64_t memory = 32768) {
  return WorkgroupProductProfile::from(SubgroupProductProfile::forGPU(/*lanes=*/64), maxInvocations, memory);
}

/// Returns the bytes of operands per multiply-add that a workgroup loads for a block.
double getBytesPerTerm(const WorkgroupProductTile &tile) {
  BlockSize block = tile.block();
  return 4.0 * double(block.rows + block.columns) / double(block.rows * block.columns);
}

} // namespace

TEST(WorkgroupProductPolicy, LargeProductsHaveLargeBlocks) {
  std::optional<WorkgroupProductTile> tile = chooseWorkgroupProductTile(matmul(4096, 4096, 4096), makeGPU(), kAny);
  ASSERT_TRUE(tile);
  EXPECT_LE(getBytesPerTerm(*tile), 0.0625);
  EXPECT_EQ(tile->rows * tile->columns, 64);
}

TEST(WorkgroupProductPolicy, FewRowsHaveSmallBlocks) {
  std::optional<WorkgroupProductTile> tile = chooseWorkgroupProductTile(matmul(24, 65536, 512), makeGPU(), kAny);
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->block().rows, 32);
}

TEST(WorkgroupProductPolicy, BlocksKeepTheDeviceBusy) {
  std::optional<WorkgroupProductTile> tile = chooseWorkgroupProductTile(matmul(1024, 1024, 512), makeGPU(), kAny);
  ASSERT_TRUE(tile);
  int64_t invocations = 1024 * 1024 / (tile->rows * tile->columns);
  EXPECT_GE(double(invocations) / 64, makeGPU().enough);
}

TEST(WorkgroupProductPolicy, LimitsOfTheDeviceHold) {
  LoopNestShape shape = matmul(4096, 4096, 4096);
  for (int64_t invocations : {64, 128, 1024})
    for (int64_t memory : {4096, 16384, 32768, 65536})
      if (auto tile = chooseWorkgroupProductTile(shape, makeGPU(invocations, memory), kAny)) {
        EXPECT_LE(tile->invocations(), invocations);
        EXPECT_LE(kStepBuffers * countBlockMemory(tile->block(), /*elementBytes=*/4), memory);
      }
  EXPECT_FALSE(chooseWorkgroupProductTile(shape, makeGPU(1024, /*memory=*/1024), kAny));
  EXPECT_FALSE(chooseWorkgroupProductTile(shape, makeGPU(/*maxInvocations=*/32), kAny)); // less than a subgroup
}

TEST(WorkgroupProductPolicy, ACheaperKernelIsPreferred) {
  LoopNestShape shape = matmul(1024, 1024, 1024);
  WorkgroupProductProfile profile = makeGPU();
  std::optional<WorkgroupProductTile> tile = chooseWorkgroupProductTile(shape, profile, kAny);
  ASSERT_TRUE(tile);
  double cost = getWorkgroupProductCost(ProductSizes::of(shape, tile->loops), *tile, profile);
  EXPECT_FALSE(chooseWorkgroupProductTile(shape, profile, cost));
  EXPECT_TRUE(chooseWorkgroupProductTile(shape, profile, cost * 1.01));
}

TEST(WorkgroupProductPolicy, SoftwareGainsNothing) {
  SubgroupProductProfile software = SubgroupProductProfile::forSoftware(/*lanes=*/8, /*readsTexels=*/true);
  auto profile = WorkgroupProductProfile::from(software, 1024, 65536);
  EXPECT_FALSE(chooseWorkgroupProductTile(matmul(4096, 4096, 4096), profile, kAny));
}

TEST(WorkgroupProductPolicy, BlocksAreMostlyUsed) {
  EXPECT_TRUE(chooseWorkgroupProductTile(matmul(8, 8, 1 << 16), makeGPU(), kAny));
  EXPECT_FALSE(chooseWorkgroupProductTile(matmul(7, 4096, 64), makeGPU(), kAny));
  EXPECT_FALSE(chooseWorkgroupProductTile(matmul(4096, 7, 64), makeGPU(), kAny));
  EXPECT_FALSE(chooseWorkgroupProductTile(matmul(64, 64, (1 << 16) + 1), makeGPU(), kAny));
}

TEST(WorkgroupProductPolicy, OtherOpsAreNoProducts) {
  LoopNestShape vector = matmul(1, 4096, 4096);
  vector.inputStrides[0][0] = 0;
  EXPECT_FALSE(chooseWorkgroupProductTile(vector, makeGPU(), kAny)); // no rows
  EXPECT_FALSE(chooseWorkgroupProductTile(matmul(64, 64, 0), makeGPU(), kAny));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"
#include "../Convert/LoopNests.h"

#include <gtest/gtest.h>

#include <random>

using namespace inlay;

namespace {

/// Returns the loop along which an operand has vectors of four elements if its size allows it.
int quads(int loop, int64_t size) { return size % 4 == 0 ? loop : -1; }

/// The product with its vectors.
LoopNestShape matmul(int64_t m, int64_t n, int64_t k) {
  LoopNestShape shape = inlay::testing::matmul(m, n, k);
  shape.inputQuads = {quads(2, k), quads(1, n)};
  shape.outputQuad = quads(1, n);
  return shape;
}

/// C[m, n] += A[m, k] * B[n, k], row-major.
LoopNestShape linear(int64_t m, int64_t n, int64_t k) {
  LoopNestShape shape = matmul(m, n, k);
  shape.inputStrides = {{k, 0, 1}, {0, k, 1}};
  shape.inputQuads = {quads(2, k), quads(2, k)};
  return shape;
}

/// Loops: batch, output channel, row, column, input channel, kernel row, kernel column. The data is channels first.
LoopNestShape convolution(int64_t channels, int64_t outputs, int64_t size, int64_t kernel, int64_t stride = 1) {
  LoopNestShape shape;
  shape.loops = {{1, false},       {outputs, false}, {size, false}, {size, false},
                 {channels, true}, {kernel, true},   {kernel, true}};
  int64_t input = (size - 1) * stride + kernel, window = kernel * kernel;
  shape.inputStrides = {{channels * input * input, 0, input * stride, stride, input * input, input, 1},
                        {0, channels * window, 0, 0, window, kernel, 1}};
  shape.outputStrides = {outputs * size * size, size * size, size, 1, 0, 0, 0};
  shape.inputQuads = {-1, -1};
  shape.outputQuad = quads(3, size);
  return shape;
}

const SubgroupProductProfile software = SubgroupProductProfile::forSoftware(/*lanes=*/8, /*readsTexels=*/true);

} // namespace

TEST(SubgroupProductPolicy, NeedsLanes) {
  EXPECT_FALSE(chooseSubgroupProductTile(matmul(512, 512, 512), SubgroupProductProfile()));
  EXPECT_FALSE(chooseSubgroupProductTile(matmul(512, 512, 512), SubgroupProductProfile::forGPU(1)));
}

TEST(SubgroupProductPolicy, NeedsAnOperandThatStays) {
  LoopNestShape sum; // A sum of products of two operands that both move along all loops.
  sum.loops = {{64, false}, {64, true}};
  sum.inputStrides = {{64, 1}, {64, 1}};
  sum.outputStrides = {1, 0};
  EXPECT_FALSE(chooseSubgroupProductTile(sum, software));
  sum.inputStrides = {{64, 1}};
  EXPECT_FALSE(chooseSubgroupProductTile(sum, software));
}

TEST(SubgroupProductPolicy, LanesGoAlongTheColumnsOfALargeProduct) {
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(matmul(512, 512, 512), software);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->uniform, 0u);
  EXPECT_EQ(tile->isLaneLoop, std::vector<bool>({false, true, false}));
  EXPECT_EQ(tile->rowLoop, 0);
  EXPECT_EQ(tile->columnLoop, 1);
  EXPECT_EQ(tile->innerLoop, 2);
  EXPECT_EQ(tile->rows * tile->columns, 128);
  EXPECT_EQ(tile->depth, 4);
  EXPECT_EQ(findQuadLoop(matmul(512, 512, 512), *tile, 0), 2);
  EXPECT_EQ(findQuadLoop(matmul(512, 512, 512), *tile, 1), 1);
  EXPECT_EQ(findStoredQuadLoop(matmul(512, 512, 512), *tile), 1);
}

TEST(SubgroupProductPolicy, OtherDevicesHaveOtherTiles) {
  SubgroupProductProfile gpu = SubgroupProductProfile::forGPU(32);
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(matmul(1024, 1024, 1024), gpu);
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->rows * tile->columns, gpu.maxPoints);
  EXPECT_LE(countUnrolled(matmul(1024, 1024, 1024), *tile), gpu.maxUnrolled);
}

TEST(SubgroupProductPolicy, UniformLoadsOfVectorsFavorRows) {
  for (int64_t lanes : {16, 32, 64}) {
    std::optional<SubgroupProductTile> tile =
        chooseSubgroupProductTile(matmul(4096, 4096, 4096), SubgroupProductProfile::forGPU(lanes));
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->rows, 8);
    EXPECT_EQ(tile->columns, 4);
    EXPECT_EQ(findQuadLoop(matmul(4096, 4096, 4096), *tile, 0), 2);
    EXPECT_EQ(findQuadLoop(matmul(4096, 4096, 4096), *tile, 1), 1);
  }
}

TEST(SubgroupProductPolicy, LinearLoadsVectorsAlongTheSum) {
  LoopNestShape shape = linear(128, 768, 768);
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(shape, software);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->columnLoop, 1); // The result is contiguous along the columns.
  EXPECT_EQ(findQuadLoop(shape, *tile, 0), 2);
  EXPECT_EQ(findQuadLoop(shape, *tile, 1), 2);
}

TEST(SubgroupProductPolicy, OneRowIsSpreadOverColumns) {
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(linear(1, 1000, 512), software);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->columnLoop, 1);
  EXPECT_EQ(tile->rows, 1);
  // There are as many subgroups as keep the device busy.
  EXPECT_GE(1000 / (tile->columns * 8), 15);
}

TEST(SubgroupProductPolicy, OddSizesHaveNoVectors) {
  LoopNestShape shape = matmul(33, 17, 5);
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(shape, software);
  ASSERT_TRUE(tile);
  for (size_t input : {0, 1})
    EXPECT_EQ(findQuadLoop(shape, *tile, input), -1);
  EXPECT_EQ(tile->depth, 5);
}

TEST(SubgroupProductPolicy, ConvolutionSharesWeightsAndOverlapsWindows) {
  LoopNestShape shape = convolution(32, 64, 28, 3);
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(shape, software);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->uniform, 1u);
  EXPECT_EQ(tile->rowLoop, 1);
  EXPECT_EQ(tile->columnLoop, 3);
  EXPECT_EQ(tile->depth, 3); // A whole row of the kernel.
  EXPECT_TRUE(isLoadedTogether(shape, *tile, 1));
  EXPECT_FALSE(isLoadedTogether(shape, *tile, 0));
  EXPECT_EQ(28 % tile->columns, 0);
}

TEST(SubgroupProductPolicy, OpenLoopsMayBeLonger) {
  LoopNestShape shape = matmul(64, 1, 64); // The number of columns is typically one.
  shape.loops[1].isOpen = true;
  shape.inputQuads = {2, -1};
  std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(shape, software);
  ASSERT_TRUE(tile);
  if (tile->isLaneLoop[1])
    EXPECT_FALSE(isLoadedTogether(shape, *tile, 1));
}

TEST(SubgroupProductPolicy, TilesOfAnyProductAreWithinLimits) {
  std::mt19937 random(7);
  auto pick = [&](int64_t max) { return std::uniform_int_distribution<int64_t>(1, max)(random); };
  for (int i = 0; i < 300; ++i) {
    SubgroupProductProfile profile = i % 2 ? SubgroupProductProfile::forGPU(int64_t(1) << pick(6)) : software;
    LoopNestShape shape = i % 3 == 0   ? matmul(pick(200), pick(200), pick(200))
                          : i % 3 == 1 ? linear(pick(200), pick(200), pick(200))
                                       : convolution(pick(40), pick(40), pick(40), pick(11), pick(2));
    std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(shape, profile);
    if (!tile)
      continue;
    EXPECT_LE(tile->rows * tile->columns, profile.maxPoints);
    EXPECT_TRUE(countUnrolled(shape, *tile) <= profile.maxUnrolled || tile->rows * tile->columns == 1);
    EXPECT_TRUE(tile->isLaneLoop[tile->columnLoop]);
    EXPECT_TRUE(tile->rowLoop < 0 ? tile->rows == 1 : !tile->isLaneLoop[tile->rowLoop]);
    EXPECT_LE(tile->columns, shape.loops[tile->columnLoop].size);
    for (size_t loop = 0; loop < shape.loops.size(); ++loop)
      EXPECT_TRUE(!tile->isLaneLoop[loop] || shape.inputStrides[tile->uniform][loop] == 0);
  }
}

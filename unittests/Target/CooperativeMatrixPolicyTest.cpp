// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Target/Vulkan/Blocks/CooperativeMatrixPolicy.h"

#include <gtest/gtest.h>

using namespace inlay;

namespace {

/// C[b, m, n] += A[b, m, k] * B[k, n], row-major.
LoopNestShape matmul(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  LoopNestShape shape;
  shape.loops = {{batch, false}, {m, false}, {n, false}, {k, true}};
  shape.inputStrides = {{m * k, k, 0, 1}, {0, 0, 1, n}};
  shape.outputStrides = {m * n, n, 1, 0};
  return shape;
}

/// Loops: batch, row, column, output channel, kernel row, kernel column, input channel. The data is channels last.
LoopNestShape convolution(int64_t channels, int64_t outputs, int64_t size, int64_t kernel) {
  int64_t input = size + kernel - 1;
  LoopNestShape shape;
  shape.loops = {{2, false},     {size, false},  {size, false},   {outputs, false},
                 {kernel, true}, {kernel, true}, {channels, true}};
  shape.inputStrides = {{channels * input * input, channels * input, channels, 0, channels * input, channels, 1},
                        {0, 0, 0, 1, kernel * channels * outputs, channels * outputs, outputs}};
  shape.outputStrides = {outputs * size * size, outputs * size, outputs, 1, 0, 0, 0};
  return shape;
}

CooperativeMatrixProfile makeGPU() {
  CooperativeMatrixProfile profile;
  profile.units = {{16, 16, 16}};
  profile.lanes = 32;
  profile.maxInvocations = 1024;
  profile.memory = 32768;
  return profile;
}

} // namespace

TEST(CooperativeMatrixPolicy, LoopsHaveRoles) {
  std::optional<ProductLoops> loops = findProductLoops(matmul(64, 48, 32, /*batch=*/3));
  ASSERT_TRUE(loops);
  EXPECT_EQ(loops->lhs, 0u);
  EXPECT_EQ(loops->rows, (std::vector<size_t>{0, 1})); // The right operand is the same for the whole batch.
  EXPECT_EQ(loops->columns, std::vector<size_t>{2});
  EXPECT_EQ(loops->inner, 3u);
  EXPECT_TRUE(loops->outer.empty() && loops->sums.empty());

  LoopNestShape both = matmul(64, 48, 32, 3);
  both.inputStrides[1][0] = 48 * 32;
  EXPECT_EQ(findProductLoops(both)->outer, std::vector<size_t>{0});
}

TEST(CooperativeMatrixPolicy, TheResultIsContiguousAlongColumns) {
  LoopNestShape transposed = matmul(64, 48, 32);
  transposed.outputStrides = {64 * 48, 1, 64, 0};
  std::optional<ProductLoops> loops = findProductLoops(transposed);
  ASSERT_TRUE(loops);
  EXPECT_EQ(loops->lhs, 1u);
  EXPECT_EQ(loops->columns, (std::vector<size_t>{0, 1}));
}

TEST(CooperativeMatrixPolicy, AConvolutionIsAProductOfItsPixelsAndItsWeights) {
  std::optional<ProductLoops> loops = findProductLoops(convolution(64, 32, 14, 3));
  ASSERT_TRUE(loops);
  EXPECT_EQ(loops->rows, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(loops->columns, std::vector<size_t>{3});
  EXPECT_EQ(loops->sums, (std::vector<size_t>{4, 5}));
  EXPECT_EQ(loops->inner, 6u);
}

TEST(CooperativeMatrixPolicy, LargeProductsHaveLargeBlocks) {
  std::optional<CooperativeMatrixTile> tile = chooseCooperativeMatrixTile(matmul(4096, 4096, 4096), makeGPU());
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->blockRows(), 128);
  EXPECT_EQ(tile->blockColumns(), 128);
  EXPECT_EQ(tile->subgroups(), 8);
  EXPECT_EQ(tile->rows * tile->columns, 8);
  EXPECT_EQ(tile->depth, 32);
}

TEST(CooperativeMatrixPolicy, SmallProductsHaveSmallBlocksThatKeepTheDeviceBusy) {
  std::optional<CooperativeMatrixTile> tile = chooseCooperativeMatrixTile(matmul(256, 256, 256), makeGPU());
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->blockRows() * tile->blockColumns(), 64 * 64);
  std::optional<CooperativeMatrixTile> few = chooseCooperativeMatrixTile(matmul(16, 4096, 4096), makeGPU());
  ASSERT_TRUE(few);
  EXPECT_EQ(few->blockRows(), 16); // The block has no more rows than the product.
}

TEST(CooperativeMatrixPolicy, NothingWhereItDoesNotPay) {
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(1, 4096, 4096), makeGPU()));
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(4096, 1, 4096), makeGPU()));
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(2, 4096, 4096), makeGPU())) << "seven eighths would be thrown away";
  EXPECT_TRUE(chooseCooperativeMatrixTile(matmul(4, 4096, 4096), makeGPU()));
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(16, 16, 16), makeGPU()));
  EXPECT_FALSE(chooseCooperativeMatrixTile(convolution(/*channels=*/3, 64, 224, /*kernel=*/1), makeGPU()));
}

TEST(CooperativeMatrixPolicy, NothingWithoutShapesOrProducts) {
  CooperativeMatrixProfile none = makeGPU();
  none.units.clear();
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(512, 512, 512), none));
  LoopNestShape sum = matmul(512, 512, 512);
  sum.inputStrides.pop_back();
  EXPECT_FALSE(chooseCooperativeMatrixTile(sum, makeGPU()));
  LoopNestShape alone = matmul(512, 512, 512); // An operand without columns.
  alone.inputStrides[1][2] = 0;
  EXPECT_FALSE(chooseCooperativeMatrixTile(alone, makeGPU()));
  LoopNestShape elementwise = matmul(512, 512, 512);
  elementwise.loops[3].reduction = false;
  EXPECT_FALSE(chooseCooperativeMatrixTile(elementwise, makeGPU()));
}

TEST(CooperativeMatrixPolicy, TilesAreWithinTheDevicesLimits) {
  for (int64_t memory : {4096, 8192, 16384, 32768, 49152})
    for (int64_t invocations : {32, 64, 128, 1024})
      for (const CooperativeMatrixShape &unit :
           {CooperativeMatrixShape{16, 16, 16}, CooperativeMatrixShape{8, 8, 8}, CooperativeMatrixShape{8, 16, 16}}) {
        CooperativeMatrixProfile profile = makeGPU();
        profile.units = {unit};
        profile.memory = memory;
        profile.maxInvocations = invocations;
        std::optional<CooperativeMatrixTile> tile = chooseCooperativeMatrixTile(matmul(1000, 1000, 1000), profile);
        ASSERT_TRUE(tile) << memory << ", " << invocations;
        EXPECT_LE(countCooperativeMatrixMemory(*tile), memory);
        EXPECT_LE(tile->subgroups() * profile.lanes, invocations);
        EXPECT_LE(tile->rows * tile->columns * unit.rows * unit.columns, 64 * profile.lanes);
      }
  CooperativeMatrixProfile tiny = makeGPU();
  tiny.memory = 2048;
  EXPECT_FALSE(chooseCooperativeMatrixTile(matmul(1000, 1000, 1000), tiny));
}

TEST(CooperativeMatrixPolicy, TheShapeThatWastesLeastIsChosen) {
  CooperativeMatrixProfile profile = makeGPU();
  profile.units = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
  EXPECT_EQ(chooseCooperativeMatrixTile(matmul(8, 1 << 17, 1024), profile)->unit.rows, 8);
  EXPECT_EQ(chooseCooperativeMatrixTile(matmul(1 << 17, 8, 1024), profile)->unit.columns, 8);
}

TEST(CooperativeMatrixPolicy, RowsInMemoryStartAtWholeVectors) {
  for (int64_t minor : {16, 32, 64, 128}) {
    EXPECT_GT(getBlockPitch(minor, /*elementBytes=*/2), minor);
    EXPECT_EQ(getBlockPitch(minor, /*elementBytes=*/2) * 2 % 16, 0);
  }
}

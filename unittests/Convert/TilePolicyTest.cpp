// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Convert/LoopNest/TilePolicy.h"
#include "LoopNests.h"

#include <gtest/gtest.h>

#include <random>

using namespace inlay;
using inlay::testing::matmul;

namespace {

/// C[i, j] = f(A[i, j]).
LoopNestShape pointwise(int64_t rows, int64_t columns) {
  LoopNestShape shape;
  shape.loops = {{rows, false}, {columns, false}};
  shape.inputStrides = {{columns, 1}};
  shape.outputStrides = {columns, 1};
  return shape;
}

TileLimits deviceLimits() {
  TileLimits limits;
  limits.pointwiseFactor = 4;
  return limits;
}

TileLimits hostLimits() {
  TileLimits limits;
  limits.lanes = 16;
  limits.maxPoints = 8;
  return limits;
}

TEST(LargestDivisorTest, DividesAndStaysWithinTheLimit) {
  EXPECT_EQ(largestDivisor(12, 8), 6);
  EXPECT_EQ(largestDivisor(64, 8), 8);
  EXPECT_EQ(largestDivisor(13, 8), 1);
  EXPECT_EQ(largestDivisor(5, 8), 5);
  EXPECT_EQ(largestDivisor(1, 8), 1);
}

TEST(LargestDivisorTest, IsOneWithoutALimitOrSize) {
  EXPECT_EQ(largestDivisor(12, 0), 1);
  EXPECT_EQ(largestDivisor(12, -3), 1);
  EXPECT_EQ(largestDivisor(0, 8), 1);
}

TEST(CutSumsTest, LeavesShortSumsWhole) {
  EXPECT_EQ(cutSums({8, 4}, 32), (std::vector<SumBlocks>{{}, {}}));
  EXPECT_EQ(cutSums({}, 32), std::vector<SumBlocks>());
  EXPECT_EQ(cutSums({0, 32}, 32), (std::vector<SumBlocks>{{}, {}}));
}

TEST(CutSumsTest, PrefersFewBlocksOfEqualLength) {
  EXPECT_EQ(cutSums({1024}, 32), (std::vector<SumBlocks>{{32}}));
  EXPECT_EQ(cutSums({4096}, 32), (std::vector<SumBlocks>{{16, 256}}));
  EXPECT_EQ(cutSums({100}, 32), (std::vector<SumBlocks>{{10}}));
  EXPECT_EQ(cutSums({101}, 32), (std::vector<SumBlocks>{{10}}));
  // A row is a block of its own, without a further loop.
  EXPECT_EQ(cutSums({28, 28}, 32), (std::vector<SumBlocks>{{1}, {}}));
}

TEST(CutSumsTest, BoundsTheTermsOfEachAccumulator) {
  std::mt19937 random(7);
  for (int sample = 0; sample < 1000; ++sample) {
    std::vector<int64_t> sizes(random() % 3 + 1);
    for (int64_t &size : sizes)
      size = random() % (int64_t(1) << (random() % 12)) + 1;
    std::vector<SumBlocks> cuts = cutSums(sizes, 32);
    int64_t terms = 1; // Terms of the innermost accumulator that is still open.
    for (size_t loop = sizes.size(); loop-- > 0;) {
      int64_t inside = 1; // Steps of a smaller block.
      for (int64_t block : cuts[loop]) {
        EXPECT_EQ(block % inside, 0);
        EXPECT_LE(terms * (block / inside), 32);
        terms = 1;
        inside = block;
      }
      terms *= (sizes[loop] + inside - 1) / inside;
      EXPECT_LE(terms, 32);
    }
  }
}

TEST(CutSumsTest, ProductsHaveLongerBlocks) {
  LoopNestShape rows{{{10, false}, {1000, true}}, {{1000, 1}}, {1, 0}};
  EXPECT_EQ(chooseMaxTerms(rows), 32);
  EXPECT_EQ(chooseMaxTerms(matmul(64, 64, 64)), 512);
}

TEST(TilePolicyTest, TilesAProductAlongBothOfItsResultsDims) {
  TileShape tile = chooseTile(matmul(64, 64, 64), deviceLimits());
  EXPECT_EQ(tile.vectorLoop, -1);
  EXPECT_GT(tile.factors[0], 1);
  EXPECT_GT(tile.factors[1], 1);
  EXPECT_EQ(tile.factors[2], 1);
}

TEST(ChooseFactorTest, DividesWhereThatCostsLittle) {
  EXPECT_EQ(chooseFactor(64, 8), 8);
  EXPECT_EQ(chooseFactor(12, 8), 6);
  EXPECT_EQ(chooseFactor(5, 8), 5);
  EXPECT_EQ(chooseFactor(1, 8), 1);
}

TEST(ChooseFactorTest, LeavesTheLastTileNearlyWholeWhereNothingDivides) {
  EXPECT_EQ(chooseFactor(197, 8), 8); // 24 x 8 + 5
  EXPECT_EQ(chooseFactor(11, 8), 6);  // 6 + 5
  EXPECT_EQ(chooseFactor(13, 8), 7);  // 7 + 6
  EXPECT_EQ(chooseFactor(9, 8), 5);   // 5 + 4, rather than 3 x 3
  EXPECT_EQ(chooseFactor(0, 8), 1);
  EXPECT_EQ(chooseFactor(12, 0), 1);
}

TEST(TilePolicyTest, TilesSizesThatNothingDivides) {
  EXPECT_EQ(chooseTile(matmul(13, 31, 64), deviceLimits()).factors, (std::vector<int64_t>{4, 8, 1}));
}

TEST(TilePolicyTest, VectorizesTheContiguousLoopAndTilesTheOther) {
  TileShape tile = chooseTile(matmul(64, 64, 64), hostLimits());
  EXPECT_EQ(tile.vectorLoop, 1);
  EXPECT_EQ(tile.lanes, 16);
  EXPECT_EQ(tile.factors, (std::vector<int64_t>{8, 1, 1}));
}

TEST(TilePolicyTest, TakesNoWiderVectorsThanTheLoopNeeds) {
  EXPECT_EQ(chooseTile(pointwise(3, 5), hostLimits()).lanes, 8);
  EXPECT_EQ(chooseTile(pointwise(3, 4), hostLimits()).lanes, 4);
  EXPECT_EQ(chooseTile(pointwise(3, 3), hostLimits()).vectorLoop, -1); // Too short for a mask to pay.
}

TEST(TilePolicyTest, LeavesABodyThatHasNoVectorFormScalar) {
  LoopNestShape shape = pointwise(8, 64);
  shape.vectorizable = false;
  EXPECT_EQ(chooseTile(shape, hostLimits()).vectorLoop, -1);
}

TEST(TilePolicyTest, StoresNoVectorAlongALoopThatTheResultDoesntFollow) {
  LoopNestShape transposed = pointwise(64, 64);
  transposed.outputStrides = {1, 64};
  EXPECT_EQ(chooseTile(transposed, hostLimits()).vectorLoop, 0);
  LoopNestShape strided = pointwise(64, 64);
  strided.outputStrides = {128, 2};
  EXPECT_EQ(chooseTile(strided, hostLimits()).vectorLoop, -1);
}

TEST(TilePolicyTest, GivesAnInvocationSeveralElementsOfAPointwiseOp) {
  EXPECT_EQ(chooseTile(pointwise(5, 12), deviceLimits()).factors, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(chooseTile(pointwise(5, 7), deviceLimits()).factors, (std::vector<int64_t>{1, 1}));
}

TEST(TilePolicyTest, TakesNestsOfOneElementAndOfNoLoops) {
  LoopNestShape scalar;
  scalar.inputStrides = {{}};
  EXPECT_TRUE(chooseTile(scalar, hostLimits()).factors.empty());
  TileShape tile = chooseTile(matmul(1, 1, 1), hostLimits());
  EXPECT_EQ(tile.factors, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(tile.vectorLoop, -1);
}

/// Checks the properties of a tile on which code generation relies.
void expectSound(const LoopNestShape &shape, const TileLimits &limits, const TileShape &tile) {
  ASSERT_EQ(tile.factors.size(), shape.loops.size());
  int64_t points = 1;
  for (size_t i = 0; i < shape.loops.size(); ++i) {
    ASSERT_GE(tile.factors[i], 1);
    EXPECT_LE(tile.factors[i], shape.loops[i].size);
    EXPECT_LE(tile.factors[i], std::max(limits.maxFactor, limits.pointwiseFactor));
    if (shape.loops[i].reduction || static_cast<int>(i) == tile.vectorLoop)
      EXPECT_EQ(tile.factors[i], 1);
    points *= tile.factors[i];
  }
  EXPECT_LE(points, std::max(limits.maxPoints, limits.pointwiseFactor));
  ASSERT_LT(tile.vectorLoop, static_cast<int>(shape.loops.size()));
  if (tile.vectorLoop < 0) {
    EXPECT_EQ(tile.lanes, 1);
    return;
  }
  EXPECT_TRUE(shape.vectorizable);
  EXPECT_FALSE(shape.loops[tile.vectorLoop].reduction);
  EXPECT_EQ(shape.outputStrides[tile.vectorLoop], 1);
  EXPECT_EQ(tile.lanes & (tile.lanes - 1), 0);
  EXPECT_LE(tile.lanes, limits.lanes);
  EXPECT_LT(tile.lanes, 2 * shape.loops[tile.vectorLoop].size);
}

TEST(TilePolicyTest, IsSoundForAnyNest) {
  std::mt19937 random(7);
  auto draw = [&](int64_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 20000; ++round) {
    LoopNestShape shape;
    size_t loops = draw(6);
    for (size_t i = 0; i < loops; ++i)
      shape.loops.push_back({1 + draw(70), draw(3) == 0});
    for (int64_t input = draw(4); input > 0; --input) {
      std::vector<int64_t> &strides = shape.inputStrides.emplace_back();
      for (size_t i = 0; i < loops; ++i)
        strides.push_back(draw(2) ? draw(5) : 0);
    }
    for (size_t i = 0; i < loops; ++i)
      shape.outputStrides.push_back(shape.loops[i].reduction ? 0 : draw(3));
    shape.vectorizable = draw(4) != 0;
    TileLimits limits;
    limits.lanes = int64_t(1) << draw(5);
    limits.maxPoints = 1 + draw(64);
    limits.maxFactor = 1 + draw(9);
    limits.pointwiseFactor = 1 + draw(4);
    expectSound(shape, limits, chooseTile(shape, limits));
    if (HasFailure())
      FAIL() << "in round " << round;
  }
}

} // namespace

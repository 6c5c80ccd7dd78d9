// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Target/Vulkan/Products/DotProductPolicy.h"

#include <gtest/gtest.h>

using namespace inlay;

namespace {

/// y[b, m, n] += x[b, m, k] * w[n, k], all contiguous.
LoopNestShape linear(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  LoopNestShape shape;
  shape.loops = {{batch, false}, {m, false}, {n, false}, {k, true}};
  shape.inputStrides = {{m * k, k, 0, 1}, {0, 0, k, 1}};
  shape.outputStrides = {m * n, n, 1, 0};
  return shape;
}

/// Facts of real devices.
struct Device {
  const char *name;
  DotProductProfile profile;
};
const Device devices[] = {
    {"Radeon RX 480", {64, 1024}},    {"Radeon RX 7900 XTX", {64, 1024}},
    {"GeForce RTX 3080", {32, 1024}}, {"GeForce RTX 4090", {32, 1024}},
    {"Arc A770", {16, 1024}},         {"Iris Xe", {16, 1024}},
    {"Mali-G78", {16, 512}},          {"Mali-G52", {8, 384}},
    {"Adreno 740", {64, 1024}},       {"Apple M1 (MoltenVK)", {32, 1024}},
    {"VideoCore VII", {16, 256}},     {"PowerVR BXM-4-64", {128, 512}},
};
const DotProductProfile radeon{64, 1024};
const std::vector<int64_t> ofFloats{4, 4}, ofHalves{8, 8}, unaligned{1, 1};

} // namespace

TEST(DotProductPolicy, AMatrixTimesAVectorStreamsTheMatrix) {
  std::optional<DotProductTile> tile = chooseDotProductTile(linear(1, 4096, 4096), ofFloats, radeon);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->streamed, 1u);
  EXPECT_EQ(tile->columnLoop, 2);
  EXPECT_EQ(tile->rowLoop, -1);
  EXPECT_EQ(tile->innerLoop, 3);
  EXPECT_EQ(tile->width, 4);
  EXPECT_EQ(tile->columns, 4) << "1024 workgroups are enough";
  EXPECT_EQ(tile->subgroups, 1);
  EXPECT_GT(tile->depth, 1) << "loads overlap";
  EXPECT_EQ(chooseDotProductTile(linear(1, 4096, 4096), ofHalves, radeon)->width, 8);
  EXPECT_EQ(chooseDotProductTile(linear(1, 4096, 4095), unaligned, radeon)->width, 1);
}

TEST(DotProductPolicy, SubgroupsShareLongSumsOfFewResults) {
  std::optional<DotProductTile> tile = chooseDotProductTile(linear(1, 64, 16384), ofFloats, radeon);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->columns, 1);
  EXPECT_EQ(tile->subgroups, 4) << "64 results of 4 subgroups keep the device busy";
  EXPECT_EQ(chooseDotProductTile(linear(1, 64, 16384), ofFloats, {64, 128})->subgroups, 2);
  EXPECT_EQ(chooseDotProductTile(linear(1, 64, 256), ofFloats, radeon)->subgroups, 1) << "one step";
}

TEST(DotProductPolicy, OnlyFewRowsOfManyTerms) {
  EXPECT_EQ(chooseDotProductTile(linear(8, 4096, 4096), ofFloats, radeon)->rows, 8);
  EXPECT_FALSE(isDotProduct(linear(9, 4096, 4096), radeon));
  EXPECT_TRUE(isDotProduct(linear(1, 4096, 128), radeon));
  EXPECT_FALSE(isDotProduct(linear(1, 4096, 127), radeon)) << "half of the lanes would be idle";
  EXPECT_FALSE(isDotProduct(linear(1, 4096, 4096), {})) << "lanes can't be added up";
  EXPECT_FALSE(isDotProduct(linear(2, 4096, 4096, /*batch=*/3), radeon)) << "two loops of rows";
}

TEST(DotProductPolicy, TheSumMustBeContiguous) {
  LoopNestShape transposed = linear(1, 4096, 4096);
  transposed.inputStrides[1] = {0, 0, 1, 4096};
  EXPECT_FALSE(isDotProduct(transposed, radeon));
  LoopNestShape sums = linear(1, 4096, 4096);
  sums.loops.push_back({2, true});
  for (std::vector<int64_t> &strides : sums.inputStrides)
    strides.push_back(1 << 24);
  EXPECT_FALSE(isDotProduct(sums, radeon)) << "two reductions";
}

TEST(DotProductPolicy, OpenSizes) {
  LoopNestShape shape = linear(2, 1000, 4096);
  shape.loops[1].isOpen = true;
  EXPECT_FALSE(isDotProduct(shape, radeon)) << "there may be many rows";
  shape = linear(2, 1000, 4096);
  shape.loops[2].isOpen = shape.loops[3].isOpen = true;
  EXPECT_TRUE(isDotProduct(shape, radeon));
}

TEST(DotProductPolicy, TilesFitEveryDevice) {
  for (const Device &device : devices)
    for (int64_t m : {1, 3, 8})
      for (int64_t n : {1, 7, 1000, 32000})
        for (int64_t k : {256, 1000, 4096, 65536}) {
          SCOPED_TRACE(testing::Message() << device.name << ", " << m << " x " << n << " x " << k);
          std::optional<DotProductTile> tile = chooseDotProductTile(linear(m, n, k), ofFloats, device.profile);
          if (n == 1 && m > 1) // The other input is streamed, or nothing is.
            continue;
          if (n == 1) {
            EXPECT_FALSE(tile);
            continue;
          }
          ASSERT_TRUE(tile);
          EXPECT_LE(tile->subgroups * device.profile.lanes, device.profile.maxInvocations);
          EXPECT_LE(tile->results(), device.profile.lanes);
          EXPECT_TRUE(tile->depth == 1 || tile->depth * tile->width * device.profile.lanes * tile->subgroups <= k);
          EXPECT_LE(tile->depth * (tile->rows + tile->columns), 16) << "registers";
        }
}

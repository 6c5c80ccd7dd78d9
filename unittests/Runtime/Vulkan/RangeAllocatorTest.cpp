// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Vulkan/Memory/RangeAllocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace inlay::rt::vulkan;

TEST(RangeAllocator, TakesTheTightestFreeRange) {
  RangeAllocator ranges(100);
  auto a = ranges.allocate(40, 1), b = ranges.allocate(10, 1), c = ranges.allocate(20, 1), d = ranges.allocate(10, 1);
  ASSERT_TRUE(a && b && c && d);
  ranges.free(*a);
  ranges.free(*c);
  EXPECT_EQ(ranges.allocate(20, 1), c) << "20 bytes are free there, 40 and 20 elsewhere";
}

TEST(RangeAllocator, FreeNeighboursMerge) {
  RangeAllocator ranges(64);
  auto a = ranges.allocate(16, 16), b = ranges.allocate(16, 16), c = ranges.allocate(16, 16);
  ranges.free(*a);
  ranges.free(*c);
  EXPECT_FALSE(ranges.allocate(48, 16));
  ranges.free(*b);
  EXPECT_TRUE(ranges.empty());
  EXPECT_EQ(ranges.freeRanges(), 1u);
  EXPECT_TRUE(ranges.allocate(64, 16));
}

TEST(RangeAllocator, RefusesNothingTooMuchAndForeignOffsets) {
  RangeAllocator ranges(64);
  EXPECT_FALSE(ranges.allocate(0, 16));
  EXPECT_FALSE(ranges.allocate(65, 16));
  EXPECT_FALSE(ranges.allocate(UINT64_MAX, 256));
  EXPECT_FALSE(ranges.free(8));
  EXPECT_FALSE(RangeAllocator(0).allocate(1, 1));
}

/// Compares random operations with a map of bytes: no byte is allocated twice, alignment is kept, an allocation fails
/// only if no run of free bytes could hold it, and freeing all ranges leaves one.
TEST(RangeAllocator, AgreesWithAMapOfBytes) {
  constexpr uint64_t size = 512;
  std::mt19937 random(20240229);
  for (int round = 0; round < 50; ++round) {
    RangeAllocator ranges(size);
    std::vector<bool> used(size);
    std::vector<std::pair<uint64_t, uint64_t>> live;
    auto couldHold = [&](uint64_t bytes, uint64_t alignment) {
      for (uint64_t at = 0; at + bytes <= size; at += alignment)
        if (std::none_of(used.begin() + at, used.begin() + at + bytes, [](bool byte) { return byte; }))
          return true;
      return false;
    };
    for (int i = 0; i < 300; ++i) {
      if (!live.empty() && random() % 2) {
        std::swap(live[random() % live.size()], live.back());
        auto [offset, bytes] = live.back();
        live.pop_back();
        ASSERT_TRUE(ranges.free(offset));
        std::fill_n(used.begin() + offset, bytes, false);
        continue;
      }
      uint64_t bytes = 1 + random() % 100, alignment = uint64_t(1) << (random() % 7);
      auto offset = ranges.allocate(bytes, alignment);
      ASSERT_EQ(offset.has_value(), couldHold(bytes, alignment));
      if (!offset)
        continue;
      ASSERT_EQ(*offset % alignment, 0u);
      ASSERT_LE(*offset + bytes, size);
      for (uint64_t byte = *offset; byte < *offset + bytes; ++byte) {
        ASSERT_FALSE(used[byte]);
        used[byte] = true;
      }
      live.emplace_back(*offset, bytes);
      ASSERT_EQ(ranges.usedBytes(), uint64_t(std::count(used.begin(), used.end(), true)));
    }
    for (auto [offset, bytes] : live)
      ASSERT_TRUE(ranges.free(offset));
    EXPECT_EQ(ranges.freeRanges(), 1u);
  }
}

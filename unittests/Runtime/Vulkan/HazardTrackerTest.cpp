// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Vulkan/Engine/HazardTracker.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::vulkan;

static HazardTracker::Use read(uint64_t begin, uint64_t end, uint64_t memory = 1) {
  return {memory, begin, end, Access::Read};
}
static HazardTracker::Use write(uint64_t begin, uint64_t end, uint64_t memory = 1) {
  return {memory, begin, end, Access::Write};
}

TEST(HazardTracker, ReadsOfTheSameBytesNeedNone) {
  HazardTracker tracker;
  EXPECT_FALSE(tracker.needsBarrier({read(0, 8), write(8, 16)}));
  EXPECT_FALSE(tracker.needsBarrier({read(0, 8), write(16, 24)}));
}

TEST(HazardTracker, ReadAfterWriteWriteAfterReadAndWriteAfterWriteNeedOne) {
  for (auto [first, second] :
       {std::pair(write(0, 8), read(0, 8)), {read(0, 8), write(0, 8)}, {write(0, 8), write(0, 8)}}) {
    HazardTracker tracker;
    EXPECT_FALSE(tracker.needsBarrier({first}));
    EXPECT_TRUE(tracker.needsBarrier({second}));
  }
}

TEST(HazardTracker, OverlapOfAByteCounts) {
  HazardTracker tracker;
  EXPECT_FALSE(tracker.needsBarrier({write(0, 8)}));
  EXPECT_FALSE(tracker.needsBarrier({read(8, 16)}));
  EXPECT_FALSE(tracker.needsBarrier({read(0, 8, /*memory=*/2)}));
  EXPECT_TRUE(tracker.needsBarrier({read(7, 9)}));
}

TEST(HazardTracker, ABarrierCoversAllBeforeIt) {
  HazardTracker tracker;
  EXPECT_FALSE(tracker.needsBarrier({write(0, 8)}));
  EXPECT_FALSE(tracker.needsBarrier({write(8, 16)}));
  EXPECT_TRUE(tracker.needsBarrier({read(0, 8), write(16, 24)}));
  EXPECT_FALSE(tracker.needsBarrier({read(8, 16)})) << "the write is before the barrier";
  EXPECT_TRUE(tracker.needsBarrier({read(16, 24)}));
}

TEST(HazardTracker, OneDispatchMayReadAndWriteTheSame) {
  HazardTracker tracker;
  EXPECT_FALSE(tracker.needsBarrier({read(0, 8), write(0, 8)}));
  EXPECT_TRUE(tracker.needsBarrier({read(0, 8), write(0, 8)}));
}

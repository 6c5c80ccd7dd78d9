// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Core/Recovery/Quarantine.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace std::chrono_literals;

namespace {

struct QuarantineTest : testing::Test {
  std::chrono::milliseconds wait() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(*quarantine.nextTry() - now);
  }
  Quarantine quarantine{3, 100ms, 1s};
  Quarantine::Time now = Quarantine::Time() + 1h;
};

} // namespace

TEST_F(QuarantineTest, HoldsNothingAtFirst) {
  EXPECT_FALSE(quarantine.holds(0));
  EXPECT_FALSE(quarantine.nextTry());
  EXPECT_TRUE(quarantine.due(now).empty());
}

TEST_F(QuarantineTest, EachFailureThatFollowsDoublesTheWaitUpToTheLongest) {
  quarantine.hold(1, now);
  EXPECT_EQ(wait(), 100ms);
  quarantine.hold(1, now + 50ms);
  EXPECT_EQ(wait(), 100ms) << "it is held already";
  EXPECT_TRUE(quarantine.due(now + 99ms).empty());
  EXPECT_EQ(quarantine.due(now + 100ms), std::vector<uint32_t>{1});
  for (auto expected : {200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    quarantine.fail(1, now);
    EXPECT_EQ(wait(), expected);
  }
}

TEST_F(QuarantineTest, TheNextTryIsTheEarliest) {
  quarantine.hold(0, now + 50ms);
  quarantine.hold(1, now);
  quarantine.hold(2, now + 20ms);
  EXPECT_EQ(wait(), 100ms);
}

TEST_F(QuarantineTest, WhatFailsSoonAfterItsReleaseWaitsLonger) {
  quarantine.hold(0, now);
  quarantine.release(0, now += 100ms);
  EXPECT_FALSE(quarantine.holds(0));
  quarantine.hold(0, now += 999ms);
  EXPECT_EQ(wait(), 200ms);
  quarantine.release(0, now += 200ms);
  quarantine.hold(0, now += 1s);
  EXPECT_EQ(wait(), 100ms) << "it worked for as long as the longest backoff";
}

TEST_F(QuarantineTest, ALostDeviceHoldsAll) {
  quarantine.loseDevice(/*causedByEngine=*/false, now);
  for (uint32_t engine : {0, 1, 2})
    EXPECT_TRUE(quarantine.holds(engine));
  EXPECT_FALSE(quarantine.holdsAlone(0));
  EXPECT_TRUE(quarantine.isDeviceLost());
  quarantine.failDevice(now);
  EXPECT_EQ(wait(), 200ms);
  quarantine.releaseDevice(now);
  EXPECT_FALSE(quarantine.holds(0));
}

TEST_F(QuarantineTest, WhatLosesTheDeviceTimeAndAgainWaitsAlone) {
  for (auto expected : {100ms, 200ms, 400ms}) {
    quarantine.hold(2, now);
    quarantine.loseDevice(/*causedByEngine=*/true, now);
    EXPECT_EQ(wait(), 100ms) << "the device is tried soon";
    quarantine.releaseDevice(now + 100ms);
    EXPECT_FALSE(quarantine.holds(0));
    EXPECT_TRUE(quarantine.holds(2));
    EXPECT_EQ(wait(), expected);
    quarantine.release(2, now += expected);
  }
}

TEST_F(QuarantineTest, FailingForTheFirstTimeIsBeingHeld) {
  quarantine.fail(1, now);
  EXPECT_TRUE(quarantine.holdsAlone(1));
  EXPECT_EQ(wait(), 100ms);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Vulkan/Engine/Timestamps.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::vulkan;

/// Returns (begin, end) of each dispatch.
static std::vector<std::pair<int64_t, int64_t>> place(const std::vector<DispatchTicks> &ticks,
                                                      const TimestampInfo &info, HostWindow window,
                                                      std::optional<Calibration> calibration = std::nullopt) {
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const DispatchTime &time : placeOnHost(ticks, info, window, calibration))
    times.emplace_back(time.begin, time.end);
  return times;
}

using Times = std::vector<std::pair<int64_t, int64_t>>;

TEST(Timestamps, LieMidwayWithoutACalibration) {
  EXPECT_EQ(place({{0, 50, 60}, {1, 60, 70}}, {64, 2.5, false}, {1000, 1100}), (Times{{1025, 1050}, {1050, 1075}}));
  EXPECT_TRUE(place({}, {64, 1, false}, {0, 10}).empty());
}

TEST(Timestamps, LieWhereTheCalibrationSays) {
  // Tick 100 was at 2000: ticks 50 to 60 of 2 ns each were at 1900 to 1920.
  EXPECT_EQ(place({{0, 50, 60}}, {64, 2, true}, {1000, 3000}, Calibration{100, 2000}), (Times{{1900, 1920}}));
  EXPECT_EQ(place({{0, 50, 60}}, {64, 2, true}, {1950, 3000}, Calibration{100, 2000}), (Times{{1950, 1970}}))
      << "not before the submission";
  EXPECT_EQ(place({{0, 50, 60}}, {64, 2, true}, {1000, 1910}, Calibration{100, 2000}), (Times{{1890, 1910}}))
      << "not after the wait";
}

TEST(Timestamps, RunOver) {
  EXPECT_EQ(place({{0, 0xfffffff0, 0x10}}, {32, 1, false}, {0, 32}), (Times{{0, 32}}));
  EXPECT_EQ(place({{0, UINT64_MAX - 3, 4}}, {64, 1, true}, {0, 100}, Calibration{2, 50}), (Times{{44, 52}}));
  EXPECT_EQ(place({{0, 0xabc0fffffff0, 0xdef000000010}}, {32, 1, false}, {0, 32}), (Times{{0, 32}}))
      << "invalid bits are ignored";
}

TEST(Timestamps, NeverLeaveTheWindow) {
  EXPECT_EQ(place({{0, 0, 50}, {1, 50, 100}}, {64, 1, false}, {0, 60}), (Times{{0, 50}, {50, 60}}))
      << "clocks that run at other speeds";
  EXPECT_EQ(place({{0, 10, 5}}, {64, 1, false}, {0, 100}).size(), 1u) << "a clock that runs backwards";
}

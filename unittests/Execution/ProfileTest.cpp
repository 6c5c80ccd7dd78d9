// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/Profile.h"

#include <gtest/gtest.h>

using namespace inlay;
using rt::StepKind;

static const std::vector<rt::StepProfile> kSteps = {{"copy of x", StepKind::Copy, 10, 0},
                                                    {"f_0", StepKind::LaunchEngine, 200, 0},
                                                    {"copy of y", StepKind::Copy, 30, 0},
                                                    {"f_2", StepKind::CallHost, 4000, 2},
                                                    {"other", StepKind::Callback, 50000, -1}};

TEST(Profile, SumsStepsBySegment) {
  std::vector<MeasuredTime> times = sumBySegment(kSteps);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_DOUBLE_EQ(times[0].run, 200e-9);
  EXPECT_DOUBLE_EQ(times[0].transfers, 40e-9);
  EXPECT_EQ(times[1].run, 0);
  EXPECT_DOUBLE_EQ(times[2].run, 4000e-9);
}

TEST(Profile, AddsTimesToAReport) {
  std::string report = R"({"segments": [{"target": "vulkan", "ops": ["a", "b"],
      "modelled_ns": {"compute": 1000, "launch": 500, "transfer_in": 20, "transfer_out": 3}}], "summary": {}})";
  rt::StatusOr<std::string> added = addMeasuredTimes(report, kSteps);
  ASSERT_TRUE(added.isOk()) << added.status().message();
  EXPECT_NE(added->find("\"measured_ns\": 54240"), std::string::npos) << *added;
  rt::StatusOr<std::string> table = formatMeasuredTimes(*added);
  ASSERT_TRUE(table.isOk());
  EXPECT_NE(table->find("vulkan        2     1.50 us      200 ns       23 ns       40 ns"), std::string::npos)
      << *table;
  EXPECT_NE(table->find("all segments: measured 54.2 us"), std::string::npos) << *table;
}

TEST(Profile, RefusesWhatIsNoReport) {
  for (const char *text : {"", "[]", "{}", R"({"segments": []})", R"({"segments": 1, "summary": {}})"}) {
    rt::StatusOr<std::string> added = addMeasuredTimes(text, kSteps);
    ASSERT_FALSE(added.isOk()) << text;
    EXPECT_EQ(added.status().message().rfind("expected a partition report of one function, but ", 0), 0u);
    EXPECT_FALSE(formatMeasuredTimes(text).isOk());
  }
}

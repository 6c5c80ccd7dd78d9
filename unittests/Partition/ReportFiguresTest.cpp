// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of figures and shortened text in reports, and of the order of what-if rows.

#include "Partition/Form/WhatIfAnalysis.h"
#include "Partition/Report/ReportHtml.h"
#include "Partition/Report/ReportWriters.h"

#include <gtest/gtest.h>

using namespace inlay;

TEST(ReportFigures, BytesHaveAUnitAndFewDigits) {
  EXPECT_EQ(formatBytes(10'239), "10239 B");
  EXPECT_EQ(formatBytes(10'240), "10.0 KiB");
  EXPECT_EQ(formatBytes(99 * 1024), "99.0 KiB");
  EXPECT_EQ(formatBytes(100 * 1024), "100 KiB");
  EXPECT_EQ(formatBytes(10'485'759), "10240 KiB");
  EXPECT_EQ(formatBytes(10'485'760), "10.0 MiB");
  EXPECT_EQ(formatBytes(std::nullopt), "?");
  EXPECT_EQ(formatBytes(std::nullopt, "4*n"), "4*n B");
}

TEST(ReportFigures, TextIsCutBetweenCharacters) {
  EXPECT_EQ(abbreviate("abcd", 4), "abcd");
  EXPECT_EQ(abbreviate("abcde", 4), "abc…");
  EXPECT_EQ(abbreviate("abä d", 4), "ab…");
  EXPECT_EQ(abbreviate("äb", 2), "…") << "not even the first character fits";
}

TEST(ReportFigures, PartitionsAreComparedByTimeIfItIsKnown) {
  PartitionSummary fast, slow;
  fast.seconds = 1;
  fast.segments = 5;
  slow.seconds = 2;
  slow.segments = 3;
  EXPECT_TRUE(isBetter(fast, slow));
  EXPECT_FALSE(isBetter(slow, fast));
  slow.seconds.reset();
  EXPECT_TRUE(isBetter(slow, fast)) << "fewer segments";
  EXPECT_FALSE(isBetter(fast, slow));
  EXPECT_FALSE(isBetter(fast, fast));
}

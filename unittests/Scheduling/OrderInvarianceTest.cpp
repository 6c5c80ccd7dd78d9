// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the counts of a schedule do not depend on the order in which nodes are written, for all heuristics.

#include "inlay/Scheduling/MinSizeSchedule.h"
#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

/// Returns all counts, in the order of the partition report.
static std::string summarize(ScheduleGraph graph, int64_t minSize) {
  ScheduleGraph original = graph;
  Schedule made = scheduleWithMinSize(graph, Strategy::Levels, minSize);
  EXPECT_EQ(checkSchedule(original, made), "");
  return std::to_string(made.segments.size()) + " segments, " + std::to_string(made.countOf(original, true)) +
         " accelerated, bound " + std::to_string(made.lowerBound) + ", kept " +
         std::to_string(made.accelerated(original)) + ", bytes " + std::to_string(made.bytesCarried) + " of " +
         std::to_string(made.bytesCarriedBefore);
}

/// Returns the op count that the Torch-TensorRT walk keeps for the order in which the graph is written. We keep at
/// least as much.
static std::string summarizeWalk(ScheduleGraph graph, int64_t minSize) {
  ScheduleGraph original = graph;
  uint64_t kept = scheduleLikeTorchTensorRT(graph, minSize).accelerated(original);
  return "kept " + std::to_string(kept) + ",";
}

static void expectInvariant(RandomGraphOptions options, int64_t minSize) {
  std::mt19937 random(23);
  options.sized = true;
  unsigned walked = 0;
  for (unsigned round = 0; round < countRounds(minSize > 1 ? 40 : 150, minSize > 1 ? 1000 : 10000); ++round) {
    options.neutral = round % 3 || minSize > 1 ? 0 : 0.2; // With neutral nodes, another walk may keep more.
    options.pinned = round % 5 ? 0 : 0.1;
    RandomGraphOptions varied = varyOptions(random, round, options, 60);
    varied.edges /= 4;
    ScheduleGraph graph = makeRandomGraph(random, varied);
    graph.fewestBytes = round % 2;
    std::string summary = summarize(graph, minSize);
    for (unsigned order = 0; order < 3; ++order) {
      ScheduleGraph other = reorder(graph, random);
      std::string otherSummary = summarize(other, minSize);
      if (otherSummary == summary)
        continue;
      // The promise to keep no less than this walk, which depends on the order, takes precedence.
      bool isWalked = minSize > 1 && (summary.find(summarizeWalk(graph, minSize)) != std::string::npos ||
                                      otherSummary.find(summarizeWalk(other, minSize)) != std::string::npos);
      ASSERT_TRUE(isWalked) << "round " << round << ": " << summary << " and " << otherSummary;
      ++walked;
    }
  }
  EXPECT_LE(walked, 1u) << "graphs of which another order keeps more must be rare";
}

TEST(OrderInvariance, TwoTargets) { expectInvariant({}, 1); }

TEST(OrderInvariance, IsolatedNodes) {
  RandomGraphOptions options;
  options.isolated = 0.2;
  expectInvariant(options, 1);
}

TEST(OrderInvariance, ThreeAndFourTargets) {
  RandomGraphOptions options;
  for (options.targets = 3; options.targets <= 4; ++options.targets)
    expectInvariant(options, 1);
}

TEST(OrderInvariance, MinSize) {
  RandomGraphOptions options;
  for (options.targets = 2; options.targets <= 3; ++options.targets)
    expectInvariant(options, 4);
}

TEST(OrderInvariance, GivesTheSameSegmentsTwice) {
  std::mt19937 random(29);
  RandomGraphOptions options;
  options.targets = 3;
  options.isolated = options.neutral = 0.1;
  options.sized = true;
  for (unsigned round = 0; round < 50; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 60));
    graph.fewestBytes = true;
    ScheduleGraph first = graph, second = graph;
    Schedule once = scheduleWithMinSize(first, Strategy::Levels, 3);
    Schedule again = scheduleWithMinSize(second, Strategy::Levels, 3);
    ASSERT_EQ(once.segments.size(), again.segments.size());
    for (size_t at = 0; at < once.segments.size(); ++at)
      ASSERT_EQ(once.segments[at].nodes, again.segments[at].nodes);
  }
}

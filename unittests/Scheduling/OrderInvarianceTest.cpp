// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which nodes are written changes nothing that is counted, whatever heuristics are at work.

#include "inlay/Scheduling/MinSizeSchedule.h"
#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

/// All that is counted, in the order of the contract's report.
static std::string summarise(ScheduleGraph graph, int64_t minSize) {
  ScheduleGraph original = graph;
  Schedule made = scheduleWithMinSize(graph, Strategy::Levels, minSize);
  EXPECT_EQ(checkSchedule(original, made), "");
  return std::to_string(made.segments.size()) + " segments, " + std::to_string(made.countOf(original, true)) +
         " accelerated, bound " + std::to_string(made.lowerBound) + ", kept " +
         std::to_string(made.accelerated(original)) + ", bytes " + std::to_string(made.bytesCarried) + " of " +
         std::to_string(made.bytesCarriedBefore);
}

/// What Torch-TensorRT's walk keeps of the graph in the order it is written, which we keep too.
static std::string summariseWalk(ScheduleGraph graph, int64_t minSize) {
  ScheduleGraph original = graph;
  uint64_t kept = scheduleLikeTorchTensorRT(graph, minSize).accelerated(original);
  return "kept " + std::to_string(kept) + ",";
}

static void expectInvariant(RandomGraphOptions options, int64_t minSize) {
  std::mt19937 random(23);
  options.sized = true;
  unsigned walked = 0;
  for (unsigned round = 0; round < countRounds(minSize > 1 ? 40 : 150, minSize > 1 ? 1000 : 10000); ++round) {
    options.neutral = round % 3 || minSize > 1 ? 0 : 0.2; // with these another walk may keep more
    options.pinned = round % 5 ? 0 : 0.1;
    RandomGraphOptions varied = varyOptions(random, round, options, 60);
    varied.edges /= 4;
    ScheduleGraph graph = makeRandomGraph(random, varied);
    graph.fewestBytes = round % 2;
    std::string summary = summarise(graph, minSize);
    for (unsigned order = 0; order < 3; ++order) {
      ScheduleGraph other = reorder(graph, random);
      std::string otherSummary = summarise(other, minSize);
      if (otherSummary == summary)
        continue;
      // The promise never to keep less than a walk that depends on the order comes first.
      bool isWalked = minSize > 1 && (summary.find(summariseWalk(graph, minSize)) != std::string::npos ||
                                      otherSummary.find(summariseWalk(other, minSize)) != std::string::npos);
      ASSERT_TRUE(isWalked) << "round " << round << ": " << summary << " and " << otherSummary;
      ++walked;
    }
  }
  EXPECT_LE(walked, 1u) << "graphs of which another order keeps more are to be rare";
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

TEST(OrderInvariance, LeastSize) {
  RandomGraphOptions options;
  for (options.targets = 2; options.targets <= 3; ++options.targets)
    expectInvariant(options, 4);
}

TEST(OrderInvariance, GivesTheVerySegmentsTwice) {
  std::mt19937 random(29);
  RandomGraphOptions options;
  options.targets = 3;
  options.isolated = options.neutral = 0.1;
  options.sized = true;
  for (unsigned round = 0; round < 50; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 60));
    graph.fewestBytes = true;
    ScheduleGraph first = graph, second = graph;
    Schedule one = scheduleWithMinSize(first, Strategy::Levels, 3);
    Schedule other = scheduleWithMinSize(second, Strategy::Levels, 3);
    ASSERT_EQ(one.segments.size(), other.segments.size());
    for (size_t at = 0; at < one.segments.size(); ++at)
      ASSERT_EQ(one.segments[at].nodes, other.segments[at].nodes);
  }
}

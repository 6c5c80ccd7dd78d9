// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares schedules of random graphs of up to 16 nodes with the exact answers.

#include "inlay/Scheduling/LevelSchedule.h"

#include "ExactSchedule.h"
#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

/// Returns true if a node must run on the host. Otherwise the graph is one segment, whatever its neutral nodes prefer.
static bool needsHost(const ScheduleGraph &graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const ScheduleNode &node) { return !node.neutral && !graph.isAccelerator(node.target); });
}

static void expectFewestOfBoth(RandomGraphOptions options) {
  std::mt19937 random(20240607);
  for (unsigned round = 0; round < countRounds(400); ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 16));
    Schedule schedule = scheduleByLevels(graph);
    FewestSegments exact = findFewestSegments(graph);
    ASSERT_EQ(checkSchedule(graph, schedule), "") << "round " << round;
    ASSERT_EQ(schedule.segments.size(), exact.total) << "round " << round;
    ASSERT_EQ(schedule.lowerBound, exact.total) << "round " << round;
    if (needsHost(graph)) {
      ASSERT_EQ(schedule.countOf(graph, true), exact.accelerated) << "round " << round;
    }
    ASSERT_EQ(exact.acceleratedOfTotal, exact.accelerated) << "one schedule has the fewest of both";
  }
}

TEST(FewestSegments, TwoTargets) { expectFewestOfBoth({}); }

TEST(FewestSegments, TwoTargetsAndNeutralNodes) {
  RandomGraphOptions options;
  options.neutral = 0.3;
  expectFewestOfBoth(options);
}

TEST(FewestSegments, IsolatedNodesLeaveTheAcceleratorsExact) {
  RandomGraphOptions options;
  options.isolated = 0.3;
  std::mt19937 random(20240608);
  unsigned rounds = countRounds(400), optimal = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    options.neutral = round % 8 < 4 ? 0 : 0.2;
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 16));
    Schedule schedule = scheduleByLevels(graph);
    FewestSegments exact = findFewestSegments(graph);
    ASSERT_EQ(checkSchedule(graph, schedule), "") << "round " << round;
    if (needsHost(graph)) {
      ASSERT_EQ(schedule.countOf(graph, true), exact.accelerated) << "round " << round;
    }
    ASSERT_GE(schedule.segments.size(), exact.total) << "round " << round;
    ASSERT_LE(schedule.lowerBound, exact.total) << "round " << round;
    size_t isolated = static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                                        [](const ScheduleNode &node) { return node.isolatedOnHost; }));
    ASSERT_LE(schedule.segments.size(), exact.total + std::min<size_t>(2 * isolated, 2)) << "round " << round;
    optimal += schedule.segments.size() == exact.total;
  }
  EXPECT_GE(optimal, rounds * 0.995) << "the total is NP-hard";
}

/// Checks how often the beam search finds the optimum, and how often the lower bound proves it.
static void expectShortSequences(unsigned targets, double neutral, double isolated) {
  RandomGraphOptions options;
  options.targets = targets;
  options.neutral = neutral;
  options.isolated = isolated;
  std::mt19937 random(20240609 + targets);
  unsigned rounds = countRounds(250, 2500), optimal = 0, proven = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 16));
    Schedule schedule = scheduleByLevels(graph);
    unsigned fewest = findFewestSegments(graph).total;
    ASSERT_EQ(checkSchedule(graph, schedule), "") << "round " << round;
    ASSERT_GE(schedule.segments.size(), fewest) << "round " << round;
    ASSERT_LE(schedule.segments.size(), fewest + 1) << "round " << round;
    ASSERT_LE(schedule.lowerBound, fewest) << "round " << round;
    optimal += schedule.segments.size() == fewest;
    proven += schedule.lowerBound == schedule.segments.size();
  }
  EXPECT_GE(optimal, rounds * 0.995) << targets << " targets";
  EXPECT_GE(proven, rounds * 0.92) << targets << " targets";
}

TEST(FewestSegments, ThreeTargets) { expectShortSequences(3, 0, 0); }
TEST(FewestSegments, ThreeTargetsWithNeutralAndIsolatedNodes) { expectShortSequences(3, 0.2, 0.3); }
TEST(FewestSegments, FourTargets) { expectShortSequences(4, 0, 0); }
TEST(FewestSegments, FourTargetsWithNeutralAndIsolatedNodes) { expectShortSequences(4, 0.2, 0.3); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/MinSizeSchedule.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include "Ancestors.h"
#include "ExactSchedule.h"
#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

static void expectLarge(const ScheduleGraph &graph, const Schedule &schedule, uint64_t minSize) {
  for (const ScheduledSegment &segment : schedule.segments) {
    uint64_t opCount = 0;
    for (NodeId node : segment.nodes)
      opCount += graph.nodes[node].opCount;
    if (graph.isAccelerator(segment.target)) {
      EXPECT_GE(opCount, minSize);
    }
  }
}

TEST(MinBlockSize, MovesANodeToTheSegmentThatNeedsIt) {
  // Nodes 0 and 1 are on the accelerator. Node 2 is on the host after node 0. A chain follows whose last node reads
  // node 1.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId node = 0; node < 7; ++node) {
    ScheduleNode info;
    info.target = node == 2;
    info.allowed = 3;
    graph.add(info);
  }
  for (auto [before, after] : {std::pair(0, 2), {2, 3}, {3, 4}, {4, 5}, {5, 6}, {1, 6}})
    graph.addEdge(before, after);
  graph.seal();
  Schedule schedule = scheduleWithMinSize(graph, Strategy::Levels, 5);
  ASSERT_EQ(schedule.segments.size(), 2u);
  EXPECT_EQ(schedule.segments[0].nodes, (std::vector<NodeId>{0, 2}));
  EXPECT_EQ(schedule.segments[1].nodes, (std::vector<NodeId>{1, 3, 4, 5, 6}));
}

TEST(MinBlockSize, KeepsAllThatCanBeKeptOfSmallGraphs) {
  std::mt19937 random(99);
  for (unsigned minSize : {2u, 3u, 5u})
    for (unsigned round = 0; round < countRounds(200, 4000); ++round) {
      ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, {}, 14)), demoted = graph;
      Schedule schedule = scheduleWithMinSize(demoted, Strategy::Levels, minSize);
      ASSERT_EQ(checkSchedule(graph, schedule), "");
      expectLarge(graph, schedule, minSize);
      ASSERT_EQ(schedule.accelerated(graph), findMostKept(graph, minSize))
          << "minimum size " << minSize << ", round " << round;
    }
}

/// Covers graphs that are too large for the exact answer, too.
TEST(MinBlockSize, KeepsNoLessThanTheAncestors) {
  std::mt19937 random(101);
  unsigned rounds = countRounds(300, 5000), fewer = 0;
  uint64_t ours = 0, merged = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    RandomGraphOptions options = varyOptions(random, round, {}, round % 2 ? 40 : 120);
    options.edges /= 6;
    options.targets = 2 + round % 3 / 2;
    ScheduleGraph graph = makeRandomGraph(random, options), demoted = graph;
    uint64_t minSize = 2 + random() % 5;
    Schedule schedule = scheduleWithMinSize(demoted, Strategy::Levels, static_cast<int64_t>(minSize));
    ASSERT_EQ(checkSchedule(graph, schedule), "");
    expectLarge(graph, schedule, minSize);
    uint64_t kept = schedule.accelerated(graph), byMerging = CapabilityBased(graph).keep(minSize);
    EXPECT_GE(kept, keepBySplitter(graph, minSize)) << "round " << round;
    EXPECT_GE(kept, keepByTorchTensorRT(graph, minSize)) << "round " << round;
    fewer += kept < byMerging;
    ours += kept;
    merged += byMerging;
  }
  // This partitioner takes about cubic time, so the library does not try it. It keeps more in rare cases and much less
  // in total.
  EXPECT_LE(fewer, rounds * 0.02);
  EXPECT_LE(static_cast<double>(merged), 0.9 * static_cast<double>(ours));
}

/// Once the targets are known, there may be fewer segments than while they were chosen.
TEST(MinBlockSize, NeedsNoMoreSegmentsThanItsTargetsDo) {
  std::mt19937 random(107);
  for (unsigned round = 0; round < countRounds(100, 5000); ++round) {
    RandomGraphOptions options = varyOptions(random, round, {}, 24);
    options.edges /= 4;
    options.targets = 2 + round % 3;
    ScheduleGraph graph = makeRandomGraph(random, options);
    uint64_t minSize = 2 + random() % 4;
    Schedule schedule = scheduleWithMinSize(graph, Strategy::Levels, static_cast<int64_t>(minSize));
    for (const ScheduledSegment &segment : schedule.segments)
      for (NodeId node : segment.nodes)
        graph.nodes[node].target = segment.target;
    Schedule rescheduled = scheduleByLevels(graph);
    bool isLarge =
        std::all_of(rescheduled.segments.begin(), rescheduled.segments.end(), [&](const ScheduledSegment &segment) {
          return !graph.isAccelerator(segment.target) || segment.nodes.size() >= minSize;
        });
    if (isLarge) {
      EXPECT_LE(schedule.segments.size(), rescheduled.segments.size()) << "round " << round;
    }
  }
}

TEST(MinBlockSize, KeepsPinnedNodes) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  ScheduleNode node;
  node.allowed = 3;
  node.pinned = true;
  graph.add(node);
  graph.seal();
  EXPECT_EQ(scheduleWithMinSize(graph, Strategy::Levels, 5).segments[0].target, 0);
}

TEST(MinBlockSize, DemotesToTheNextTarget) {
  ScheduleGraph graph;
  graph.accelerators = 3;
  for (TargetSet allowed : {0b101, 0b111}) {
    ScheduleNode node;
    node.allowed = allowed;
    graph.add(node);
  }
  graph.seal();
  scheduleWithMinSize(graph, Strategy::Levels, 3);
  EXPECT_EQ(graph.nodes[0].target, 2);
  EXPECT_EQ(graph.nodes[1].target, 2) << "one node is too few for the second accelerator as well";
}

TEST(MinBlockSize, HoldsForThreeTargetsAndInOrder) {
  std::mt19937 random(5);
  RandomGraphOptions options;
  options.nodes = 40;
  options.targets = 3;
  options.edges = 0.05;
  options.neutral = 0.1;
  for (unsigned round = 0; round < 200; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, options);
    for (Strategy strategy : {Strategy::Levels, Strategy::InOrder}) {
      ScheduleGraph demoted = graph;
      Schedule schedule = scheduleWithMinSize(demoted, strategy, 4);
      EXPECT_EQ(checkSchedule(graph, schedule), "");
      expectLarge(graph, schedule, 4);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/MinBlockSize.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

static void expectLarge(const ScheduleGraph &graph, const Schedule &schedule, uint64_t least) {
  for (const ScheduledSegment &segment : schedule.segments) {
    uint64_t weight = 0;
    for (NodeId node : segment.nodes)
      weight += graph.nodes[node].weight;
    if (graph.isAccelerator(segment.colour)) {
      EXPECT_GE(weight, least);
    }
  }
}

/// What stays if the small segments of the level pass are dropped as a whole.
static uint64_t keepLarge(const ScheduleGraph &graph, uint64_t least) {
  uint64_t kept = 0;
  for (const ScheduledSegment &segment : scheduleByLevels(graph).segments)
    if (graph.isAccelerator(segment.colour) && segment.nodes.size() >= least)
      kept += segment.nodes.size();
  return kept;
}

TEST(MinBlockSize, MovesANodeToTheSegmentThatNeedsIt) {
  // 0 and 1 on the accelerator, 2 on the host after 0, then a chain that reads 1 last.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId node = 0; node < 7; ++node) {
    ScheduleNode info;
    info.colour = node == 2;
    info.allowed = 3;
    graph.add(info);
  }
  for (auto [before, after] : {std::pair(0, 2), {2, 3}, {3, 4}, {4, 5}, {5, 6}, {1, 6}})
    graph.addEdge(before, after);
  graph.seal();
  Schedule schedule = scheduleWithLeastSize(graph, Strategy::Levels, 5);
  ASSERT_EQ(schedule.segments.size(), 2u);
  EXPECT_EQ(schedule.segments[0].nodes, (std::vector<NodeId>{0, 2}));
  EXPECT_EQ(schedule.segments[1].nodes, (std::vector<NodeId>{1, 3, 4, 5, 6}));
}

TEST(MinBlockSize, KeepsAlmostAllThatCanBeKept) {
  std::mt19937 random(99);
  for (unsigned least : {2u, 3u, 5u}) {
    uint64_t kept = 0, most = 0;
    for (unsigned round = 0; round < 300; ++round) {
      RandomGraphOptions options;
      options.nodes = 4 + random() % 6;
      options.edges = 0.1 + 0.1 * (random() % 4);
      ScheduleGraph graph = makeRandomGraph(random, options), demoted = graph;
      Schedule schedule = scheduleWithLeastSize(demoted, Strategy::Levels, least);
      EXPECT_EQ(checkSchedule(graph, schedule), "");
      expectLarge(graph, schedule, least);
      EXPECT_GE(schedule.accelerated(graph), keepLarge(graph, least));
      uint64_t exact = findMostKept(graph, least);
      EXPECT_LE(schedule.accelerated(graph), exact);
      kept += schedule.accelerated(graph);
      most += exact;
    }
    EXPECT_GE(static_cast<double>(kept), 0.997 * static_cast<double>(most)) << "least " << least;
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
  EXPECT_EQ(scheduleWithLeastSize(graph, Strategy::Levels, 5).segments[0].colour, 0);
}

TEST(MinBlockSize, DemotesToTheNextColour) {
  ScheduleGraph graph;
  graph.accelerators = 3;
  for (ColourSet allowed : {0b101, 0b111}) {
    ScheduleNode node;
    node.allowed = allowed;
    graph.add(node);
  }
  graph.seal();
  scheduleWithLeastSize(graph, Strategy::Levels, 3);
  EXPECT_EQ(graph.nodes[0].colour, 2);
  EXPECT_EQ(graph.nodes[1].colour, 2) << "one node is too few for the second accelerator as well";
}

TEST(MinBlockSize, HoldsForThreeColoursAndInOrder) {
  std::mt19937 random(5);
  RandomGraphOptions options;
  options.nodes = 40;
  options.colours = 3;
  options.edges = 0.05;
  options.neutral = 0.1;
  for (unsigned round = 0; round < 200; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, options);
    for (Strategy strategy : {Strategy::Levels, Strategy::InOrder}) {
      ScheduleGraph demoted = graph;
      Schedule schedule = scheduleWithLeastSize(demoted, strategy, 4);
      EXPECT_EQ(checkSchedule(graph, schedule), "");
      expectLarge(graph, schedule, 4);
    }
  }
}

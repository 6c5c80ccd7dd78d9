// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the walk with known results of Torch-TensorRT and checks that its schedules are always valid.

#include "inlay/Scheduling/TorchTensorRTSchedule.h"
#include "inlay/Scheduling/MinSizeSchedule.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace inlay;
using namespace inlay::testing;

static NodeId add(ScheduleGraph &graph, TargetIndex target) {
  ScheduleNode node;
  node.target = target;
  node.allowed = target ? 2 : 3;
  return graph.add(node);
}

static ScheduleGraph makeGraph(const std::vector<TargetIndex> &targets, std::vector<std::pair<NodeId, NodeId>> edges) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (TargetIndex target : targets)
    add(graph, target);
  for (auto [before, after] : edges)
    graph.addEdge(before, after);
  graph.seal();
  return graph;
}

/// Makes towers of alternating runs of one node each, joined by a last node. The nodes are written tower by tower, or
/// run by run if `interleaved`.
static ScheduleGraph makeTowers(unsigned towers, unsigned runs, bool interleaved) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  std::vector<std::vector<NodeId>> nodes(towers, std::vector<NodeId>(runs));
  for (unsigned at = 0; at < towers * runs; ++at) {
    unsigned tower = interleaved ? at % towers : at / runs, run = interleaved ? at / towers : at % runs;
    nodes[tower][run] = add(graph, run % 2);
    if (run > 0)
      graph.addEdge(nodes[tower][run - 1], nodes[tower][run]);
  }
  NodeId join = add(graph, 0);
  for (unsigned tower = 0; tower < towers; ++tower)
    graph.addEdge(nodes[tower].back(), join);
  graph.seal();
  return graph;
}

static Schedule schedule(ScheduleGraph graph, int64_t minSize = 1) { return scheduleLikeTorchTensorRT(graph, minSize); }

TEST(TorchTensorRTSchedule, MakesThreeSegmentsOfTheDocumentedExample) {
  ScheduleGraph graph = makeGraph({0, 1, 0, 1, 0, 1, 0}, {{1, 6}, {3, 6}, {4, 5}, {5, 6}, {0, 6}, {2, 6}});
  Schedule made = schedule(graph);
  ASSERT_EQ(made.segments.size(), 3u);
  EXPECT_EQ(made.segments[0].nodes, (std::vector<NodeId>{0, 2, 4}));
  EXPECT_EQ(made.segments[1].nodes, (std::vector<NodeId>{1, 3, 5}));
  EXPECT_EQ(made.segments[2].nodes, (std::vector<NodeId>{6}));
}

TEST(TorchTensorRTSchedule, MakesTwoSegmentsPerBranchWhereLevelsMakeThree) {
  for (unsigned branches : {1u, 2u, 10u, 1000u}) {
    ScheduleGraph graph;
    graph.accelerators = 1;
    for (unsigned branch = 0; branch < branches; ++branch) {
      NodeId first = add(graph, 0), second = add(graph, 1), third = add(graph, 0);
      graph.addEdge(first, second);
      graph.addEdge(second, third);
    }
    graph.seal();
    EXPECT_EQ(schedule(graph).segments.size(), 2 * branches + 1);
    EXPECT_EQ(scheduleByLevels(graph).segments.size(), 3u);
  }
}

TEST(TorchTensorRTSchedule, DependsOnTheOrderOfTowers) {
  for (auto [towers, runs, segments, accelerated] :
       {std::tuple(2u, 4u, 7u, 4u), {4u, 8u, 27u, 14u}, {8u, 8u, 51u, 26u}, {16u, 8u, 99u, 50u}}) {
    ScheduleGraph graph = makeTowers(towers, runs, false);
    EXPECT_EQ(schedule(graph).segments.size(), segments) << towers << " towers";
    EXPECT_EQ(schedule(graph).countOf(graph, true), accelerated) << towers << " towers";
    EXPECT_EQ(scheduleByLevels(graph).segments.size(), runs + 1);
  }
  EXPECT_EQ(schedule(makeTowers(8, 8, true)).segments.size(), 9u);
}

TEST(TorchTensorRTSchedule, KeepsSmallSegmentsByAccidentOfOrder) {
  // An accelerator node has no predecessors and is read last. If it is written before the host node, it joins the run
  // before that node.
  ScheduleGraph early = makeGraph({0, 0, 1, 0, 0, 0, 0}, {{0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {1, 6}});
  ScheduleGraph late = makeGraph({0, 1, 0, 0, 0, 0, 0}, {{0, 1}, {1, 3}, {3, 4}, {4, 5}, {5, 6}, {2, 6}});
  EXPECT_EQ(schedule(early, 5).accelerated(early), 0u);
  EXPECT_EQ(schedule(late, 5).accelerated(late), 5u);
  for (ScheduleGraph graph : {early, late}) {
    Schedule best = scheduleWithMinSize(graph, Strategy::Levels, 5);
    EXPECT_EQ(best.accelerated(graph), 5u);
  }
}

TEST(TorchTensorRTSchedule, IsAlwaysSound) {
  std::mt19937 random(31);
  for (unsigned round = 0; round < 4000; ++round) {
    RandomGraphOptions options;
    options.nodes = 1 + random() % 30;
    options.edges = 0.02 + 0.05 * (random() % 5);
    options.targets = 2 + random() % 3;
    options.isolated = round % 3 ? 0 : 0.2;
    options.neutral = round % 4 ? 0 : 0.2;
    ScheduleGraph graph = makeRandomGraph(random, options);
    if (round % 5 == 0)
      for (ScheduleNode &node : graph.nodes)
        node.isolatedOnHost |= random() % 8 == 0; // Control flow that may run on an accelerator.
    if (round % 7 == 0)
      graph.nodes[random() % graph.size()].pinned = true;
    int64_t minSize = 1 + random() % 5;
    ScheduleGraph demoted = graph;
    Schedule made = scheduleLikeTorchTensorRT(demoted, minSize);
    ASSERT_EQ(checkSchedule(graph, made), "") << "round " << round;
    for (const ScheduledSegment &segment : made.segments) {
      EXPECT_TRUE(std::is_sorted(segment.nodes.begin(), segment.nodes.end())) << "round " << round;
      bool isLarge = segment.nodes.size() >= static_cast<size_t>(minSize);
      bool isStuck = std::any_of(segment.nodes.begin(), segment.nodes.end(),
                                 [&](NodeId node) { return demoted.demoted(node, segment.target) == segment.target; });
      EXPECT_TRUE(!graph.isAccelerator(segment.target) || isLarge || isStuck);
    }
    if (minSize == 1 && options.targets == 2 && options.neutral == 0 && options.isolated == 0) {
      EXPECT_GE(made.segments.size(), scheduleByLevels(graph).lowerBound);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/LevelSchedule.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

/// Makes a graph of accelerator nodes (a), host nodes (h), isolated host nodes (s) and neutral nodes (n).
static ScheduleGraph makeGraph(const std::string &targets, std::vector<std::pair<NodeId, NodeId>> edges) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (char kind : targets) {
    ScheduleNode node;
    node.target = kind == 'a' || kind == 'n' ? 0 : 1;
    node.allowed = kind == 'h' ? 2 : 3;
    node.neutral = kind == 'n';
    node.isolatedOnHost = kind == 's';
    graph.add(node);
  }
  for (auto [before, after] : edges)
    graph.addEdge(before, after);
  graph.seal();
  return graph;
}

static std::string print(const Schedule &schedule) {
  std::string text;
  for (const ScheduledSegment &segment : schedule.segments) {
    text += text.empty() ? "" : " ";
    text += segment.isIsolated ? "isolated:" : segment.target == 0 ? "acc:" : "host:";
    for (size_t at = 0; at < segment.nodes.size(); ++at)
      text += (at ? "," : "") + std::to_string(segment.nodes[at]);
  }
  return text;
}

static const std::vector<std::pair<NodeId, NodeId>> kExampleEdges = {{1, 6}, {3, 6}, {4, 5}, {5, 6}, {0, 6}, {2, 6}};

TEST(LevelSchedule, MakesThreeSegmentsOfTheDocumentedExample) {
  ScheduleGraph graph = makeGraph("ahahaha", kExampleEdges);
  EXPECT_EQ(print(scheduleByLevels(graph)), "acc:0,2,4 host:1,3,5 acc:6");
  EXPECT_EQ(scheduleByLevels(graph).witness, (std::vector<NodeId>{4, 5, 6}));
}

TEST(LevelSchedule, MakesSevenSegmentsInOrder) {
  EXPECT_EQ(scheduleInOrder(makeGraph("ahahaha", kExampleEdges)).segments.size(), 7u);
}

TEST(LevelSchedule, StartsOnTheHostOnATie) { EXPECT_EQ(print(scheduleByLevels(makeGraph("ah", {}))), "host:1 acc:0"); }

TEST(LevelSchedule, HandlesAnEmptyGraph) { EXPECT_TRUE(scheduleByLevels(makeGraph("", {})).segments.empty()); }

TEST(LevelSchedule, NeutralNodeContinuesTheHostItReads) {
  EXPECT_EQ(print(scheduleByLevels(makeGraph("ahn", {{0, 1}, {1, 2}}))), "acc:0 host:1,2");
}

TEST(LevelSchedule, NeutralNodeJoinsTheAcceleratorItFeeds) {
  EXPECT_EQ(print(scheduleByLevels(makeGraph("hna", {{0, 1}, {1, 2}}))), "host:0 acc:1,2");
}

TEST(LevelSchedule, NeutralNodesAloneTakeTheirOwnTarget) {
  EXPECT_EQ(print(scheduleByLevels(makeGraph("nn", {{0, 1}}))), "acc:0,1");
}

TEST(LevelSchedule, NeutralNodeTakesOnlyTargetsItMayTake) {
  ScheduleGraph graph = makeGraph("hnh", {{0, 1}, {1, 2}});
  graph.nodes[1].allowed = 1;
  EXPECT_EQ(print(scheduleByLevels(graph)), "host:0 acc:1 host:2");
}

TEST(LevelSchedule, IsolatedNodesShareNoSegment) {
  EXPECT_EQ(print(scheduleByLevels(makeGraph("hshs", {{0, 1}, {2, 3}}))), "host:0,2 isolated:1 isolated:3");
}

TEST(LevelSchedule, StaysNearTheLowerBoundForThreeTargets) {
  std::mt19937 random(3);
  RandomGraphOptions options;
  options.nodes = 80;
  options.targets = 3;
  options.edges = 0.06;
  size_t segments = 0, bound = 0;
  for (unsigned round = 0; round < 100; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, options);
    Schedule schedule = scheduleByLevels(graph);
    segments += schedule.segments.size();
    bound += schedule.lowerBound;
  }
  EXPECT_LE(static_cast<double>(segments), 1.08 * static_cast<double>(bound));
}

TEST(LevelSchedule, DoesNotDependOnTheOrderOfNodes) {
  std::mt19937 random(7);
  RandomGraphOptions options;
  options.nodes = 60;
  options.edges = 0.05;
  for (unsigned round = 0; round < 200; ++round) {
    options.neutral = round % 2 ? 0.2 : 0;
    ScheduleGraph graph = makeRandomGraph(random, options);
    Schedule schedule = scheduleByLevels(graph), other = scheduleByLevels(reorder(graph, random));
    EXPECT_EQ(schedule.segments.size(), other.segments.size());
    EXPECT_EQ(schedule.countOf(graph, true), other.countOf(graph, true));
    EXPECT_EQ(schedule.accelerated(graph), other.accelerated(graph));
  }
}

TEST(LevelSchedule, ProvesItsCountByAPath) {
  std::mt19937 random(11);
  RandomGraphOptions options;
  options.nodes = 40;
  options.edges = 0.08;
  for (unsigned round = 0; round < 200; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, options);
    Schedule schedule = scheduleByLevels(graph);
    ASSERT_FALSE(schedule.witness.empty());
    unsigned runs = 1;
    for (size_t at = 1; at < schedule.witness.size(); ++at) {
      ScheduleGraph::Range preds = graph.preds(schedule.witness[at]);
      EXPECT_NE(std::find(preds.begin(), preds.end(), schedule.witness[at - 1]), preds.end());
      runs += graph.nodes[schedule.witness[at]].target != graph.nodes[schedule.witness[at - 1]].target;
    }
    // There may be one more segment if the longest paths start with both targets.
    EXPECT_GE(runs + 1, schedule.segments.size());
  }
}

TEST(LevelSchedule, SinksNodesToTheirFirstUser) {
  // Nodes 0 and 1 transpose weights. Node 4 alone reads the former; nodes 2 and 4 read the latter.
  ScheduleGraph graph = makeGraph("nnaha", {{0, 4}, {1, 2}, {1, 4}, {2, 3}, {3, 4}});
  graph.nodes[0].sinkable = graph.nodes[1].sinkable = true;
  BoundedPlacement placed = placeByLevels(graph);
  EXPECT_EQ(placed.placement.segment, (std::vector<uint32_t>{0, 0, 0, 1, 2}));
  Placement small = placed.placement;
  sinkToUsers(graph, placed.placement, 1);
  EXPECT_EQ(placed.placement.segment, (std::vector<uint32_t>{2, 0, 0, 1, 2}));
  sinkToUsers(graph, small, 3);
  EXPECT_EQ(small.segment, (std::vector<uint32_t>{0, 0, 0, 1, 2})) << "the first segment may not lose a node";
}

TEST(LevelSchedule, TakesLinearTimeOnBranchesThatDefeatTheGreedyWalk) {
  constexpr NodeId kBranches = 33'333;
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId branch = 0; branch < kBranches; ++branch) {
    for (TargetIndex target : {0, 1, 0}) {
      ScheduleNode node;
      node.target = target;
      node.allowed = target ? 2 : 3;
      graph.add(node);
    }
    graph.addEdge(3 * branch, 3 * branch + 1);
    graph.addEdge(3 * branch + 1, 3 * branch + 2);
  }
  graph.seal();
  EXPECT_EQ(scheduleInOrder(graph).segments.size(), 2 * kBranches + 1);
  EXPECT_EQ(scheduleByLevels(graph).segments.size(), 3u);
}

TEST(CheckSchedule, SaysWhatIsWrong) {
  ScheduleGraph graph = makeGraph("ahs", {{0, 1}});
  auto check = [&](std::vector<ScheduledSegment> segments) { return checkSchedule(graph, {segments, 0, {}}); };
  EXPECT_EQ(check({{0, false, {0}}, {1, false, {1}}, {1, true, {2}}}), "");
  EXPECT_EQ(check({{0, false, {0}}, {1, false, {1}}}), "node 2 is in no segment");
  EXPECT_EQ(check({{0, false, {0}}, {0, false, {0}}}), "node 0 is in two segments");
  EXPECT_EQ(check({{0, false, {0, 1}}}), "node 1 can't have target 0");
  EXPECT_EQ(check({{1, false, {1, 2}}}), "node 2 is isolated but shares a segment");
  EXPECT_EQ(check({{1, false, {1}}, {0, false, {0}}, {1, true, {2}}}), "node 1 runs before node 0");
}

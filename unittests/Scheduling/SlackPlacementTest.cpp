// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scheduling/SlackPlacement.h"
#include "inlay/Scheduling/MinSizeSchedule.h"

#include "ExactSchedule.h"
#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

static ScheduleGraph makeSizedGraph(std::mt19937 &random, const RandomGraphOptions &options) {
  ScheduleGraph graph = makeRandomGraph(random, options);
  for (ScheduleNode &node : graph.nodes)
    node.bytes = random() % 4 ? 1 + random() % 64 : 0;
  return graph;
}

/// Checks that edges keep the execution order and that every node keeps its target.
static void expectSound(const ScheduleGraph &graph, const Placement &before, const Placement &after) {
  ASSERT_EQ(before.targets, after.targets);
  for (NodeId node = 0; node < graph.size(); ++node) {
    ASSERT_LT(after.segment[node], after.targets.size());
    ASSERT_EQ(after.targets[after.segment[node]], before.targets[before.segment[node]]);
    for (NodeId pred : graph.preds(node))
      ASSERT_LE(after.segment[pred], after.segment[node]);
  }
}

TEST(SlackPlacement, MakesLargeValuesWhereTheyAreRead) {
  // Node 0 has a large result that only node 4 reads. The targets of nodes 1 to 4 alternate.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (TargetIndex target : {0, 0, 1, 1, 0}) {
    ScheduleNode node;
    node.target = target;
    node.bytes = graph.size() == 0 ? 100 : 1;
    graph.add(node);
  }
  for (auto [before, after] : {std::pair(0, 4), {1, 2}, {2, 3}, {3, 4}})
    graph.addEdge(before, after);
  graph.seal();
  Placement placement = placeByLevels(graph).placement, small = placement;
  EXPECT_EQ(countCarriedBytes(graph, placement.segment), 202u);
  placeWithSlack(graph, placement, 1);
  EXPECT_EQ(placement.segment, (std::vector<uint32_t>{2, 0, 1, 1, 2}));
  EXPECT_EQ(countCarriedBytes(graph, placement.segment), 2u);
  placeWithSlack(graph, small, 2);
  EXPECT_EQ(small.segment[0], 0u) << "the first segment may not lose a node";
}

TEST(SlackPlacement, CountsLargeValuesWithoutOverflow) {
  // A chain whose targets alternate. The node at its end also reads a node with a very large result and one with a
  // small result.
  constexpr NodeId kLength = 101;
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId at = 0; at < kLength + 2; ++at) {
    ScheduleNode node;
    node.target = at < kLength ? at % 2 : 0;
    node.bytes = at == kLength ? uint64_t(2) << 50 : 1;
    graph.add(node);
    if (at > 0 && at < kLength)
      graph.addEdge(at - 1, at);
  }
  NodeId end = graph.add({});
  for (NodeId before : {kLength - 1, kLength, kLength + 1})
    graph.addEdge(before, end);
  graph.seal();
  Placement placement = placeByLevels(graph).placement;
  placeWithSlack(graph, placement, 1);
  EXPECT_EQ(countCarriedBytes(graph, placement.segment), kLength - 1);
}

TEST(SlackPlacement, MovesChainsOfEqualSizes) {
  // The results of nodes 0 to 2 have the same size. None of these nodes gains anything if it moves alone to the segment
  // that reads node 2.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (TargetIndex target : {0, 0, 0, 0, 1, 0}) {
    ScheduleNode node;
    node.target = target;
    node.bytes = 8;
    graph.add(node);
  }
  for (auto [before, after] : {std::pair(0, 1), {1, 2}, {2, 5}, {3, 4}, {4, 5}})
    graph.addEdge(before, after);
  graph.seal();
  Placement placement = placeByLevels(graph).placement;
  placeWithSlack(graph, placement, 1);
  EXPECT_EQ(placement.segment, (std::vector<uint32_t>{2, 2, 2, 0, 1, 2}));
}

TEST(SlackPlacement, LeavesWhatItCantImprove) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 300; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, {});
    Placement placement = placeByLevels(graph).placement, same = placement;
    placeWithSlack(graph, same, 1);
    EXPECT_EQ(same.segment, placement.segment) << "nothing has a size";
  }
}

static void expectFewestBytes(RandomGraphOptions options) {
  std::mt19937 random(77);
  options.sized = true;
  for (unsigned round = 0; round < countRounds(1000); ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 11));
    Placement placement = placeByLevels(graph).placement, moved = placement;
    placeWithSlack(graph, moved, 0);
    expectSound(graph, placement, moved);
    uint64_t bytes = countCarriedBytes(graph, moved.segment);
    ASSERT_EQ(bytes, findFewestBytes(graph, placement)) << "round " << round;
    if (bytes == countCarriedBytes(graph, placement.segment)) {
      ASSERT_EQ(moved.segment, placement.segment) << "what saves nothing moves nothing";
    }
  }
}

TEST(SlackPlacement, IsExactOnSmallGraphs) { expectFewestBytes({}); }

TEST(SlackPlacement, IsExactWithNeutralNodesWhereTheyStand) {
  RandomGraphOptions options;
  options.neutral = 0.3;
  expectFewestBytes(options);
}

TEST(SlackPlacement, IsExactForThreeTargets) {
  RandomGraphOptions options;
  options.targets = 3;
  expectFewestBytes(options);
}

TEST(SlackPlacement, IsNearTheBestThatLeavesSegmentsLarge) {
  std::mt19937 random(78);
  RandomGraphOptions options;
  options.sized = true;
  unsigned rounds = countRounds(1000), exact = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 11));
    uint64_t minSize = 2 + round % 2;
    Schedule made = scheduleWithMinSize(graph, Strategy::Levels, static_cast<int64_t>(minSize));
    Placement placement{std::vector<uint32_t>(graph.size()), {}};
    for (const ScheduledSegment &segment : made.segments) {
      for (NodeId node : segment.nodes)
        placement.segment[node] = static_cast<uint32_t>(placement.targets.size());
      placement.targets.push_back(segment.target);
    }
    Placement moved = placement;
    placeWithSlack(graph, moved, minSize);
    expectSound(graph, placement, moved);
    std::vector<uint64_t> opCounts = moved.opCounts(graph);
    for (size_t at = 0; at < opCounts.size(); ++at) {
      EXPECT_TRUE(!graph.isAccelerator(moved.targets[at]) || opCounts[at] == 0 || opCounts[at] >= minSize);
    }
    uint64_t fewest = findFewestBytes(graph, placement, minSize), bytes = countCarriedBytes(graph, moved.segment);
    ASSERT_GE(bytes, fewest);
    exact += bytes == fewest;
  }
  EXPECT_GE(exact, rounds * 0.99);
}

TEST(SlackPlacement, DescentAndCutsOfSmallWindowsEndWhereTheCutDoes) {
  // Many copies of a graph are too large for one cut. Each copy alone is not.
  std::mt19937 random(79);
  RandomGraphOptions options;
  options.nodes = 400;
  options.shape = Shape::Layered;
  options.sized = true;
  ScheduleGraph graph = makeRandomGraph(random, options), many;
  many.accelerators = graph.accelerators;
  constexpr NodeId kCopies = 10;
  for (NodeId copy = 0; copy < kCopies; ++copy)
    for (NodeId node = 0; node < graph.size(); ++node) {
      many.add(graph.nodes[node]);
      for (NodeId pred : graph.preds(node))
        many.addEdge(copy * graph.size() + pred, copy * graph.size() + node);
    }
  many.seal();
  Placement single = placeByLevels(graph).placement, placement = placeByLevels(many).placement;
  uint64_t before = countCarriedBytes(many, placement.segment);
  placeWithSlack(graph, single, 0);
  placeWithSlack(many, placement, 0);
  EXPECT_LT(countCarriedBytes(many, placement.segment), before);
  EXPECT_EQ(countCarriedBytes(many, placement.segment), kCopies * countCarriedBytes(graph, single.segment));
}

TEST(SlackPlacement, NeverCostsSegmentsOrTargets) {
  std::mt19937 random(13);
  for (unsigned round = 0; round < 300; ++round) {
    RandomGraphOptions options;
    options.nodes = 10 + random() % 50;
    options.edges = 0.02 + 0.02 * (random() % 5);
    options.targets = 2 + random() % 2;
    options.isolated = round % 3 == 0 ? 0.2 : 0;
    options.neutral = round % 4 == 0 ? 0.2 : 0;
    ScheduleGraph sized = makeSizedGraph(random, options), plain = sized;
    sized.fewestBytes = true;
    int64_t minSize = 1 + random() % 4;
    ScheduleGraph original = sized;
    Schedule with = scheduleWithMinSize(sized, Strategy::Levels, minSize);
    Schedule without = scheduleWithMinSize(plain, Strategy::Levels, minSize);
    ASSERT_EQ(checkSchedule(original, with), "");
    EXPECT_LE(with.segments.size(), without.segments.size());
    EXPECT_GE(with.accelerated(original), without.accelerated(original));
    EXPECT_EQ(with.bytesCarried, countCarriedBytes(sized, with));
    EXPECT_EQ(with.bytesCarriedBefore, countCarriedBytes(sized, without));
    EXPECT_LE(with.bytesCarried, with.bytesCarriedBefore);
    for (const ScheduledSegment &segment : with.segments) {
      EXPECT_TRUE(!original.isAccelerator(segment.target) || segment.nodes.size() >= static_cast<size_t>(minSize));
    }
    Schedule other = scheduleWithMinSize(original, Strategy::Levels, minSize);
    EXPECT_EQ(other.bytesCarried, with.bytesCarried) << "the same twice";
  }
}

TEST(SlackPlacement, NodesAndEdgesMakeAGraphLarge) {
  ScheduleGraph graph;
  graph.nodes.resize(499'998);
  graph.addEdge(0, 1);
  graph.seal();
  EXPECT_FALSE(isLarge(graph));
  graph.nodes.emplace_back();
  EXPECT_TRUE(isLarge(graph));
}

TEST(SlackPlacement, LargeGraphsStartWhereFewerBytesAreCarried) {
  // Four segments suffice, whichever target comes first. If the accelerator does, a host node that the end of a chain
  // also reads runs just before this end, instead of three segments before it.
  constexpr NodeId kChains = 50'000;
  for (uint64_t bytes : {0, 1}) {
    ScheduleGraph graph;
    graph.accelerators = 1;
    graph.fewestBytes = true;
    auto add = [&](TargetIndex target, uint64_t size, std::initializer_list<NodeId> reads) {
      ScheduleNode node;
      node.target = target;
      node.bytes = size;
      NodeId added = graph.add(node);
      for (NodeId before : reads)
        graph.addEdge(before, added);
      return added;
    };
    for (NodeId chain = 0; chain < kChains; ++chain) {
      add(1, 1, {add(0, 1, {add(1, 1, {})})});
      NodeId value = add(1, bytes, {});
      add(0, 1, {value, add(1, 1, {add(0, 1, {})})});
    }
    graph.seal();
    ASSERT_TRUE(isLarge(graph));
    Schedule schedule = scheduleWithMinSize(graph, Strategy::Levels, 1);
    EXPECT_EQ(schedule.segments.size(), 4u);
    EXPECT_EQ(schedule.segments.front().target, bytes == 0 ? 1 : 0);
  }
}

TEST(SlackPlacement, TakesLinearTimeOnAHub) {
  // Very many nodes read one value, and each of them can move.
  constexpr NodeId kReaders = 200'000;
  ScheduleGraph graph;
  graph.accelerators = 1;
  auto add = [&](TargetIndex target) {
    ScheduleNode node;
    node.target = target;
    node.bytes = 4;
    return graph.add(node);
  };
  NodeId previous = add(0);
  for (unsigned at = 1; at < 41; ++at) {
    NodeId next = add(at % 2);
    graph.addEdge(previous, next);
    previous = next;
  }
  for (NodeId reader = 0; reader < kReaders; ++reader)
    graph.addEdge(0, add(0));
  graph.seal();
  Placement placement = placeByLevels(graph).placement;
  placeWithSlack(graph, placement, 1);
  EXPECT_EQ(countCarriedBytes(graph, placement.segment), 160u);
}

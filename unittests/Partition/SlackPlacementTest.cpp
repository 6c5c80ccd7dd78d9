// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/SlackPlacement.h"
#include "inlay/Partition/MinBlockSize.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

static ScheduleGraph makeSizedGraph(std::mt19937 &random, const RandomGraphOptions &options) {
  ScheduleGraph graph = makeRandomGraph(random, options);
  for (ScheduleNode &node : graph.nodes)
    node.bytes = random() % 4 ? 1 + random() % 64 : 0;
  return graph;
}

/// The fewest bytes that any assignment of the nodes to the placement's segments, each of its colour, carries.
static uint64_t findFewestBytes(const ScheduleGraph &graph, const Placement &placement) {
  std::vector<uint32_t> segment(graph.size());
  uint64_t fewest = ~uint64_t(0);
  std::function<void(NodeId)> assign = [&](NodeId node) {
    if (node == graph.size()) {
      fewest = std::min(fewest, countCarriedBytes(graph, segment));
      return;
    }
    uint32_t first = 0;
    for (NodeId pred : graph.preds(node))
      first = std::max(first, segment[pred]);
    for (uint32_t at = first; at < placement.colours.size(); ++at)
      if (placement.colours[at] == placement.colours[placement.segment[node]]) {
        segment[node] = at;
        assign(node + 1);
      }
  };
  assign(0);
  return fewest;
}

/// Edges keep the order and every node keeps its colour.
static void expectSound(const ScheduleGraph &graph, const Placement &before, const Placement &after) {
  ASSERT_EQ(before.colours, after.colours);
  for (NodeId node = 0; node < graph.size(); ++node) {
    ASSERT_LT(after.segment[node], after.colours.size());
    ASSERT_EQ(after.colours[after.segment[node]], before.colours[before.segment[node]]);
    for (NodeId pred : graph.preds(node))
      ASSERT_LE(after.segment[pred], after.segment[node]);
  }
}

TEST(SlackPlacement, MakesLargeValuesWhereTheyAreRead) {
  // 0 makes much and is read by 4 alone; 1-2-3-4 alternate.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (Colour colour : {0, 0, 1, 1, 0}) {
    ScheduleNode node;
    node.colour = colour;
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

TEST(SlackPlacement, MovesChainsOfEqualSizes) {
  // 0-1-2 make equally much; no node of them gains alone by going to where 2 is read.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (Colour colour : {0, 0, 0, 0, 1, 0}) {
    ScheduleNode node;
    node.colour = colour;
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

/// How many of the graphs end at the exact answer.
static unsigned compareWithBruteForce(RandomGraphOptions options, unsigned graphs) {
  std::mt19937 random(77);
  unsigned exact = 0;
  for (unsigned round = 0; round < graphs; ++round) {
    options.nodes = 4 + random() % 7;
    options.edges = 0.12 + 0.06 * (random() % 4);
    ScheduleGraph graph = makeSizedGraph(random, options);
    Placement placement = placeByLevels(graph).placement, moved = placement;
    placeWithSlack(graph, moved, 0);
    expectSound(graph, placement, moved);
    uint64_t fewest = findFewestBytes(graph, placement), bytes = countCarriedBytes(graph, moved.segment);
    EXPECT_LE(bytes, countCarriedBytes(graph, placement.segment));
    EXPECT_GE(bytes, fewest);
    exact += bytes == fewest;
  }
  return exact;
}

TEST(SlackPlacement, IsMostlyExactOnSmallGraphs) { EXPECT_GE(compareWithBruteForce({}, 1500), 1485u); }

TEST(SlackPlacement, IsMostlyExactForThreeColours) {
  RandomGraphOptions options;
  options.colours = 3;
  EXPECT_GE(compareWithBruteForce(options, 1500), 1485u);
}

TEST(SlackPlacement, NeverCostsSegmentsOrColours) {
  std::mt19937 random(13);
  for (unsigned round = 0; round < 600; ++round) {
    RandomGraphOptions options;
    options.nodes = 10 + random() % 50;
    options.edges = 0.02 + 0.02 * (random() % 5);
    options.colours = 2 + random() % 2;
    options.own = round % 3 == 0 ? 0.2 : 0;
    options.neutral = round % 4 == 0 ? 0.2 : 0;
    ScheduleGraph sized = makeSizedGraph(random, options), plain = sized;
    sized.fewestBytes = true;
    int64_t least = 1 + random() % 4;
    ScheduleGraph original = sized;
    Schedule with = scheduleWithLeastSize(sized, Strategy::Levels, least);
    Schedule without = scheduleWithLeastSize(plain, Strategy::Levels, least);
    ASSERT_EQ(checkSchedule(original, with), "");
    EXPECT_LE(with.segments.size(), without.segments.size());
    EXPECT_EQ(with.accelerated(original), without.accelerated(original));
    EXPECT_EQ(with.bytesCarried, countCarriedBytes(sized, with));
    EXPECT_EQ(with.bytesCarriedBefore, countCarriedBytes(sized, without));
    EXPECT_LE(with.bytesCarried, with.bytesCarriedBefore);
    for (const ScheduledSegment &segment : with.segments) {
      EXPECT_TRUE(!original.isAccelerator(segment.colour) || segment.nodes.size() >= static_cast<size_t>(least));
    }
    Schedule other = scheduleWithLeastSize(original, Strategy::Levels, least);
    EXPECT_EQ(other.bytesCarried, with.bytesCarried) << "the same twice";
  }
}

TEST(SlackPlacement, TakesLinearTimeOnAHub) {
  // One value that very many nodes read, each with room to move.
  constexpr NodeId kReaders = 200'000;
  ScheduleGraph graph;
  graph.accelerators = 1;
  auto add = [&](Colour colour) {
    ScheduleNode node;
    node.colour = colour;
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

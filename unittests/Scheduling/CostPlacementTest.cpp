// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/CostPlacement.h"
#include "inlay/Scheduling/LevelSchedule.h"
#include "inlay/Scheduling/MinSizeSchedule.h"

#include "RandomGraph.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

using namespace inlay;
using namespace inlay::testing;

using Placed = std::vector<TargetIndex>;

namespace {
/// A random graph with costs. The last target is the host, to which transfers are free.
struct Costed {
  ScheduleGraph graph;
  std::unique_ptr<CostGraph> costs;
  unsigned targets;
};
} // namespace

/// Makes a graph whose nodes may take any target, except for some that may only take the host or their own target.
static Costed makeCosted(std::mt19937 &random, unsigned nodes, unsigned targets, double launch, double edges) {
  std::uniform_real_distribution<> chance(0, 1);
  Costed result;
  result.targets = targets;
  result.graph = makeRandomGraph(random, {nodes, targets, edges, 0.1, 0});
  TargetSet all = (TargetSet(1) << targets) - 1;
  for (ScheduleNode &node : result.graph.nodes) {
    bool onlyHost = node.target + 1u == targets && random() % 2;
    node.allowed = onlyHost ? TargetSet(1) << node.target : all;
    node.pinned = random() % 16 == 0;
    node.neutral &= !node.pinned;
  }
  std::vector<TargetOverheads> costs(targets);
  for (unsigned target = 0; target < targets; ++target) {
    bool isHost = target + 1 == targets;
    costs[target].launchSeconds = launch * (isHost ? 0.1 : 0.5 + chance(random));
    if (!isHost)
      costs[target].in = costs[target].out = {1 + chance(random), 0.2 * chance(random)};
  }
  result.costs = std::make_unique<CostGraph>(result.graph, costs);
  for (NodeId node = 0; node < nodes; ++node) {
    double work = std::exp(3 * chance(random)) / 4;
    for (unsigned target = 0; target < targets; ++target)
      result.costs->setCompute(node, static_cast<TargetIndex>(target),
                               work * (target + 1 == targets ? 1 : 0.2 + 0.6 * chance(random)));
    const ScheduleGraph::Range readers = result.graph.succs(node);
    result.costs->addValue(node, chance(random), readers.empty() || random() % 8 == 0,
                           std::vector<NodeId>(readers.begin(), readers.end()));
  }
  for (NodeId reader = 0; reader < nodes; ++reader)
    if (result.graph.preds(reader).empty())
      result.costs->addValue(CostGraph::kOutside, chance(random), false, {reader});
  return result;
}

/// Calls `visit` with every placement whose targets are allowed.
static void forEachPlacement(const CostGraph &costs, unsigned targets,
                             const std::function<void(const Placed &)> &visit) {
  Placed placed(costs.graph.size());
  std::function<void(NodeId)> assign = [&](NodeId node) {
    if (node == placed.size())
      return visit(placed);
    for (TargetIndex target = 0; target < targets; ++target)
      if (costs.getAllowed(node) >> target & 1) {
        placed[node] = target;
        assign(node + 1);
      }
  };
  assign(0);
}

static double findOptimum(const CostGraph &costs, unsigned targets) {
  double fastest = std::numeric_limits<double>::infinity();
  forEachPlacement(costs, targets, [&](const Placed &placed) {
    if (costs.countCompute(placed) < fastest) // The other costs only add to this one.
      fastest = std::min(fastest, costs.estimate(placed));
  });
  return fastest;
}

/// Returns the targets that a schedule gives the nodes.
static Placed toPlaced(const ScheduleGraph &graph, const Schedule &schedule) {
  Placed placed(graph.size());
  for (const ScheduledSegment &segment : schedule.segments)
    for (NodeId node : segment.nodes)
      placed[node] = segment.target;
  return placed;
}

static std::vector<Placed> makeCandidates(const ScheduleGraph &graph) {
  ScheduleGraph demoted = graph;
  return {toPlaced(graph, scheduleByLevels(graph)), placeOnHost(graph),
          toPlaced(graph, scheduleWithMinSize(demoted, Strategy::Levels, 3))};
}

TEST(CostPlacement, IsWithinOnePercentOfTheOptimumOnAverage) {
  for (double launch : {0.3, 1.0, 3.0}) {
    std::mt19937 random(7);
    double sum = 0, bound = 0;
    int optimal = 0, rounds = 300;
    for (int round = 0; round < rounds; ++round) {
      Costed costed = makeCosted(random, 4 + random() % 11, 2, launch, 0.25);
      CostedPlacement placed = placeByCost(*costed.costs, {});
      double optimum = findOptimum(*costed.costs, 2);
      ASSERT_GE(placed.seconds, optimum - 1e-9) << "round " << round;
      ASSERT_LE(placed.lowerBound, optimum + 1e-9) << "round " << round;
      ASSERT_NEAR(placed.seconds, costed.costs->estimate(placed.targets), 1e-9);
      sum += placed.seconds / optimum;
      bound += placed.lowerBound / optimum;
      optimal += placed.seconds <= optimum + 1e-9;
    }
    EXPECT_LE(sum / rounds, 1.01) << "launch " << launch;
    EXPECT_GE(optimal, rounds * 9 / 10) << "launch " << launch;
    std::printf("launch %.1f: mean ratio %.5f, optimal %d of %d, lower bound %.3f of the optimum\n", launch,
                sum / rounds, optimal, rounds, bound / rounds);
  }
}

TEST(CostPlacement, CutsAreExactWithoutLaunches) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Costed costed = makeCosted(random, 2 + random() % 11, 2, 0, 0.3);
    CostedPlacement placed = placeByCost(*costed.costs, {});
    ASSERT_NEAR(placed.seconds, findOptimum(*costed.costs, 2), 1e-6) << "round " << round;
    ASSERT_NEAR(placed.seconds, placed.lowerBound, 1e-6) << "round " << round;
  }
}

TEST(CostPlacement, MoreTargetsAreNeverWorseThanAnyCandidate) {
  for (unsigned targets : {3u, 4u}) {
    std::mt19937 random(13);
    double sum = 0;
    int rounds = 100;
    for (int round = 0; round < rounds; ++round) {
      Costed costed = makeCosted(random, 2 + random() % (targets == 3 ? 8 : 6), targets, 0.5, 0.25);
      std::vector<Placed> candidates = makeCandidates(costed.graph);
      CostedPlacement placed = placeByCost(*costed.costs, candidates);
      double optimum = findOptimum(*costed.costs, targets);
      ASSERT_LE(placed.lowerBound, optimum + 1e-9);
      ASSERT_GE(placed.seconds, optimum - 1e-9);
      for (const Placed &candidate : candidates)
        ASSERT_LE(placed.seconds, costed.costs->estimate(candidate));
      sum += placed.seconds / optimum;
    }
    EXPECT_LE(sum / rounds, 1.01) << targets << " targets";
    std::printf("%u targets: mean ratio %.5f\n", targets, sum / rounds);
  }
}

TEST(CostPlacement, IsNeverWorseThanAllAcceleratorAllHostOrMinSize) {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    unsigned targets = 2 + random() % 3;
    Costed costed = makeCosted(random, random() % 50, targets, 0.1 * double(random() % 40), 0.06);
    std::vector<Placed> candidates = makeCandidates(costed.graph);
    CostedPlacement placed = placeByCost(*costed.costs, candidates);
    ASSERT_EQ(placed.candidates.size(), candidates.size());
    ASSERT_LE(placed.lowerBound, placed.seconds);
    for (size_t number = 0; number < candidates.size(); ++number) {
      ASSERT_EQ(placed.candidates[number], costed.costs->estimate(candidates[number]));
      ASSERT_LE(placed.seconds, placed.candidates[number]) << "round " << round << " candidate " << number;
    }
    for (NodeId node = 0; node < costed.graph.size(); ++node)
      ASSERT_TRUE(costed.costs->getAllowed(node) >> placed.targets[node] & 1) << "node " << node;
  }
}

/// The sums of graphs that are too large to try all placements. A change that makes placements slower or bounds looser
/// shows up here. Adapt the numbers if a change improves them.
TEST(CostPlacement, PlacesLargerGraphsAsWellAsBefore) {
  struct Sums {
    unsigned targets;
    double seconds, bound;
  };
  for (Sums expected : {Sums{2, 954.7092, 935.9741}, Sums{3, 950.5725, 612.6444}, Sums{4, 871.3285, 502.6983}}) {
    std::mt19937 random(37);
    double seconds = 0, bound = 0;
    for (int round = 0; round < 15; ++round) {
      Costed costed = makeCosted(random, 20 + random() % 60, expected.targets, 0.1 * (1 + round), 0.05);
      CostedPlacement placed = placeByCost(*costed.costs, {});
      seconds += placed.seconds;
      bound += placed.lowerBound;
    }
    EXPECT_NEAR(seconds, expected.seconds, 1e-4) << expected.targets << " targets";
    EXPECT_NEAR(bound, expected.bound, 1e-4) << expected.targets << " targets";
  }
}

TEST(CostPlacement, ShipsAValueOnceForAllItsReaders) {
  // The host makes a value that two nodes of the accelerator read. Two nodes of the host read the result of one of
  // these.
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (TargetIndex target : {1, 0, 0, 1, 1}) {
    ScheduleNode node;
    node.target = target;
    graph.add(node);
  }
  for (auto [before, after] : {std::pair(0, 1), {0, 2}, {1, 3}, {1, 4}})
    graph.addEdge(before, after);
  graph.seal();
  CostGraph costs(graph, {{0, {1, 10}, {1, 100}}, {}});
  costs.addValue(0, 1, false, {1, 2});
  costs.addValue(1, 2, true, {3, 4});
  costs.addValue(CostGraph::kOutside, 3, false, {1, 2});
  EXPECT_EQ(costs.countTransfers({1, 0, 0, 1, 1}), (10 + 1) + (100 + 2) + (10 + 3));
  EXPECT_EQ(costs.countTransfers({1, 1, 1, 1, 1}), 0);
}

TEST(CostPlacement, TheLowerBoundHasNoTargetThatNoNodeMayTake) {
  ScheduleGraph graph;
  graph.accelerators = 3;
  ScheduleNode node;
  node.target = 1;
  node.allowed = 0b110;
  graph.add(node);
  graph.seal();
  CostGraph costs(graph, {{1, {}, {}}, {5, {}, {}}, {7, {}, {}}});
  costs.setCompute(0, 1, 2);
  costs.setCompute(0, 2, 3);
  CostedPlacement placed = placeByCost(costs, {});
  EXPECT_EQ(placed.targets, Placed{1});
  EXPECT_DOUBLE_EQ(placed.lowerBound, 2 + 5);
}

TEST(CostPlacement, TransfersMayOutweighComputeByFar) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (TargetIndex target : {1, 0}) {
    ScheduleNode node;
    node.target = target;
    node.allowed = target ? 2 : 3;
    graph.add(node);
  }
  graph.addEdge(0, 1);
  graph.seal();
  CostGraph costs(graph, {{0, {1000, 0}, {1000, 0}}, {}});
  costs.setCompute(0, 1, 1e-9);
  costs.setCompute(1, 1, 1e-9);
  costs.addValue(0, 1, false, {1});
  CostedPlacement placed = placeByCost(costs, {});
  EXPECT_EQ(placed.targets, (Placed{1, 1}));
  EXPECT_DOUBLE_EQ(placed.seconds, 2e-9);
  EXPECT_NEAR(placed.lowerBound, 2e-9, 1e-13);
}

TEST(CostPlacement, ANodeKeepsItsTargetOnATie) {
  ScheduleGraph graph;
  graph.accelerators = 1;
  graph.add({});
  graph.nodes[0].allowed = 3;
  graph.seal();
  EXPECT_EQ(placeByCost(CostGraph(graph, {{}, {}}), {}).targets, Placed{0});
}

TEST(CostPlacement, TheHostMayBeTheFirstTarget) {
  ScheduleGraph graph;
  graph.accelerators = 2;
  ScheduleNode node;
  node.target = 1;
  node.allowed = 3;
  graph.add(node);
  graph.seal();
  EXPECT_EQ(placeOnHost(graph), Placed{0});
}

TEST(CostPlacement, TakesAMillionNodes) {
  std::mt19937 random(19);
  std::uniform_real_distribution<> chance(0, 1);
  constexpr NodeId kNodes = 1'000'000;
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId node = 0; node < kNodes; ++node) {
    ScheduleNode info;
    info.target = random() % 4 == 0;
    info.allowed = info.target ? 2 : 3;
    graph.add(info);
    for (int edge = 0; edge < 2 && node > 0; ++edge)
      graph.addEdge(node - 1 - random() % std::min(node, 100u), node);
  }
  graph.seal();
  CostGraph costs(graph, {{1, {10, 0.01}, {10, 0.01}}, {0.01, {}, {}}});
  for (NodeId node = 0; node < kNodes; ++node) {
    costs.setCompute(node, 0, 0.1 * chance(random));
    costs.setCompute(node, 1, chance(random));
    costs.addValue(node, chance(random), graph.succs(node).empty(),
                   std::vector<NodeId>(graph.succs(node).begin(), graph.succs(node).end()));
  }
  auto start = std::chrono::steady_clock::now();
  CostedPlacement placed = placeByCost(costs, {toPlaced(graph, scheduleByLevels(graph)), placeOnHost(graph)});
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LE(placed.seconds, placed.candidates[0]);
  EXPECT_LE(placed.seconds, placed.candidates[1]);
  std::printf("a million nodes: %.2f s; all accelerator %.0f, all host %.0f, chosen %.0f, bound %.0f\n", took.count(),
              placed.candidates[0], placed.candidates[1], placed.seconds, placed.lowerBound);
}

TEST(CostPlacement, WalksDeepChains) {
  constexpr NodeId kNodes = 100'000;
  ScheduleGraph graph;
  graph.accelerators = 1;
  for (NodeId node = 0; node < kNodes; ++node) {
    ScheduleNode info;
    info.target = node % 2;
    info.allowed = info.target ? 2 : 3;
    graph.add(info);
    if (node > 0)
      graph.addEdge(node - 1, node);
  }
  graph.seal();
  CostGraph costs(graph, {{1, {10, 0.1}, {10, 0.1}}, {1, {}, {}}});
  for (NodeId node = 0; node < kNodes; ++node) {
    costs.setCompute(node, 0, 1);
    costs.setCompute(node, 1, 2);
    costs.addValue(node, 1, node + 1 == kNodes,
                   node + 1 == kNodes ? std::vector<NodeId>() : std::vector<NodeId>{node + 1});
  }
  CostedPlacement placed = placeByCost(costs, {toPlaced(graph, scheduleByLevels(graph)), placeOnHost(graph)});
  EXPECT_EQ(placed.targets, placeOnHost(graph)) << "no node is worth its launch";
  EXPECT_DOUBLE_EQ(placed.seconds, 2.0 * kNodes + 1);
}

TEST(CostPlacement, TakesNoNodesAndNoValues) {
  ScheduleGraph graph;
  graph.seal();
  CostedPlacement placed = placeByCost(CostGraph(graph, {{}, {}}), {{}});
  EXPECT_EQ(placed.seconds, 0);
  EXPECT_EQ(placed.lowerBound, 0);
}

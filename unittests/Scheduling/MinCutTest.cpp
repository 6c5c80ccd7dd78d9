// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scheduling/MinCut.h"

#include <gtest/gtest.h>

#include <random>

using namespace inlay;

namespace {
struct Edge {
  uint32_t from, to;
  int64_t capacity, reverse;
};

/// A graph to cut. It is kept so that every cut can be tried.
struct Graph {
  std::vector<std::pair<int64_t, int64_t>> terminals; ///< Capacities cut on the sink's side and on the source's side.
  std::vector<Edge> edges;

  int64_t cut(uint32_t sources) const {
    int64_t sum = 0;
    for (size_t node = 0; node < terminals.size(); ++node)
      sum += sources >> node & 1 ? terminals[node].second : terminals[node].first;
    for (const Edge &edge : edges)
      if (bool from = sources >> edge.from & 1, to = sources >> edge.to & 1; from != to)
        sum += from ? edge.capacity : edge.reverse;
    return sum;
  }

  MinCut build() const {
    MinCut result;
    for (auto [ifSink, ifSource] : terminals)
      result.addTerminals(result.addNode(), ifSink, ifSource);
    for (const Edge &edge : edges)
      result.addEdge(edge.from, edge.to, edge.capacity, edge.reverse);
    return result;
  }
};
} // namespace

TEST(MinCut, IsTheSmallestOfAllCutsWithTheFewestSources) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    Graph graph;
    uint32_t nodes = 1 + random() % 10;
    for (uint32_t node = 0; node < nodes; ++node)
      graph.terminals.emplace_back(random() % 3 ? random() % 20 : 0, random() % 3 ? random() % 20 : 0);
    for (uint32_t edge = random() % (3 * nodes); edge-- > 0;)
      graph.edges.push_back({uint32_t(random() % nodes), uint32_t(random() % nodes), int64_t(random() % 15),
                             random() % 2 ? int64_t(random() % 15) : 0});
    int64_t smallest = std::numeric_limits<int64_t>::max();
    uint32_t common = 0; // The sources of all smallest cuts.
    for (uint32_t sources = 0; sources < 1u << nodes; ++sources) {
      if (int64_t sum = graph.cut(sources); sum < smallest) {
        smallest = sum;
        common = sources;
      } else if (sum == smallest) {
        common &= sources;
      }
    }
    MinCut cut = graph.build();
    ASSERT_EQ(cut.solve(), smallest) << "round " << round;
    uint32_t found = 0;
    for (uint32_t node = 0; node < nodes; ++node)
      found |= uint32_t(cut.isSource(node)) << node;
    ASSERT_EQ(found, common) << "round " << round;
  }
}

TEST(MinCut, GivesUpWhenTheBudgetIsSpent) {
  Graph graph;
  for (uint32_t node = 0; node < 20; ++node) {
    graph.terminals.emplace_back(node < 10 ? 5 : 0, node < 10 ? 0 : 5);
    if (node >= 10)
      graph.edges.push_back({node - 10, node, 3, 0});
  }
  uint64_t budget = 10;
  EXPECT_EQ(graph.build().solve(budget), std::nullopt);
  EXPECT_EQ(budget, 0u);
  budget = 1000;
  EXPECT_EQ(graph.build().solve(budget), 30);
  EXPECT_GT(budget, 0u);
  EXPECT_LT(budget, 1000u);
}

/// The steps decide when a budget is spent. They show whether paths stay short.
TEST(MinCut, TakesFewStepsOnGrids) {
  constexpr uint32_t kWidth = 30;
  std::mt19937 random(2);
  MinCut cut;
  for (uint32_t node = 0; node < kWidth * kWidth; ++node) {
    int64_t balance = int64_t(random() % 41) - 20;
    cut.addTerminals(cut.addNode(), std::max<int64_t>(balance, 0), std::max<int64_t>(-balance, 0));
  }
  for (uint32_t node = 0; node < kWidth * kWidth; ++node)
    for (uint32_t next : {node + 1, node + kWidth})
      if (next < kWidth * kWidth && (next == node + kWidth || next % kWidth != 0))
        cut.addEdge(node, next, random() % 12, random() % 12);
  uint64_t budget = 1'000'000;
  EXPECT_EQ(cut.solve(budget), 3101);
  EXPECT_EQ(1'000'000 - budget, 12693u);
}

TEST(MinCut, AddsTerminalsUp) {
  MinCut cut;
  MinCut::Node node = cut.addNode();
  cut.addTerminals(node, 3, 1);
  cut.addTerminals(node, 0, 4);
  EXPECT_EQ(cut.solve(), 3);
  EXPECT_FALSE(cut.isSource(node));
}

TEST(MinCut, WalksDeepChainsAndWideFansWithoutRecursion) {
  constexpr uint32_t kLength = 1'000'000;
  MinCut chain;
  for (uint32_t node = 0; node < kLength; ++node)
    chain.addNode();
  chain.addTerminals(0, MinCut::kInfinite, 0);
  chain.addTerminals(kLength - 1, 0, MinCut::kInfinite);
  for (uint32_t node = 1; node < kLength; ++node)
    chain.addEdge(node - 1, node, node == kLength / 2 ? 5 : 6, 6);
  EXPECT_EQ(chain.solve(), 5);
  EXPECT_TRUE(chain.isSource(kLength / 2 - 1));
  EXPECT_FALSE(chain.isSource(kLength / 2));

  MinCut fan;
  for (uint32_t node = 0; node < kLength; ++node)
    fan.addTerminals(fan.addNode(), node == 0 ? MinCut::kInfinite : 0, node == 0 ? 0 : 1);
  for (uint32_t node = 1; node < kLength; ++node)
    fan.addEdge(0, node, 2);
  EXPECT_EQ(fan.solve(), kLength - 1);
}

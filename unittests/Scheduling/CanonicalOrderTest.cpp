// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scheduling/CanonicalOrder.h"

#include "ScheduleProperties.h"

#include <gtest/gtest.h>

using namespace inlay;
using namespace inlay::testing;

/// Returns a text that describes the whole graph.
static std::string print(const ScheduleGraph &graph) {
  std::string text;
  for (NodeId node = 0; node < graph.size(); ++node) {
    const ScheduleNode &info = graph.nodes[node];
    text += std::to_string(info.target) + (info.neutral ? "n" : "") + (info.isolatedOnHost ? "o" : "") + ":" +
            std::to_string(info.bytes) + "(";
    for (NodeId pred : graph.preds(node))
      text += std::to_string(pred) + ",";
    text += ") ";
  }
  return text;
}

TEST(CanonicalOrder, GivesOneGraphForAllWaysToWriteIt) {
  std::mt19937 random(17);
  RandomGraphOptions options;
  unsigned rounds = countRounds(500), same = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    options.sized = round % 2;
    options.neutral = options.isolated = round % 3 ? 0 : 0.2;
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, options, 40));
    ScheduleGraph other = reorder(graph, random);
    same += print(graph.reordered(orderCanonically(graph))) == print(other.reordered(orderCanonically(other)));
  }
  EXPECT_GE(same, rounds * 0.99) << "only graphs with much symmetry may differ";
}

TEST(CanonicalOrder, IsTopologicalAndComplete) {
  std::mt19937 random(18);
  for (unsigned round = 0; round < 200; ++round) {
    ScheduleGraph graph = makeRandomGraph(random, varyOptions(random, round, {}, 40));
    std::vector<bool> seen(graph.size());
    for (NodeId node : orderCanonically(graph)) {
      ASSERT_FALSE(seen[node]);
      for (NodeId pred : graph.preds(node))
        ASSERT_TRUE(seen[pred]);
      seen[node] = true;
    }
    ASSERT_EQ(std::count(seen.begin(), seen.end(), true), graph.size());
  }
}

TEST(CanonicalOrder, KeepsTwinsTogether) {
  // Equal towers whose nodes are written in turn. Each tower must get consecutive numbers.
  constexpr NodeId kTowers = 5, kHeight = 7;
  ScheduleGraph graph;
  for (NodeId node = 0; node < kTowers * kHeight; ++node)
    graph.add({});
  for (NodeId node = kTowers; node < kTowers * kHeight; ++node)
    graph.addEdge(node - kTowers, node);
  graph.seal();
  std::vector<NodeId> order = orderCanonically(graph);
  for (NodeId at = 0; at < graph.size(); ++at)
    EXPECT_EQ(order[at] % kTowers, order[at / kHeight * kHeight] % kTowers);
}

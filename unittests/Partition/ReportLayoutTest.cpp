// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Partition/Report/ReportLayout.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace inlay;

static bool overlap(const LayoutBox &a, const LayoutBox &b) {
  return a.at.x < b.at.x + b.width && b.at.x < a.at.x + a.width && a.at.y < b.at.y + b.height &&
         b.at.y < a.at.y + a.height;
}

/// Returns true if the vertical or horizontal line between two corners crosses the inside of the box.
static bool crosses(const LayoutPoint &a, const LayoutPoint &b, const LayoutBox &box) {
  return std::max(a.x, b.x) > box.at.x && std::min(a.x, b.x) < box.at.x + box.width && std::max(a.y, b.y) > box.at.y &&
         std::min(a.y, b.y) < box.at.y + box.height;
}

static GraphLayout makeRandom(unsigned seed) {
  std::mt19937 random(seed);
  uint32_t count = 1 + random() % 40;
  std::vector<LayoutBox> boxes;
  for (uint32_t i = 0; i < count; ++i)
    boxes.push_back({50.0 + random() % 200, 30.0 + random() % 100, {}});
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t i = 0; i < 2 * count; ++i) {
    uint32_t a = random() % count, b = random() % count;
    if (a != b)
      pairs.insert({std::min(a, b), std::max(a, b)});
  }
  std::vector<LayoutEdge> edges;
  for (auto [from, to] : pairs)
    edges.push_back({from, to, {}});
  return layOutGraph(boxes, edges);
}

TEST(ReportLayout, boxes_keep_apart_and_below_what_they_depend_on) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    GraphLayout layout = makeRandom(seed);
    for (size_t i = 0; i < layout.boxes.size(); ++i) {
      const LayoutBox &box = layout.boxes[i];
      EXPECT_GE(box.at.x, 0);
      EXPECT_LE(box.at.x + box.width, layout.width + 1e-9);
      EXPECT_LE(box.at.y + box.height, layout.height + 1e-9);
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(overlap(box, layout.boxes[j])) << "seed " << seed;
    }
    for (const LayoutEdge &edge : layout.edges)
      EXPECT_LT(layout.boxes[edge.from].at.y + layout.boxes[edge.from].height, layout.boxes[edge.to].at.y);
  }
}

TEST(ReportLayout, ways_touch_their_boxes_and_cross_none) {
  size_t lanes = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    GraphLayout layout = makeRandom(seed);
    for (const LayoutEdge &edge : layout.edges) {
      if (edge.way.empty())
        continue;
      const LayoutBox &from = layout.boxes[edge.from], &to = layout.boxes[edge.to];
      EXPECT_DOUBLE_EQ(edge.way.front().y, from.at.y + from.height);
      EXPECT_DOUBLE_EQ(edge.way.back().y, to.at.y);
      lanes += edge.way.size() == 6;
      // Checks horizontal and vertical parts. The last part of a short path is between two layers.
      size_t corners = edge.way.size() == 6 ? 6 : 2;
      for (size_t at = 1; at < corners; ++at)
        for (const LayoutBox &box : layout.boxes)
          EXPECT_FALSE(crosses(edge.way[at - 1], edge.way[at], box)) << "seed " << seed;
    }
  }
  EXPECT_GT(lanes, 100u);
}

TEST(ReportLayout, a_chain_is_a_column_and_a_way_past_it_has_a_lane) {
  std::vector<LayoutBox> boxes(3, {100, 40, {}});
  GraphLayout layout = layOutGraph(boxes, {{0, 1, {}}, {1, 2, {}}, {0, 2, {}}});
  EXPECT_EQ(layout.boxes[0].at.x, layout.boxes[2].at.x);
  EXPECT_LT(layout.boxes[1].at.y, layout.boxes[2].at.y);
  ASSERT_EQ(layout.edges[2].way.size(), 6u);
  EXPECT_GT(layout.edges[2].way[2].x, 100);
  EXPECT_EQ(layout.notDrawn, 0u);
}

TEST(ReportLayout, edges_without_a_lane_are_counted) {
  // Each box is read by the next one and by the one 50 further: more simultaneous paths than lanes.
  std::vector<LayoutBox> boxes(120, {10, 10, {}});
  std::vector<LayoutEdge> edges;
  for (uint32_t i = 1; i < 120; ++i) {
    edges.push_back({i - 1, i, {}});
    if (i >= 50)
      edges.push_back({i - 50, i, {}});
  }
  GraphLayout layout = layOutGraph(boxes, edges);
  size_t drawn = 0;
  for (const LayoutEdge &edge : layout.edges)
    drawn += !edge.way.empty();
  EXPECT_GT(layout.notDrawn, 0u);
  EXPECT_EQ(drawn + layout.notDrawn, layout.edges.size());
}

TEST(ReportLayout, nothing_to_draw_is_nothing) {
  GraphLayout layout = layOutGraph({}, {});
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

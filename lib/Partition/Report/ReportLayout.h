// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the boxes and arrows of a drawn segment graph go: layers from top to bottom by longest path, and a lane at the
// right for each box that is read further down than in the next layer. No IR; equal graphs are drawn equally.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTLAYOUT_H
#define INLAY_LIB_PARTITION_REPORT_REPORTLAYOUT_H

#include <cstdint>
#include <vector>

namespace inlay {

struct LayoutPoint {
  double x = 0, y = 0;
};

struct LayoutBox {
  double width = 0, height = 0;
  /// The upper left corner, once laid out.
  LayoutPoint at;
};

struct LayoutEdge {
  uint32_t from, to; ///< `from` < `to`
  /// Corners of the way from the lower side of `from` to the upper side of `to`; none if there is no lane left.
  std::vector<LayoutPoint> way;
};

struct GraphLayout {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  double width = 0, height = 0;
  uint32_t notDrawn = 0; ///< edges without a way
};

/// Lays out an acyclic graph whose boxes are numbered in a topological order. No two boxes overlap, every box is below
/// those it depends on, and no way leads through a box.
GraphLayout layOutGraph(std::vector<LayoutBox> boxes, std::vector<LayoutEdge> edges);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTLAYOUT_H

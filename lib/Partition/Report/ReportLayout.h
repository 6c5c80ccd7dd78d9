// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a drawn segment graph: layers from top to bottom by longest path, and a lane on the right for each box
// that is read further down than in the next layer. There is no IR here. Equal graphs have equal layouts.

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
  /// The upper left corner. It is set by the layout.
  LayoutPoint at;
};

struct LayoutEdge {
  uint32_t from, to; ///< `from` < `to`.
  /// The corners of the path from the lower side of `from` to the upper side of `to`. Empty if there is no lane left.
  std::vector<LayoutPoint> way;
};

struct GraphLayout {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  double width = 0, height = 0;
  uint32_t notDrawn = 0; ///< Number of edges without a path.
};

/// Lays out an acyclic graph whose boxes are numbered in a topological order. No two boxes overlap, every box is below
/// its predecessors, and no path crosses a box.
GraphLayout layOutGraph(std::vector<LayoutBox> boxes, std::vector<LayoutEdge> edges);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTLAYOUT_H

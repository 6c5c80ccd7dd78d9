// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places the boxes and arrows of the segment graph in the HTML report. `ReportGraph.cpp` draws them.

#include "ReportLayout.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace inlay;

namespace {
constexpr double kBetweenBoxes = 28, kBetweenLayers = 52, kBetweenLanes = 12;
/// Maximum number of lanes. Edges that find no lane are not drawn.
constexpr uint32_t kMaxLanes = 24;

class Drawer {
public:
  Drawer(GraphLayout &layout) : layout(layout), boxes(layout.boxes) {}

  void run() {
    findLayers();
    orderLayers();
    placeBoxes();
    assignLanes();
    for (LayoutEdge &edge : layout.edges)
      draw(edge);
  }

private:
  void findLayers() {
    preds.resize(boxes.size());
    layerOf.resize(boxes.size());
    for (const LayoutEdge &edge : layout.edges)
      preds[edge.to].push_back(edge.from);
    for (uint32_t box = 0; box < boxes.size(); ++box) {
      for (uint32_t pred : preds[box])
        layerOf[box] = std::max(layerOf[box], layerOf[pred] + 1);
      if (layerOf[box] >= layers.size())
        layers.resize(layerOf[box] + 1);
      layers[layerOf[box]].push_back(box);
    }
  }

  /// Places boxes below the middle of their predecessors, as far as there is room.
  void orderLayers() {
    std::vector<double> place(boxes.size());
    for (std::vector<uint32_t> &layer : layers) {
      std::vector<double> middle(boxes.size() ? layer.size() : 0);
      std::vector<uint32_t> order(layer.size());
      std::iota(order.begin(), order.end(), 0);
      for (uint32_t i = 0; i < layer.size(); ++i) {
        for (uint32_t pred : preds[layer[i]])
          middle[i] += place[pred] / static_cast<double>(preds[layer[i]].size());
        if (preds[layer[i]].empty())
          middle[i] = static_cast<double>(i) - static_cast<double>(layer.size() - 1) / 2;
      }
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return middle[a] < middle[b]; });
      std::vector<uint32_t> sorted;
      for (uint32_t i : order)
        sorted.push_back(layer[i]);
      layer = std::move(sorted);
      for (uint32_t i = 0; i < layer.size(); ++i)
        place[layer[i]] = static_cast<double>(i) - static_cast<double>(layer.size() - 1) / 2;
    }
  }

  void placeBoxes() {
    std::vector<double> widths;
    for (const std::vector<uint32_t> &layer : layers) {
      double width = -kBetweenBoxes;
      for (uint32_t box : layer)
        width += boxes[box].width + kBetweenBoxes;
      widths.push_back(width);
      layout.width = std::max(layout.width, width);
    }
    for (size_t number = 0; number < layers.size(); ++number) {
      double x = (layout.width - widths[number]) / 2, height = 0;
      for (uint32_t box : layers[number]) {
        boxes[box].at = {x, layout.height};
        x += boxes[box].width + kBetweenBoxes;
        height = std::max(height, boxes[box].height);
      }
      bottoms.push_back(layout.height + height);
      layout.height += height + (number + 1 < layers.size() ? kBetweenLayers : 0);
    }
    firstLane = layout.width + kBetweenLanes;
  }

  bool isLong(const LayoutEdge &edge) const { return layerOf[edge.to] > layerOf[edge.from] + 1; }

  /// Assigns a lane to each box with long edges: the leftmost one that is free all the way.
  void assignLanes() {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> ends; // By layer and box: the layer of the last reader.
    for (const LayoutEdge &edge : layout.edges)
      if (isLong(edge)) {
        uint32_t &end = ends[{layerOf[edge.from], edge.from}];
        end = std::max(end, layerOf[edge.to]);
      }
    std::vector<uint32_t> freeFrom;
    for (auto &[key, end] : ends) {
      auto [start, box] = key;
      size_t lane = 0;
      while (lane < freeFrom.size() && freeFrom[lane] > start)
        ++lane;
      if (lane == kMaxLanes)
        continue;
      if (lane == freeFrom.size())
        freeFrom.push_back(0);
      freeFrom[lane] = end;
      lanes[box] = static_cast<uint32_t>(lane);
    }
    if (!freeFrom.empty())
      layout.width = firstLane + static_cast<double>(freeFrom.size()) * kBetweenLanes;
  }

  void draw(LayoutEdge &edge) {
    const LayoutBox &from = boxes[edge.from], &to = boxes[edge.to];
    double below = bottoms[layerOf[edge.from]];
    if (!isLong(edge)) {
      double fromX = from.at.x + from.width / 2, toX = to.at.x + to.width / 2;
      edge.way = {{fromX, from.at.y + from.height}, {fromX, below}, {toX, to.at.y}};
      return;
    }
    auto lane = lanes.find(edge.from);
    if (lane == lanes.end()) {
      ++layout.notDrawn;
      return;
    }
    // Paths into and out of lanes are separate from each other and from the middle of boxes.
    double number = lane->second, step = number - 6 * static_cast<int>(number / 6);
    double x = firstLane + number * kBetweenLanes, shift = 0.3 + 0.03 * step;
    double fromX = from.at.x + from.width * (0.5 + shift), toX = to.at.x + to.width * (0.5 + shift);
    double out = below + 6 + 3 * step, in = bottoms[layerOf[edge.to] - 1] + kBetweenLayers - 15 - 3 * step;
    edge.way = {{fromX, from.at.y + from.height}, {fromX, out}, {x, out}, {x, in}, {toX, in}, {toX, to.at.y}};
  }

  GraphLayout &layout;
  std::vector<LayoutBox> &boxes;
  std::vector<std::vector<uint32_t>> preds, layers;
  std::vector<uint32_t> layerOf;
  std::vector<double> bottoms; ///< Lower ends of the layers.
  std::map<uint32_t, uint32_t> lanes;
  double firstLane = 0;
};
} // namespace

GraphLayout inlay::layOutGraph(std::vector<LayoutBox> boxes, std::vector<LayoutEdge> edges) {
  GraphLayout layout;
  layout.boxes = std::move(boxes);
  layout.edges = std::move(edges);
  Drawer(layout).run();
  return layout;
}

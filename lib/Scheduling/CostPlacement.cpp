// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Scheduling/CostPlacement.h"
#include "MinCut.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace inlay;

namespace {
using Placed = std::vector<Colour>;

/// Parts of a launch that a border is priced at.
constexpr double kPrices[] = {0, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2};
/// How often each of three colours and more takes its turn.
constexpr unsigned kRounds = 3;
/// Nodes and edges that the search by single moves may look at.
constexpr uint64_t kSearchWork = 4'000'000;
} // namespace

//===-- One cut -------------------------------------------------------------------------------------------------===//

namespace {
/// Lets every node keep its colour or take one other, whichever is cheapest for all together: source keeps, sink takes.
class Expansion {
public:
  Expansion(const CostGraph &costs, const Placed &placed, Colour taken, double price)
      : costs(costs), placed(placed), taken(taken), price(price), scale(findScale()) {}

  /// The new placement; `seconds` is what it takes without launches, but with the price of borders.
  Placed run(double &seconds) {
    for (NodeId node = 0; node < placed.size(); ++node)
      addNode(node);
    for (const CostGraph::Value &value : costs.values)
      addValue(value);
    seconds = static_cast<double>(cut.solve()) / scale;
    Placed result = placed;
    for (NodeId node = 0; node < placed.size(); ++node)
      if (!cut.isSource(node))
        result[node] = taken;
    return result;
  }

private:
  /// Whole numbers are exact: all costs together come close to what a cut may sum up to.
  double findScale() const {
    double sum = 1e-12;
    for (NodeId node = 0; node < placed.size(); ++node)
      sum += costs.getCompute(node, placed[node]) + costs.getCompute(node, taken);
    for (const CostGraph::Value &value : costs.values)
      for (Colour colour = 0; colour < costs.colours.size(); ++colour)
        sum += 2 * (in(value, colour) + out(value, colour));
    return static_cast<double>(MinCut::kInfinite / 64) / sum;
  }

  int64_t whole(double seconds) const { return static_cast<int64_t>(std::llround(seconds * scale)); }

  double in(const CostGraph::Value &value, Colour colour) const {
    double border = value.maker == CostGraph::kOutside ? 0 : price * costs.colours[colour].launchSeconds;
    return costs.colours[colour].in.estimate(value.bytes) + border;
  }
  double out(const CostGraph::Value &value, Colour colour) const {
    return costs.colours[colour].out.estimate(value.bytes);
  }

  void addNode(NodeId node) {
    cut.addNode();
    if (placed[node] == taken)
      cut.addTerminals(node, whole(costs.getCompute(node, taken)), MinCut::kInfinite);
    else if (costs.getAllowed(node) >> taken & 1)
      cut.addTerminals(node, whole(costs.getCompute(node, taken)), whole(costs.getCompute(node, placed[node])));
    else
      cut.addTerminals(node, MinCut::kInfinite, whole(costs.getCompute(node, placed[node])));
  }

  /// `seconds` if the maker keeps and one of the readers takes.
  void chargeTaking(NodeId maker, const std::vector<NodeId> &readBy, double seconds) {
    int64_t capacity = whole(seconds);
    if (capacity == 0 || readBy.empty())
      return;
    MinCut::Node from = readBy.size() == 1 ? readBy.front() : cut.addNode();
    if (maker == CostGraph::kOutside)
      cut.addTerminals(from, capacity, 0);
    else
      cut.addEdge(maker, from, capacity);
    if (readBy.size() > 1)
      for (NodeId reader : readBy)
        cut.addEdge(from, reader, MinCut::kInfinite);
  }

  /// `seconds` if one of the readers keeps and, unless that is `kOutside`, the maker takes.
  void chargeKeeping(NodeId maker, const std::vector<NodeId> &readBy, double seconds) {
    int64_t capacity = whole(seconds);
    if (capacity == 0 || readBy.empty())
      return;
    MinCut::Node to = readBy.size() == 1 ? readBy.front() : cut.addNode();
    if (maker == CostGraph::kOutside)
      cut.addTerminals(to, 0, capacity);
    else
      cut.addEdge(to, maker, capacity);
    if (readBy.size() > 1)
      for (NodeId reader : readBy)
        cut.addEdge(reader, to, MinCut::kInfinite);
  }

  void addValue(const CostGraph::Value &value) {
    bool isMade = value.maker != CostGraph::kOutside;
    all.assign(costs.readers.begin() + value.firstReader, costs.readers.begin() + value.lastReader);
    // Shipped to `taken`, and out of where it is made if all readers are there and one goes.
    bool leaves = value.isReturned;
    for (NodeId reader : all)
      leaves |= isMade && placed[reader] != placed[value.maker];
    double going = in(value, taken);
    if (isMade && placed[value.maker] != taken) {
      if (leaves)
        cut.addTerminals(value.maker, 0, whole(out(value, placed[value.maker])));
      else
        going += out(value, placed[value.maker]);
    }
    chargeTaking(value.maker, all, going);
    // Shipped out of `taken` if it is made there.
    if (isMade && value.isReturned)
      cut.addTerminals(value.maker, whole(out(value, taken)), 0);
    else if (isMade)
      chargeKeeping(value.maker, all, out(value, taken));
    // Shipped to readers that keep their colour.
    for (Colour colour = 0; colour < costs.colours.size(); ++colour) {
      if (colour == taken)
        continue;
      keeping.clear();
      for (NodeId reader : all)
        if (placed[reader] == colour)
          keeping.push_back(reader);
      bool madeThere = isMade && placed[value.maker] == colour;
      chargeKeeping(madeThere ? value.maker : CostGraph::kOutside, keeping, in(value, colour));
    }
  }

  const CostGraph &costs;
  const Placed &placed;
  Colour taken;
  double price, scale;
  MinCut cut;
  std::vector<NodeId> all, keeping;
};
} // namespace

//===-- Search --------------------------------------------------------------------------------------------------===//

namespace {
class Search {
public:
  explicit Search(const CostGraph &costs) : costs(costs) {
    for (NodeId node = 0; node < costs.graph.size(); ++node)
      inUse |= costs.getAllowed(node);
  }

  double consider(const Placed &placed) {
    auto [known, isNew] = considered.try_emplace(placed, 0);
    if (!isNew)
      return known->second;
    double seconds = known->second = costs.estimate(placed);
    if (best.colours.empty() || seconds < best.seconds) {
      best.colours = placed;
      best.seconds = seconds;
    }
    return seconds;
  }

  void placeCheapest() {
    Placed placed(costs.graph.size());
    for (NodeId node = 0; node < placed.size(); ++node) {
      placed[node] = costs.graph.nodes[node].colour;
      forEachColour(costs.getAllowed(node), [&](Colour colour) {
        if (costs.getCompute(node, colour) < costs.getCompute(node, placed[node]))
          placed[node] = colour;
      });
    }
    best.lowerBound = costs.countCompute(placed) + (placed.empty() ? 0 : findLeastLaunch());
    consider(placed);
  }

  void cutAtPrices() {
    for (double price : kPrices) {
      Placed placed = placeLast();
      if (countColours() <= 2) { // one cut between the last and the other is all there is to find
        double seconds = 0;
        placed = Expansion(costs, placed, findFirst(), price).run(seconds);
        consider(placed);
        if (price == 0)
          best.lowerBound = std::max(best.lowerBound, seconds + findLeastLaunch());
        continue;
      }
      for (unsigned round = 0; round < kRounds; ++round) {
        Placed before = placed;
        double seconds = 0;
        forEachColour(inUse, [&](Colour colour) { placed = Expansion(costs, placed, colour, price).run(seconds); });
        consider(placed);
        if (placed == before)
          break;
      }
    }
  }

  /// Single nodes and whole segments to other colours, as long as that helps.
  void improve() {
    uint64_t each = costs.graph.size() + costs.graph.edgeCount() + costs.values.size() + costs.readers.size() + 1;
    uint64_t left = kSearchWork / each;
    for (bool improved = true; improved && left > 0;) {
      improved = false;
      for (const std::vector<NodeId> &nodes : findMoves())
        forEachColour(inUse, [&](Colour colour) {
          if (left == 0)
            return;
          Placed placed = best.colours;
          for (NodeId node : nodes)
            if (costs.getAllowed(node) >> colour & 1)
              placed[node] = colour;
          if (placed == best.colours)
            return;
          --left;
          double before = best.seconds;
          improved |= consider(placed) < before;
        });
    }
  }

  CostedPlacement best;

private:
  template <typename Function>
  static void forEachColour(ColourSet set, Function function) {
    for (Colour colour = 0; colour < 64 && set >> colour; ++colour)
      if (set >> colour & 1)
        function(colour);
  }

  unsigned countColours() const {
    unsigned count = 0;
    forEachColour(inUse, [&](Colour) { ++count; });
    return count;
  }

  Colour findFirst() const {
    Colour first = 0;
    while (!(inUse >> first & 1))
      ++first;
    return first;
  }

  /// Every node on the last colour it may take.
  Placed placeLast() const {
    Placed placed(costs.graph.size());
    for (NodeId node = 0; node < placed.size(); ++node)
      forEachColour(costs.getAllowed(node), [&](Colour colour) { placed[node] = colour; });
    return placed;
  }

  double findLeastLaunch() const {
    double least = std::numeric_limits<double>::infinity();
    forEachColour(inUse, [&](Colour colour) { least = std::min(least, costs.colours[colour].launchSeconds); });
    return least;
  }

  /// The segments of the best placement, then each node by itself.
  std::vector<std::vector<NodeId>> findMoves() const {
    std::vector<std::vector<NodeId>> moves;
    ScheduleGraph coloured = costs.graph;
    for (NodeId node = 0; node < coloured.size(); ++node) {
      coloured.nodes[node].colour = best.colours[node];
      coloured.nodes[node].neutral = false;
    }
    for (ScheduledSegment &segment : scheduleByLevels(coloured).segments)
      moves.push_back(std::move(segment.nodes));
    for (NodeId node = 0; node < coloured.size(); ++node)
      moves.push_back({node});
    return moves;
  }

  const CostGraph &costs;
  ColourSet inUse = 0;
  std::map<Placed, double> considered; ///< several prices often give one placement
};
} // namespace

std::vector<Colour> inlay::placeOnHost(const ScheduleGraph &graph) {
  std::vector<Colour> placed;
  for (const ScheduleNode &node : graph.nodes) {
    Colour chosen = node.colour;
    if (!node.pinned && graph.isAccelerator(chosen))
      for (Colour colour = 0; colour < 64; ++colour)
        if ((node.allowed >> colour & 1) && !graph.isAccelerator(colour))
          chosen = colour;
    placed.push_back(chosen);
  }
  return placed;
}

CostedPlacement inlay::placeByCost(const CostGraph &costs, const std::vector<std::vector<Colour>> &candidates) {
  Search search(costs);
  std::vector<double> seconds;
  for (const Placed &candidate : candidates)
    seconds.push_back(search.consider(candidate));
  search.placeCheapest();
  if (costs.graph.size() > 0) {
    search.cutAtPrices();
    search.improve();
  }
  CostedPlacement result = std::move(search.best);
  result.candidates = std::move(seconds);
  // Sums in another order may differ in the last digit.
  result.lowerBound = std::min(result.lowerBound, result.seconds);
  return result;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the targets of nodes under a cost model: by minimum cuts, then by single moves. LevelSchedule.cpp then
// forms segments for these targets. MinCut.cpp has the cut.

#include "inlay/Scheduling/CostPlacement.h"
#include "MinCut.h"
#include "inlay/Scheduling/LevelSchedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace inlay;

namespace {
using Placed = std::vector<TargetIndex>;

/// The shares of a launch that are added to the cost of each border.
constexpr double kPrices[] = {0, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2};
/// Maximum number of rounds of alpha-expansion for three and more targets.
constexpr unsigned kRounds = 3;
/// Maximum number of nodes and edges that the search by single moves visits.
constexpr uint64_t kSearchWork = 4'000'000;
} // namespace

//===-- One cut -------------------------------------------------------------------------------------------------===//

namespace {
/// A cut that decides for every node whether it keeps its target or takes the target `taken`, so that the total cost is
/// the least. Nodes on the source side keep their target.
class Expansion {
public:
  Expansion(const CostGraph &costs, const Placed &placed, TargetIndex taken, double price)
      : costs(costs), placed(placed), taken(taken), price(price), scale(findScale()) {}

  /// Returns the new placement. `seconds` is set to its time without launches, but with the price of borders.
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
  /// Returns the factor that turns seconds into integers, whose sums are exact. It makes the sum of all costs nearly as
  /// large as a cut allows.
  double findScale() const {
    double sum = 1e-12;
    for (NodeId node = 0; node < placed.size(); ++node)
      sum += costs.getCompute(node, placed[node]) + costs.getCompute(node, taken);
    for (const CostGraph::Value &value : costs.values)
      for (TargetIndex target = 0; target < costs.targets.size(); ++target)
        sum += 2 * (in(value, target) + out(value, target));
    return static_cast<double>(MinCut::kInfinite / 64) / sum;
  }

  int64_t whole(double seconds) const { return static_cast<int64_t>(std::llround(seconds * scale)); }

  double in(const CostGraph::Value &value, TargetIndex target) const {
    double border = value.maker == CostGraph::kOutside ? 0 : price * costs.targets[target].launchSeconds;
    return costs.targets[target].in.estimate(value.bytes) + border;
  }
  double out(const CostGraph::Value &value, TargetIndex target) const {
    return costs.targets[target].out.estimate(value.bytes);
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

  /// Charges `seconds` if the maker keeps its target and a reader takes the new one.
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

  /// Charges `seconds` if a reader keeps its target and the maker takes the new one. If the maker is `kOutside`, the
  /// reader alone decides.
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
    // The transfer to `taken`. If all readers have the maker's target, a reader that moves to `taken` also adds the
    // transfer out of the maker's target.
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
    // The transfer out of `taken` if the value is made there.
    if (isMade && value.isReturned)
      cut.addTerminals(value.maker, whole(out(value, taken)), 0);
    else if (isMade)
      chargeKeeping(value.maker, all, out(value, taken));
    // The transfers to readers that keep their target.
    for (TargetIndex target = 0; target < costs.targets.size(); ++target) {
      if (target == taken)
        continue;
      keeping.clear();
      for (NodeId reader : all)
        if (placed[reader] == target)
          keeping.push_back(reader);
      bool madeThere = isMade && placed[value.maker] == target;
      chargeKeeping(madeThere ? value.maker : CostGraph::kOutside, keeping, in(value, target));
    }
  }

  const CostGraph &costs;
  const Placed &placed;
  TargetIndex taken;
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
    if (best.targets.empty() || seconds < best.seconds) {
      best.targets = placed;
      best.seconds = seconds;
    }
    return seconds;
  }

  void placeCheapest() {
    Placed placed(costs.graph.size());
    for (NodeId node = 0; node < placed.size(); ++node) {
      placed[node] = costs.graph.nodes[node].target;
      forEachTarget(costs.getAllowed(node), [&](TargetIndex target) {
        if (costs.getCompute(node, target) < costs.getCompute(node, placed[node]))
          placed[node] = target;
      });
    }
    best.lowerBound = costs.countCompute(placed) + (placed.empty() ? 0 : findMinLaunch());
    consider(placed);
  }

  void cutAtPrices() {
    for (double price : kPrices) {
      Placed placed = placeLast();
      if (countTargets() <= 2) { // A single cut between the two targets is exact.
        double seconds = 0;
        placed = Expansion(costs, placed, findFirst(), price).run(seconds);
        consider(placed);
        if (price == 0)
          best.lowerBound = std::max(best.lowerBound, seconds + findMinLaunch());
        continue;
      }
      for (unsigned round = 0; round < kRounds; ++round) {
        Placed before = placed;
        double seconds = 0;
        forEachTarget(inUse,
                      [&](TargetIndex target) { placed = Expansion(costs, placed, target, price).run(seconds); });
        consider(placed);
        if (placed == before)
          break;
      }
    }
  }

  /// Moves single nodes and whole segments to other targets as long as this saves time.
  void improve() {
    uint64_t each = costs.graph.size() + costs.graph.edgeCount() + costs.values.size() + costs.readers.size() + 1;
    uint64_t left = kSearchWork / each;
    for (bool improved = true; improved && left > 0;) {
      improved = false;
      for (const std::vector<NodeId> &nodes : findMoves())
        forEachTarget(inUse, [&](TargetIndex target) {
          if (left == 0)
            return;
          Placed placed = best.targets;
          for (NodeId node : nodes)
            if (costs.getAllowed(node) >> target & 1)
              placed[node] = target;
          if (placed == best.targets)
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
  static void forEachTarget(TargetSet set, Function function) {
    for (TargetIndex target = 0; target < kMaxTargets && set >> target; ++target)
      if (set >> target & 1)
        function(target);
  }

  unsigned countTargets() const {
    unsigned count = 0;
    forEachTarget(inUse, [&](TargetIndex) { ++count; });
    return count;
  }

  TargetIndex findFirst() const {
    TargetIndex first = 0;
    while (!(inUse >> first & 1))
      ++first;
    return first;
  }

  /// Places every node on the last target that it may take.
  Placed placeLast() const {
    Placed placed(costs.graph.size());
    for (NodeId node = 0; node < placed.size(); ++node)
      forEachTarget(costs.getAllowed(node), [&](TargetIndex target) { placed[node] = target; });
    return placed;
  }

  double findMinLaunch() const {
    double minLaunch = std::numeric_limits<double>::infinity();
    forEachTarget(inUse,
                  [&](TargetIndex target) { minLaunch = std::min(minLaunch, costs.targets[target].launchSeconds); });
    return minLaunch;
  }

  /// Returns the segments of the best placement, then each node by itself.
  std::vector<std::vector<NodeId>> findMoves() const {
    std::vector<std::vector<NodeId>> moves;
    ScheduleGraph assigned = costs.graph;
    for (NodeId node = 0; node < assigned.size(); ++node) {
      assigned.nodes[node].target = best.targets[node];
      assigned.nodes[node].neutral = false;
    }
    for (ScheduledSegment &segment : scheduleByLevels(assigned).segments)
      moves.push_back(std::move(segment.nodes));
    for (NodeId node = 0; node < assigned.size(); ++node)
      moves.push_back({node});
    return moves;
  }

  const CostGraph &costs;
  TargetSet inUse = 0;
  std::map<Placed, double> considered; ///< Times of known placements. Several prices often give the same one.
};
} // namespace

std::vector<TargetIndex> inlay::placeOnHost(const ScheduleGraph &graph) {
  std::vector<TargetIndex> placed;
  for (const ScheduleNode &node : graph.nodes) {
    TargetIndex chosen = node.target;
    if (!node.pinned && graph.isAccelerator(chosen))
      for (TargetIndex target = 0; target < kMaxTargets; ++target)
        if ((node.allowed >> target & 1) && !graph.isAccelerator(target))
          chosen = target;
    placed.push_back(chosen);
  }
  return placed;
}

CostedPlacement inlay::placeByCost(const CostGraph &costs, const std::vector<std::vector<TargetIndex>> &candidates) {
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
  // Sums in a different order may differ in the last digit.
  result.lowerBound = std::min(result.lowerBound, result.seconds);
  return result;
}

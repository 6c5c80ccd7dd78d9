// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds by a minimum cut the placement that carries the fewest bytes within windows. SlackPlacement.cpp calls it and
// has the local search.

#include "SlackCut.h"

#include "MinCut.h"
#include "SegmentsByTarget.h"

#include <algorithm>
#include <limits>

using namespace inlay;

namespace {
/// An arc of this capacity is never cut: all other capacities of the cut add up to less. They may exceed
/// MinCut::kInfinite.
constexpr int64_t kUncuttable = std::numeric_limits<int64_t>::max() / 2;

/// A variable whose values are ascending places. Item i is chosen if the variable is at least places[i + 1]. The first
/// place needs no item.
struct Chain {
  const uint32_t *first = nullptr, *last = nullptr; ///< First and last place, both included.
  MinCut::Node base = 0;                            ///< The first item.

  size_t steps() const { return static_cast<size_t>(last - first); }
};

class SlackCut {
public:
  SlackCut(const ScheduleGraph &graph, Placement &placement, const std::vector<bool> &fixed, CutLimits &limits)
      : graph(graph), placement(placement), fixed(fixed), limits(limits), placesOf(placement.targets) {}

  bool run() {
    if (!openWindows() || !chooseScale())
      return false;
    for (NodeId node = 0; node < graph.size(); ++node)
      addItems(node);
    for (NodeId node = 0; node < graph.size(); ++node) {
      for (NodeId succ : graph.succs(node))
        order(chains[node], chains[succ]);
      addCarrying(node);
    }
    if (!cut.solve(limits.budget))
      return false;
    for (NodeId node = 0; node < graph.size(); ++node) {
      const Chain &chain = chains[node];
      size_t at = 0;
      while (at < chain.steps() && cut.isSource(chain.base + static_cast<MinCut::Node>(at)))
        ++at;
      placement.segment[node] = chain.first[at];
    }
    return true;
  }

private:
  /// Computes the places that each node may take if its neighbors may take any of theirs. Returns false if there are
  /// too many, or if no node may move.
  bool openWindows() {
    std::vector<uint32_t> begin(graph.size()), end(graph.size());
    for (NodeId node = graph.size(); node-- > 0;) {
      TargetIndex target = placement.targets[placement.segment[node]];
      const std::vector<uint32_t> &places = placesOf.of(target);
      uint32_t at = placesOf.rankOf(placement.segment[node]), last = static_cast<uint32_t>(places.size() - 1);
      last = fixed[node] ? at : static_cast<uint32_t>(std::min<uint64_t>(last, uint64_t(at) + limits.window));
      for (NodeId succ : graph.succs(node))
        if (places[last] > end[succ])
          last = placesOf.firstFrom(target, end[succ] + 1) - 1;
      end[node] = places[last];
    }
    size_t items = 0;
    for (NodeId node = 0; node < graph.size(); ++node) {
      TargetIndex target = placement.targets[placement.segment[node]];
      const std::vector<uint32_t> &places = placesOf.of(target);
      uint32_t at = placesOf.rankOf(placement.segment[node]),
               first = fixed[node] ? at : at - std::min(at, limits.window);
      for (NodeId pred : graph.preds(node))
        if (places[first] < begin[pred])
          first = placesOf.firstFrom(target, begin[pred]);
      begin[node] = places[first];
      items += placesOf.rankOf(end[node]) - first;
      if (items > limits.maxPlaces)
        return false;
    }
    chains.resize(graph.size());
    for (NodeId node = 0; node < graph.size(); ++node) {
      const uint32_t *places = placesOf.of(placement.targets[begin[node]]).data();
      chains[node].first = places + placesOf.rankOf(begin[node]);
      chains[node].last = places + placesOf.rankOf(end[node]);
    }
    return items > 0;
  }

  /// Chooses a factor for bytes that is large enough for the number of moves to matter only in ties. Returns false if
  /// the numbers get too large.
  bool chooseScale() {
    double items = 1, bytes = 0;
    for (NodeId node = 0; node < graph.size(); ++node) {
      items += static_cast<double>(chains[node].steps());
      bytes += 2.0 * static_cast<double>(graph.nodes[node].bytes) * static_cast<double>(placement.targets.size());
    }
    constexpr double kMaxSum = 4e18; // Sums stay below `kUncuttable`.
    if (bytes > kMaxSum)
      return false;
    scale = bytes * items + items > kMaxSum ? 1 : static_cast<int64_t>(items);
    return true;
  }

  /// Adds an item that costs `cost` if it is chosen. The chosen items are on the source's side of the cut: the cheapest
  /// set that contains all items that its items require is a minimum cut (Picard, "Maximal closure of a graph and
  /// applications to combinatorial problems", Management Science 1976).
  void addItem(int64_t cost) {
    cut.addTerminals(cut.addNode(), std::max<int64_t>(-cost, 0), std::max<int64_t>(cost, 0));
  }
  void require(MinCut::Node item, MinCut::Node needed) { cut.addEdge(item, needed, kUncuttable); }

  void addItems(NodeId node) {
    Chain &chain = chains[node];
    chain.base = static_cast<MinCut::Node>(cut.size());
    int64_t bytes = graph.succs(node).empty() ? 0 : static_cast<int64_t>(graph.nodes[node].bytes);
    for (const uint32_t *place = chain.first; place < chain.last; ++place) {
      int64_t nearer = place[1] <= placement.segment[node] ? -1 : 1;
      addItem(-bytes * (place[1] - place[0]) * scale + (scale > 1 ? nearer : 0));
      if (place != chain.first)
        require(chain.base + static_cast<uint32_t>(place - chain.first),
                chain.base + static_cast<uint32_t>(place - chain.first) - 1);
    }
  }

  /// Requires that `after` is at the same place as `before` or at a later one.
  void order(const Chain &before, const Chain &after) {
    const uint32_t *last = nullptr;
    for (size_t step = 0; step < before.steps(); ++step) {
      const uint32_t *place = std::lower_bound(after.first, after.last, before.first[step + 1]);
      if (place != after.first && place != last)
        require(before.base + static_cast<uint32_t>(step), after.base + static_cast<uint32_t>(place - after.first) - 1);
      last = place;
    }
  }

  /// Adds the cost of carrying the result of `node` to its last reader. The place of the last reader is a chain of all
  /// places that its readers may take.
  void addCarrying(NodeId node) {
    int64_t bytes = static_cast<int64_t>(graph.nodes[node].bytes) * scale;
    if (bytes == 0)
      return;
    uint32_t reached = 0;
    movers.clear();
    for (NodeId succ : graph.succs(node)) {
      reached = std::max(reached, *chains[succ].first);
      movers.push_back(succ);
    }
    movers.erase(
        std::remove_if(movers.begin(), movers.end(), [&](NodeId succ) { return *chains[succ].last <= reached; }),
        movers.end());
    if (movers.empty())
      return;
    places.assign(1, reached);
    for (NodeId succ : movers)
      places.insert(places.end(), std::upper_bound(chains[succ].first, chains[succ].last + 1, reached),
                    chains[succ].last + 1);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    Chain until{places.data(), &places.back(), static_cast<MinCut::Node>(cut.size())};
    for (size_t step = 0; step < until.steps(); ++step) {
      addItem(bytes * (places[step + 1] - places[step]));
      if (step > 0)
        require(until.base + static_cast<uint32_t>(step), until.base + static_cast<uint32_t>(step) - 1);
    }
    for (NodeId succ : movers)
      order(chains[succ], until);
  }

  const ScheduleGraph &graph;
  Placement &placement;
  const std::vector<bool> &fixed;
  CutLimits &limits;
  std::vector<Chain> chains;
  SegmentsByTarget placesOf;
  MinCut cut;
  int64_t scale = 1;
  std::vector<NodeId> movers;
  std::vector<uint32_t> places;
};
} // namespace

bool inlay::placeByCut(const ScheduleGraph &graph, Placement &placement, const std::vector<bool> &fixed,
                       CutLimits &limits) {
  return SlackCut(graph, placement, fixed, limits).run();
}

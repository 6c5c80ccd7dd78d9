// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small graphs are solved by a minimum cut, larger ones by coordinate descent. The cost of a node is a convex function
// of its place, so its best place between its neighbors can be computed directly. A backward walk prefers later places
// among those of equal cost, and a forward walk prefers earlier ones. A chain of nodes thus moves even if no node of it
// reduces the cost by itself. The descent starts from the given placement and from the one with every node in its
// latest place. Cuts with small windows then improve the result.

#include "SlackPlacement.h"

#include "SegmentsByTarget.h"
#include "SlackCut.h"

#include <algorithm>
#include <utility>

using namespace inlay;

namespace {
/// Maximum number of passes of a descent.
constexpr unsigned kPasses = 6;
/// Number of nodes and edges from which a graph is large. A large graph gets one backward pass, which saves nearly all
/// that can be saved.
constexpr size_t kMinLargeSize = 500'000;
/// Maximum work of a descent per node and edge. The descent then stops where it is.
constexpr uint64_t kWorkPerItem = 128;

/// Like `kExactPlaces`, for cuts in which nodes may move by one segment.
constexpr size_t kNearbyPlaces = 200'000;
} // namespace

bool inlay::isLarge(const ScheduleGraph &graph) { return graph.size() + graph.edgeCount() >= kMinLargeSize; }

namespace {
class Descent {
public:
  Descent(const ScheduleGraph &graph, const Placement &placement, uint64_t minSize)
      : graph(graph), targets(placement.targets), segment(placement.segment), minSize(minSize),
        opCount(placement.opCounts(graph)), last(graph.size()), readers(graph.size()), places(targets),
        budget(kWorkPerItem * (graph.size() + graph.edgeCount())) {
    for (NodeId node = 0; node < graph.size(); ++node)
      findLast(node);
  }

  /// Moves every node to the latest place that its readers and its segment allow.
  void sink() {
    for (NodeId node = graph.size(); node-- > 0;)
      if (maySpare(node) && !graph.succs(node).empty())
        move(node, findPlace(node, interval(node).second, false));
  }

  void descend() {
    for (unsigned pass = 0; pass < (isLarge(graph) ? 1 : kPasses) && work < budget; ++pass) {
      bool backwards = pass % 2 == 0;
      if (backwards && !std::exchange(gained, false))
        break; // Neither direction gained anything.
      for (NodeId at = 0; at < graph.size() && work < budget; ++at)
        visit(backwards ? graph.size() - 1 - at : at, backwards);
    }
  }

  uint64_t cost() const { return countCarriedBytes(graph, segment); }
  std::vector<uint32_t> &result() { return segment; }

private:
  struct Read {
    uint32_t until; ///< The last segment that the value is carried to for its other readers.
    int64_t bytes;
  };

  void findLast(NodeId node) {
    last[node] = segment[node];
    readers[node] = 0;
    for (NodeId succ : graph.succs(node)) {
      if (segment[succ] > last[node]) {
        last[node] = segment[succ];
        readers[node] = 0;
      }
      readers[node] += segment[succ] == last[node];
    }
    work += 1 + (graph.succs(node).last - graph.succs(node).first);
  }

  /// Returns the last segment that reads `pred` if `node` does not read it.
  uint32_t lastWithout(NodeId pred, NodeId node) {
    if (segment[node] < last[pred] || readers[pred] > 1)
      return last[pred];
    uint32_t result = segment[pred];
    for (NodeId succ : graph.succs(pred))
      if (succ != node)
        result = std::max(result, segment[succ]);
    work += graph.succs(pred).last - graph.succs(pred).first;
    return result;
  }

  bool maySpare(NodeId node) const {
    uint32_t at = segment[node];
    return !graph.isAccelerator(targets[at]) || opCount[at] >= minSize + graph.nodes[node].opCount;
  }

  std::pair<uint32_t, uint32_t> interval(NodeId node) const {
    uint32_t first = 0, end = static_cast<uint32_t>(targets.size() - 1);
    for (NodeId pred : graph.preds(node))
      first = std::max(first, segment[pred]);
    for (NodeId succ : graph.succs(node))
      end = std::min(end, segment[succ]);
    return {first, end};
  }

  /// Returns the segment of the node's target that is nearest to `at` and not before it if `later`, or not after it
  /// otherwise. Returns the node's segment if there is none.
  uint32_t findPlace(NodeId node, uint32_t at, bool later) const {
    TargetIndex target = targets[segment[node]];
    if (targets[at] == target)
      return at;
    const std::vector<uint32_t> &segmentsOfTarget = places.of(target);
    uint32_t after = places.firstFrom(target, at);
    if (later)
      return after == segmentsOfTarget.size() ? segment[node] : segmentsOfTarget[after];
    return after == 0 ? segment[node] : segmentsOfTarget[after - 1];
  }

  /// Returns the segment in which the cost of the node is least, assuming that any segment may hold it. `slope` is the
  /// change of the cost per segment at the start: minus the bytes of the node's result. From `until` of each read on,
  /// the slope grows by the bytes of that read, because the value that is read would be carried further.
  uint32_t findMinimum(std::vector<Read> &reads, int64_t slope, uint32_t end) const {
    std::sort(reads.begin(), reads.end(), [](const Read &a, const Read &b) { return a.until < b.until; });
    for (const Read &read : reads)
      if ((slope += read.bytes) >= 0)
        return read.until;
    return end;
  }

  void visit(NodeId node, bool backwards) {
    auto [first, end] = interval(node);
    work += 1 + (graph.preds(node).last - graph.preds(node).first);
    if (first == end || !maySpare(node))
      return;
    reads.clear();
    for (NodeId pred : graph.preds(node))
      if (graph.nodes[pred].bytes > 0)
        reads.push_back({lastWithout(pred, node), static_cast<int64_t>(graph.nodes[pred].bytes)});
    int64_t made = graph.succs(node).empty() ? 0 : static_cast<int64_t>(graph.nodes[node].bytes);
    auto costAt = [&](uint32_t place) {
      int64_t cost = -made * place;
      for (const Read &read : reads)
        cost += read.bytes * std::max(read.until, place);
      return cost;
    };
    uint32_t cheapest = made == 0 ? first : std::clamp(findMinimum(reads, -made, end), first, end);
    uint32_t best = segment[node];
    int64_t bestCost = costAt(best);
    for (uint32_t limit : {cheapest, backwards ? end : first})
      for (bool later : {false, true})
        if (uint32_t place = findPlace(node, limit, later); place >= first && place <= end) {
          int64_t cost = costAt(place);
          bool isPreferred = backwards ? place > best : place < best;
          if (cost < bestCost || (cost == bestCost && isPreferred)) {
            best = place;
            bestCost = cost;
          }
        }
    gained |= bestCost < costAt(segment[node]);
    move(node, best);
  }

  void move(NodeId node, uint32_t to) {
    uint32_t from = segment[node];
    if (from == to)
      return;
    opCount[from] -= graph.nodes[node].opCount;
    opCount[to] += graph.nodes[node].opCount;
    segment[node] = to;
    for (NodeId pred : graph.preds(node)) {
      if (from == last[pred] && to < from && --readers[pred] == 0) {
        findLast(pred);
      } else if (to > last[pred]) {
        last[pred] = to;
        readers[pred] = 1;
      } else if (to == last[pred]) {
        ++readers[pred];
      }
    }
  }

  const ScheduleGraph &graph;
  const std::vector<TargetIndex> &targets;
  std::vector<uint32_t> segment;
  uint64_t minSize;
  std::vector<uint64_t> opCount;
  std::vector<uint32_t> last;    ///< The last segment that reads the node, or the node's segment.
  std::vector<uint32_t> readers; ///< Number of readers in that segment.
  SegmentsByTarget places;
  std::vector<Read> reads;
  uint64_t work = 0, budget;
  bool gained = true;
};
} // namespace

uint64_t inlay::countCarriedBytes(const ScheduleGraph &graph, const std::vector<uint32_t> &segment) {
  uint64_t bytes = 0;
  for (NodeId node = 0; node < graph.size(); ++node) {
    uint32_t last = segment[node];
    for (NodeId succ : graph.succs(node))
      last = std::max(last, segment[succ]);
    bytes += graph.nodes[node].bytes * (last - segment[node]);
  }
  return bytes;
}

uint64_t inlay::countCarriedBytes(const ScheduleGraph &graph, const Schedule &schedule) {
  std::vector<uint32_t> segment(graph.size());
  for (size_t at = 0; at < schedule.segments.size(); ++at)
    for (NodeId node : schedule.segments[at].nodes)
      segment[node] = static_cast<uint32_t>(at);
  return countCarriedBytes(graph, segment);
}

/// Returns, for each segment, true if it is on an accelerator and its op count is positive, but less than `minSize` and
/// less than before.
static std::vector<bool> findDrained(const ScheduleGraph &graph, const Placement &before, const Placement &after,
                                     uint64_t minSize) {
  std::vector<uint64_t> old = before.opCounts(graph), now = after.opCounts(graph);
  std::vector<bool> drained(old.size());
  for (size_t at = 0; at < old.size(); ++at)
    drained[at] = graph.isAccelerator(after.targets[at]) && now[at] > 0 && now[at] < std::min(minSize, old[at]);
  return drained;
}

/// Sets `placement` to the best one within the limits. The nodes of segments that would become too small stay. Returns
/// false if a limit is exceeded.
static bool cut(const ScheduleGraph &graph, Placement &placement, uint64_t minSize, CutLimits &limits) {
  constexpr unsigned kTrials = 8;
  std::vector<bool> fixed(graph.size());
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    Placement moved = placement;
    if (!placeByCut(graph, moved, fixed, limits))
      return false;
    std::vector<bool> drained = findDrained(graph, placement, moved, minSize);
    if (std::find(drained.begin(), drained.end(), true) == drained.end()) {
      placement = std::move(moved);
      return true;
    }
    for (NodeId node = 0; node < graph.size(); ++node)
      fixed[node] = fixed[node] || drained[placement.segment[node]];
  }
  return true;
}

/// Descends from the given placement, which carries `fewest` bytes, and from the latest one unless the graph is large.
static void descend(const ScheduleGraph &graph, Placement &placement, uint64_t minSize, uint64_t fewest) {
  Placement start = placement;
  for (bool sinkFirst : {false, true}) {
    if (sinkFirst && isLarge(graph))
      break;
    Descent descent(graph, start, minSize);
    if (sinkFirst)
      descent.sink();
    descent.descend();
    if (uint64_t cost = descent.cost(); cost < fewest) {
      fewest = cost;
      placement.segment = std::move(descent.result());
    }
  }
}

void inlay::placeWithSlack(const ScheduleGraph &graph, Placement &placement, uint64_t minSize) {
  uint64_t given = countCarriedBytes(graph, placement.segment);
  if (given == 0)
    return;
  CutLimits everywhere{~0u, kExactPlaces, kExactSteps};
  if (cut(graph, placement, minSize, everywhere))
    return;
  descend(graph, placement, minSize, given);
  if (isLarge(graph))
    return;
  // These cuts move groups of nodes that gain only together. For two targets the result is exact if the budget lasts.
  CutLimits nearby{1, kNearbyPlaces, kExactSteps};
  uint64_t before;
  do
    before = countCarriedBytes(graph, placement.segment);
  while (cut(graph, placement, minSize, nearby) && countCarriedBytes(graph, placement.segment) < before);
}

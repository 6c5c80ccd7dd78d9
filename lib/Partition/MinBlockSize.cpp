// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/MinBlockSize.h"
#include "inlay/Partition/CanonicalOrder.h"
#include "inlay/Partition/SlackPlacement.h"
#include "inlay/Partition/TorchTensorRTSchedule.h"

#include "ExactLeastSize.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace inlay;

namespace {
/// Work that is spent on keeping nodes before small segments are dropped all at once: some per node and edge, and some
/// for graphs so small that it doesn't matter.
constexpr uint64_t kWorkPerItem = 32, kFreeWork = 1'000'000;
/// How many segments away a place for a node is looked for.
constexpr uint32_t kReach = 16;

/// Fills the small accelerator segments of a placement from other segments of their colour, and moves nodes out of
/// those that stay small. Every move keeps the order.
class Filler {
public:
  Filler(const ScheduleGraph &graph, Placement &placement, uint64_t least)
      : graph(graph), placement(placement), least(least), weight(placement.weights(graph)),
        members(placement.colours.size()) {
    for (NodeId node = 0; node < graph.size(); ++node)
      members[placement.segment[node]].push_back(node);
  }

  bool isSmall(uint32_t at) const { return canBeSmall(at) && weight[at] > 0 && weight[at] < least && isDemotable(at); }

  /// Small segments, the fullest first.
  std::vector<uint32_t> findSmall() const {
    std::vector<uint32_t> result;
    for (uint32_t at = 0; at < weight.size(); ++at)
      if (isSmall(at))
        result.push_back(at);
    std::stable_sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    return result;
  }

  void fill() {
    for (uint32_t at : findSmall())
      if (isSmall(at))
        fill(at);
  }

  /// The nodes of the segment that have no place in a segment that is large enough.
  std::vector<NodeId> findStuck(uint32_t at) {
    std::vector<NodeId> stuck;
    for (NodeId node : current(at))
      if (!findPlace(node))
        stuck.push_back(node);
    return stuck;
  }

  /// Moves what can move out of the segment; successors make room for their predecessors and the other way round.
  void disperse(uint32_t at) {
    std::vector<NodeId> nodes = current(at);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (std::optional<uint32_t> to = findPlace(*it))
        move(*it, *to);
    for (NodeId node : current(at))
      if (std::optional<uint32_t> to = findPlace(node))
        move(node, *to);
  }

  uint64_t work = 0;

private:
  bool canBeSmall(uint32_t at) const { return graph.isAccelerator(placement.colours[at]); }

  bool isDemotable(uint32_t at) const {
    return std::all_of(members[at].begin(), members[at].end(), [&](NodeId node) {
      return placement.segment[node] != at || graph.demoted(node, placement.colours[at]) != placement.colours[at];
    });
  }

  /// The members of a segment in topological order.
  const std::vector<NodeId> &current(uint32_t at) {
    std::vector<NodeId> &nodes = members[at];
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](NodeId node) { return placement.segment[node] != at; }),
                nodes.end());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    work += nodes.size();
    return nodes;
  }

  bool takes(uint32_t at, NodeId node) const {
    const ScheduleNode &info = graph.nodes[node];
    Colour colour = placement.colours[at];
    return info.colour == colour || (info.neutral && (info.allowed >> colour & 1));
  }

  /// The first and last segment the neighbours of the node leave it.
  std::pair<uint32_t, uint32_t> interval(NodeId node) {
    uint32_t first = 0, last = static_cast<uint32_t>(placement.colours.size() - 1);
    for (NodeId pred : graph.preds(node))
      first = std::max(first, placement.segment[pred]);
    for (NodeId succ : graph.succs(node))
      last = std::min(last, placement.segment[succ]);
    work += 2 + (graph.preds(node).last - graph.preds(node).first);
    return {first, last};
  }

  std::optional<uint32_t> findPlace(NodeId node) {
    auto [first, last] = interval(node);
    uint32_t at = placement.segment[node];
    for (uint32_t step = 1; step <= kReach; ++step) {
      if (at + step <= last && takes(at + step, node) && weight[at + step] >= least)
        return at + step;
      if (at >= first + step && takes(at - step, node) && weight[at - step] >= least)
        return at - step;
    }
    return std::nullopt;
  }

  void move(NodeId node, uint32_t to) {
    weight[placement.segment[node]] -= graph.nodes[node].weight;
    weight[to] += graph.nodes[node].weight;
    placement.segment[node] = to;
    members[to].push_back(node);
  }

  /// Takes the node if its segment can spare it and its neighbours allow.
  bool pull(NodeId node, uint32_t to) {
    uint32_t from = placement.segment[node];
    bool spared = !canBeSmall(from) || weight[from] < least || weight[from] >= least + graph.nodes[node].weight;
    if (!spared || !takes(to, node))
      return false;
    auto [first, last] = interval(node);
    if (first > to || last < to)
      return false;
    move(node, to);
    return true;
  }

  void fill(uint32_t at) {
    std::vector<std::pair<NodeId, uint32_t>> pulled;
    auto pullAll = [&](uint32_t from, bool backwards) {
      std::vector<NodeId> nodes = current(from);
      if (backwards)
        std::reverse(nodes.begin(), nodes.end());
      for (NodeId node : nodes)
        if (weight[at] < least && pull(node, at))
          pulled.emplace_back(node, from);
    };
    uint32_t count = static_cast<uint32_t>(weight.size());
    for (uint32_t step = 1; step <= kReach && weight[at] < least; ++step) {
      if (at >= step)
        pullAll(at - step, true);
      if (at + step < count)
        pullAll(at + step, false);
    }
    if (weight[at] < least)
      for (auto it = pulled.rbegin(); it != pulled.rend(); ++it)
        move(it->first, it->second);
  }

  const ScheduleGraph &graph;
  Placement &placement;
  uint64_t least;
  std::vector<uint64_t> weight;
  std::vector<std::vector<NodeId>> members;
};

struct Candidate {
  std::vector<ScheduleNode> nodes; ///< with the colours after demotion
  BoundedPlacement placed;
  uint64_t kept = 0;

  bool isBetterThan(const Candidate &other) const {
    return kept != other.kept ? kept > other.kept
                              : placed.placement.colours.size() < other.placed.placement.colours.size();
  }
};
} // namespace

static void demote(ScheduleGraph &graph, const Placement &placement, NodeId node) {
  graph.nodes[node].colour = graph.demoted(node, placement.colours[placement.segment[node]]);
  graph.nodes[node].neutral = false;
}

static uint64_t weighAccelerated(const ScheduleGraph &graph, const Placement &placement) {
  uint64_t kept = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (graph.isAccelerator(placement.colours[placement.segment[node]]))
      kept += graph.nodes[node].weight;
  return kept;
}

/// The weight of what would run on accelerators if segments could be of any size.
static uint64_t weighAccelerated(const ScheduleGraph &graph) {
  uint64_t weight = 0;
  for (const ScheduleNode &node : graph.nodes)
    weight += graph.isAccelerator(node.colour) ? node.weight : 0;
  return weight;
}

static Candidate makeCandidate(const ScheduleGraph &graph, BoundedPlacement placed) {
  placed.placement.compact();
  uint64_t kept = weighAccelerated(graph, placed.placement);
  return {graph.nodes, std::move(placed), kept};
}

static BoundedPlacement place(const ScheduleGraph &graph, Strategy strategy, bool backwards) {
  if (strategy == Strategy::InOrder)
    return placeInOrder(graph);
  if (!backwards)
    return placeByLevels(graph);
  BoundedPlacement placed = placeByLevels(graph.reversed());
  Placement &placement = placed.placement;
  std::reverse(placement.colours.begin(), placement.colours.end());
  std::reverse(placement.segment.begin(), placement.segment.end());
  for (uint32_t &at : placement.segment)
    at = static_cast<uint32_t>(placement.colours.size()) - 1 - at;
  std::reverse(placed.witness.begin(), placed.witness.end());
  for (NodeId &node : placed.witness)
    node = graph.size() - 1 - node;
  settleNeutral(graph, placement);
  return placed;
}

/// Demotes whole small segments, as far as their nodes can be, and keeps the rest of the placement as it is, so that no
/// other segment shrinks.
static Candidate dropSmall(ScheduleGraph graph, BoundedPlacement placed, uint64_t least) {
  Placement &placement = placed.placement;
  std::vector<bool> dropped(placement.colours.size());
  for (uint32_t at : Filler(graph, placement, least).findSmall())
    dropped[at] = true;
  std::vector<std::optional<Colour>> to(placement.colours.size());
  for (NodeId node = 0; node < graph.size(); ++node) {
    uint32_t at = placement.segment[node];
    if (!dropped[at])
      continue;
    Colour colour = placement.colours[at];
    while (graph.demoted(node, colour) != colour)
      colour = graph.demoted(node, colour);
    graph.nodes[node].colour = colour;
    graph.nodes[node].neutral = false;
    if (to[at].value_or(colour) != colour)
      return {}; // its nodes part ways: the other candidates deal with that
    to[at] = colour;
  }
  for (size_t at = 0; at < to.size(); ++at)
    placement.colours[at] = to[at].value_or(placement.colours[at]);
  placed.lowerBound = 0;
  placed.witness.clear();
  placement.compact();
  if (!Filler(graph, placement, least).findSmall().empty())
    return {};
  return makeCandidate(graph, std::move(placed));
}

/// Demotes the stuck nodes of the segment that has the fewest, or of all small ones once `frugal` is false. Returns
/// false if nothing had to be demoted because all nodes found another place.
static bool demoteStuck(ScheduleGraph &graph, const Placement &placement, Filler &filler, bool frugal) {
  std::vector<NodeId> victims;
  std::optional<uint32_t> chosen;
  for (uint32_t at : filler.findSmall()) {
    std::vector<NodeId> stuck = filler.findStuck(at);
    if (!frugal) {
      victims.insert(victims.end(), stuck.begin(), stuck.end());
    } else if (!chosen || stuck.size() < victims.size()) {
      chosen = at;
      victims = std::move(stuck);
    }
  }
  if (chosen) {
    filler.disperse(*chosen);
    victims = filler.findStuck(*chosen);
  }
  for (NodeId node : victims)
    demote(graph, placement, node);
  return !victims.empty();
}

/// Demotes whatever is in a small segment until none is.
static Candidate demoteAllSmall(ScheduleGraph graph, Strategy strategy, uint64_t least) {
  while (true) {
    BoundedPlacement placed = place(graph, strategy, false);
    std::vector<uint32_t> small = Filler(graph, placed.placement, least).findSmall();
    if (small.empty())
      return makeCandidate(graph, std::move(placed));
    std::vector<bool> isSmall(placed.placement.colours.size());
    for (uint32_t at : small)
      isSmall[at] = true;
    for (NodeId node = 0; node < graph.size(); ++node)
      if (isSmall[placed.placement.segment[node]])
        demote(graph, placed.placement, node);
  }
}

static Candidate demoteUntilLarge(ScheduleGraph graph, uint64_t least, bool backwards) {
  uint64_t budget = kFreeWork + kWorkPerItem * (graph.size() + graph.edgeCount()), spent = 0;
  while (true) {
    BoundedPlacement placed = place(graph, Strategy::Levels, backwards);
    Filler filler(graph, placed.placement, least);
    spent += graph.size() + graph.edgeCount();
    filler.fill();
    bool demoted = false;
    while (!demoted && !filler.findSmall().empty()) {
      demoted = demoteStuck(graph, placed.placement, filler, spent + filler.work < budget);
      spent += placed.placement.colours.size() + 1;
      if (!demoted && spent + filler.work >= budget)
        break;
    }
    spent += filler.work;
    if (!demoted && filler.findSmall().empty())
      return makeCandidate(graph, std::move(placed));
    if (!demoted) // out of budget with nodes that could still move: drop what is small
      return dropSmall(graph, std::move(placed), least);
  }
}

/// Moves late nodes and, if the graph wants that, whatever saves bytes without adding segments.
static Schedule finishWithSlack(const ScheduleGraph &graph, BoundedPlacement placed, uint64_t least) {
  sinkLate(graph, placed.placement, least);
  Schedule result = finishSchedule(graph, placed);
  uint64_t before = result.bytesCarried = countCarriedBytes(graph, result);
  if (graph.fewestBytes) {
    placeWithSlack(graph, placed.placement, least);
    Schedule moved = finishSchedule(graph, std::move(placed));
    moved.bytesCarried = countCarriedBytes(graph, moved);
    if (moved.segments.size() <= result.segments.size() && moved.bytesCarried < before)
      result = std::move(moved);
  }
  result.bytesCarriedBefore = before;
  return result;
}

/// The better of what both starts make, where both need as few segments; nothing if they have small ones.
static std::optional<Schedule> scheduleWithoutDemotion(const ScheduleGraph &graph, uint64_t least) {
  std::optional<Schedule> best;
  for (BoundedPlacement &placed : placeByLevelsFromEither(graph)) {
    if (least > 1 && !Filler(graph, placed.placement, least).findSmall().empty())
      continue;
    Schedule made = finishWithSlack(graph, std::move(placed), least);
    auto key = [](const Schedule &schedule) { return std::pair(schedule.segments.size(), schedule.bytesCarried); };
    if (!best) {
      best = std::move(made);
    } else if (graph.fewestBytes && key(made) < key(*best)) {
      made.bytesCarriedBefore = best->bytesCarriedBefore;
      best = std::move(made);
    }
  }
  return best;
}

/// Slack first, targeted demotion after, on the graph and its reverse; and dropping what is small, as others do.
template <typename Consumer>
static void considerHeuristics(const ScheduleGraph &graph, uint64_t least, Consumer consider) {
  consider(demoteUntilLarge(graph, least, false));
  consider(demoteUntilLarge(graph, least, true));
  for (BoundedPlacement &placed : placeByLevelsFromEither(graph))
    consider(dropSmall(graph, std::move(placed), least));
}

/// The same graph for front ends that know no neutral nodes: these count as accelerated, and may keep more so.
static ScheduleGraph withoutNeutral(ScheduleGraph graph) {
  for (ScheduleNode &node : graph.nodes)
    node.neutral = false;
  return graph;
}

static Candidate walkLikeTorchTensorRT(ScheduleGraph graph, uint64_t least) {
  BoundedPlacement placed{{std::vector<uint32_t>(graph.size()), {}}, 0, {}};
  for (const ScheduledSegment &segment : scheduleLikeTorchTensorRT(graph, static_cast<int64_t>(least)).segments) {
    for (NodeId node : segment.nodes)
      placed.placement.segment[node] = static_cast<uint32_t>(placed.placement.colours.size());
    placed.placement.colours.push_back(segment.colour);
  }
  return makeCandidate(graph, std::move(placed));
}

static Candidate placeExactly(ScheduleGraph graph, uint64_t least) {
  BoundedPlacement placed;
  if (!placeWithLeastSizeExactly(graph, least, placed.placement))
    return {};
  return makeCandidate(graph, std::move(placed));
}

static Schedule scheduleByLevels(ScheduleGraph &graph, uint64_t least) {
  if (std::optional<Schedule> made = scheduleWithoutDemotion(graph, least))
    return std::move(*made);
  Candidate best;
  auto consider = [&](Candidate other) {
    if (!other.nodes.empty() && (best.nodes.empty() || other.isBetterThan(best)))
      best = std::move(other);
  };
  considerHeuristics(graph, least, consider);
  ScheduleGraph plain = withoutNeutral(graph);
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const ScheduleNode &node) { return node.neutral; }))
    considerHeuristics(plain, least, consider);
  consider(dropSmall(plain, placeByTurns(plain), least));
  consider(walkLikeTorchTensorRT(plain, least));
  if (best.nodes.empty())
    best = demoteAllSmall(graph, Strategy::Levels, least);
  if (best.kept < weighAccelerated(graph))
    consider(placeExactly(graph, least));
  graph.nodes = best.nodes;
  return finishWithSlack(graph, std::move(best.placed), least);
}

static Schedule scheduleInOrder(ScheduleGraph &graph, uint64_t least) {
  Candidate made = demoteAllSmall(graph, Strategy::InOrder, least);
  graph.nodes = made.nodes;
  return finishSchedule(graph, std::move(made.placed));
}

/// Ties go by the numbers of nodes, except where the answer is exact and cheap.
static bool dependsOnNumbers(const ScheduleGraph &graph, uint64_t least) {
  return least > 1 || graph.fewestBytes ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ScheduleNode &node) { return node.own || node.apart || node.colour > 1; });
}

/// Schedules the graph with its nodes in canonical order.
static Schedule scheduleCanonically(ScheduleGraph &graph, uint64_t least) {
  std::vector<NodeId> order = orderCanonically(graph);
  ScheduleGraph canonical = graph.reordered(order);
  Schedule result = scheduleByLevels(canonical, least);
  for (NodeId node = 0; node < graph.size(); ++node)
    graph.nodes[order[node]] = canonical.nodes[node];
  auto rename = [&](NodeId &node) { node = order[node]; };
  for (ScheduledSegment &segment : result.segments) {
    std::for_each(segment.nodes.begin(), segment.nodes.end(), rename);
    std::sort(segment.nodes.begin(), segment.nodes.end());
  }
  std::for_each(result.witness.begin(), result.witness.end(), rename);
  return result;
}

/// What Torch-TensorRT's walk makes of the order in which the nodes are written, if that keeps more than all else. It
/// depends on that order, and is there for a promise; graphs that need it are rare.
static Schedule keepNoLessThanTorchTensorRT(ScheduleGraph &graph, const ScheduleGraph &original, Schedule made,
                                            uint64_t least) {
  Candidate other = walkLikeTorchTensorRT(withoutNeutral(original), least);
  if (other.kept <= made.accelerated(original))
    return made;
  graph.nodes = other.nodes;
  return finishWithSlack(graph, std::move(other.placed), least);
}

static Schedule scheduleBest(ScheduleGraph &graph, uint64_t least) {
  if (!dependsOnNumbers(graph, least))
    return scheduleByLevels(graph, least);
  if (least <= 1)
    return scheduleCanonically(graph, least);
  ScheduleGraph original = graph;
  Schedule made = scheduleCanonically(graph, least);
  bool keepsAll = made.accelerated(original) == weighAccelerated(original);
  return keepsAll ? made : keepNoLessThanTorchTensorRT(graph, original, std::move(made), least);
}

static Schedule schedule(ScheduleGraph &graph, Strategy strategy, uint64_t least) {
  switch (strategy) {
  case Strategy::TorchTensorRT:
    return scheduleLikeTorchTensorRT(graph, static_cast<int64_t>(least));
  case Strategy::InOrder:
    return scheduleInOrder(graph, least);
  default:
    return scheduleBest(graph, least);
  }
}

Schedule inlay::scheduleWithLeastSize(ScheduleGraph &graph, Strategy strategy, int64_t least) {
  Schedule result = schedule(graph, strategy, static_cast<uint64_t>(std::max<int64_t>(least, 1)));
  if (result.lowerBound == 0) // not made by levels, or changed since
    result.lowerBound = std::max(placeByLevels(graph).lowerBound, boundSegments(graph));
  result.bytesCarried = countCarriedBytes(graph, result);
  if (strategy != Strategy::Levels)
    result.bytesCarriedBefore = result.bytesCarried;
  return result;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps as many nodes as possible on accelerators in segments of a minimum size, by several heuristics.
// ExactMinSize.cpp is the exact search, and MinSizeFiller.h fills small segments.

#include "inlay/Scheduling/MinSizeSchedule.h"
#include "CanonicalOrder.h"
#include "SlackPlacement.h"
#include "inlay/Scheduling/TorchTensorRTSchedule.h"

#include "ExactMinSize.h"
#include "MinSizeFiller.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

using namespace inlay;

namespace {
/// Budget of work for keeping nodes on accelerators: an amount per node and edge, plus a constant that small graphs
/// never exceed. When it is spent, all small segments are dropped at once.
constexpr uint64_t kWorkPerItem = 32, kBaseWork = 1'000'000;
/// Maximum number of random orders that the Torch-TensorRT walk is tried on.
constexpr uint64_t kMaxOrders = 16;

struct Candidate {
  std::vector<ScheduleNode> nodes; ///< With the targets after demotion.
  BoundedPlacement placed;
  uint64_t kept = 0;

  bool isBetterThan(const Candidate &other) const {
    return kept != other.kept ? kept > other.kept
                              : placed.placement.targets.size() < other.placed.placement.targets.size();
  }
};
} // namespace

static void demote(ScheduleGraph &graph, const Placement &placement, NodeId node) {
  graph.nodes[node].target = graph.demoted(node, placement.targets[placement.segment[node]]);
  graph.nodes[node].neutral = false;
}

static uint64_t countAcceleratedOps(const ScheduleGraph &graph, const Placement &placement) {
  uint64_t kept = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (graph.isAccelerator(placement.targets[placement.segment[node]]))
      kept += graph.nodes[node].opCount;
  return kept;
}

/// Returns the op count that would be on accelerators if segments could have any size.
static uint64_t countAcceleratedOps(const ScheduleGraph &graph) {
  uint64_t opCount = 0;
  for (const ScheduleNode &node : graph.nodes)
    opCount += graph.isAccelerator(node.target) ? node.opCount : 0;
  return opCount;
}

static Candidate makeCandidate(const ScheduleGraph &graph, BoundedPlacement placed) {
  placed.placement.compact();
  uint64_t kept = countAcceleratedOps(graph, placed.placement);
  return {graph.nodes, std::move(placed), kept};
}

static BoundedPlacement place(const ScheduleGraph &graph, Strategy strategy, bool backwards) {
  if (strategy == Strategy::InOrder)
    return placeInOrder(graph);
  if (!backwards)
    return placeByLevels(graph);
  BoundedPlacement placed = placeByLevels(graph.reversed());
  Placement &placement = placed.placement;
  std::reverse(placement.targets.begin(), placement.targets.end());
  std::reverse(placement.segment.begin(), placement.segment.end());
  for (uint32_t &at : placement.segment)
    at = static_cast<uint32_t>(placement.targets.size()) - 1 - at;
  std::reverse(placed.witness.begin(), placed.witness.end());
  for (NodeId &node : placed.witness)
    node = graph.size() - 1 - node;
  settleNeutral(graph, placement);
  return placed;
}

/// Demotes all nodes of small segments to the last target that they may take. The rest of the placement stays as it is,
/// so no other segment shrinks. Returns an empty candidate if the nodes of a segment get different targets, or if a
/// small segment remains.
static Candidate dropSmall(ScheduleGraph graph, BoundedPlacement placed, uint64_t minSize) {
  Placement &placement = placed.placement;
  std::vector<bool> dropped(placement.targets.size());
  for (uint32_t at : MinSizeFiller(graph, placement, minSize).findSmall())
    dropped[at] = true;
  std::vector<std::optional<TargetIndex>> to(placement.targets.size());
  for (NodeId node = 0; node < graph.size(); ++node) {
    uint32_t at = placement.segment[node];
    if (!dropped[at])
      continue;
    TargetIndex target = placement.targets[at];
    while (graph.demoted(node, target) != target)
      target = graph.demoted(node, target);
    graph.nodes[node].target = target;
    graph.nodes[node].neutral = false;
    if (to[at].value_or(target) != target)
      return {}; // The nodes of this segment get different targets. Other candidates handle this case.
    to[at] = target;
  }
  for (size_t at = 0; at < to.size(); ++at)
    placement.targets[at] = to[at].value_or(placement.targets[at]);
  placed.lowerBound = 0;
  placed.witness.clear();
  placement.compact();
  if (!MinSizeFiller(graph, placement, minSize).findSmall().empty())
    return {};
  return makeCandidate(graph, std::move(placed));
}

/// Demotes the stuck nodes of the small segment that has the fewest of them, or of all small segments if `frugal` is
/// false. Returns false if nothing had to be demoted because all nodes found another place.
static bool demoteStuck(ScheduleGraph &graph, const Placement &placement, MinSizeFiller &filler, bool frugal) {
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

/// Demotes the nodes of small segments until there are none.
static Candidate demoteAllSmall(ScheduleGraph graph, Strategy strategy, uint64_t minSize) {
  while (true) {
    BoundedPlacement placed = place(graph, strategy, false);
    std::vector<uint32_t> small = MinSizeFiller(graph, placed.placement, minSize).findSmall();
    if (small.empty())
      return makeCandidate(graph, std::move(placed));
    std::vector<bool> isSmall(placed.placement.targets.size());
    for (uint32_t at : small)
      isSmall[at] = true;
    for (NodeId node = 0; node < graph.size(); ++node)
      if (isSmall[placed.placement.segment[node]])
        demote(graph, placed.placement, node);
  }
}

/// Fills small segments and demotes stuck nodes until no segment is small or the budget is spent.
static Candidate demoteUntilLarge(ScheduleGraph graph, uint64_t minSize, bool backwards) {
  uint64_t budget = kBaseWork + kWorkPerItem * (graph.size() + graph.edgeCount()), spent = 0;
  while (true) {
    BoundedPlacement placed = place(graph, Strategy::Levels, backwards);
    MinSizeFiller filler(graph, placed.placement, minSize);
    spent += graph.size() + graph.edgeCount();
    filler.fill();
    bool demoted = false;
    while (!demoted && !filler.findSmall().empty()) {
      demoted = demoteStuck(graph, placed.placement, filler, spent + filler.work < budget);
      spent += placed.placement.targets.size() + 1;
      if (!demoted && spent + filler.work >= budget)
        break;
    }
    spent += filler.work;
    if (!demoted && filler.findSmall().empty())
      return makeCandidate(graph, std::move(placed));
    if (!demoted) // The budget is spent, but nodes could still move.
      return dropSmall(graph, std::move(placed), minSize);
  }
}

/// Sinks nodes. If `graph.fewestBytes` is set, also moves nodes where this saves bytes without adding segments.
static Schedule finishWithSlack(const ScheduleGraph &graph, BoundedPlacement placed, uint64_t minSize) {
  sinkToUsers(graph, placed.placement, minSize);
  Schedule result = finishSchedule(graph, placed);
  uint64_t before = result.bytesCarried = countCarriedBytes(graph, result);
  if (graph.fewestBytes) {
    placeWithSlack(graph, placed.placement, minSize);
    Schedule moved = finishSchedule(graph, std::move(placed));
    moved.bytesCarried = countCarriedBytes(graph, moved);
    if (moved.segments.size() <= result.segments.size() && moved.bytesCarried < before)
      result = std::move(moved);
  }
  result.bytesCarriedBefore = before;
  return result;
}

/// Returns the placements from which the reduction of carried bytes starts. For a large graph, this is only the one
/// that carries fewer bytes.
static std::vector<BoundedPlacement> placeToStartFrom(const ScheduleGraph &graph) {
  std::vector<BoundedPlacement> starts = placeByLevelsFromEither(graph);
  if (starts.size() == 2 && graph.fewestBytes && isLarge(graph)) {
    auto count = [&](const BoundedPlacement &placed) { return countCarriedBytes(graph, placed.placement.segment); };
    if (count(starts[1]) < count(starts[0]))
      std::swap(starts[0], starts[1]);
    starts.pop_back();
  }
  return starts;
}

/// Returns the better of the schedules that start with either target, or nothing if both have small segments.
static std::optional<Schedule> scheduleWithoutDemotion(const ScheduleGraph &graph, uint64_t minSize) {
  std::optional<Schedule> best;
  for (BoundedPlacement &placed : placeToStartFrom(graph)) {
    if (minSize > 1 && !MinSizeFiller(graph, placed.placement, minSize).findSmall().empty())
      continue;
    Schedule made = finishWithSlack(graph, std::move(placed), minSize);
    auto key = [](const Schedule &schedule) { return std::pair(schedule.segments.size(), schedule.bytesCarried); };
    if (!best) {
      best = std::move(made);
    } else if (graph.fewestBytes && key(made) < key(*best) && made.accelerated(graph) >= best->accelerated(graph)) {
      made.bytesCarriedBefore = best->bytesCarriedBefore;
      best = std::move(made);
    }
  }
  return best;
}

/// Considers candidates that fill small segments first and then demote selected nodes, for the graph and its reverse,
/// and candidates that drop small segments as other partitioners do.
template <typename Consumer>
static void considerHeuristics(const ScheduleGraph &graph, uint64_t minSize, Consumer consider) {
  consider(demoteUntilLarge(graph, minSize, false));
  consider(demoteUntilLarge(graph, minSize, true));
  for (BoundedPlacement &placed : placeByLevelsFromEither(graph))
    consider(dropSmall(graph, std::move(placed), minSize));
}

/// Returns the same graph without neutral nodes, as other front ends see it. These nodes then count as accelerated,
/// which may keep more of them.
static ScheduleGraph withoutNeutral(ScheduleGraph graph) {
  for (ScheduleNode &node : graph.nodes)
    node.neutral = false;
  return graph;
}

static Candidate walkLikeTorchTensorRT(ScheduleGraph graph, uint64_t minSize) {
  BoundedPlacement placed{{std::vector<uint32_t>(graph.size()), {}}, 0, {}};
  for (const ScheduledSegment &segment : scheduleLikeTorchTensorRT(graph, static_cast<int64_t>(minSize)).segments) {
    for (NodeId node : segment.nodes)
      placed.placement.segment[node] = static_cast<uint32_t>(placed.placement.targets.size());
    placed.placement.targets.push_back(segment.target);
  }
  return makeCandidate(graph, std::move(placed));
}

/// Returns a random topological order: each next node is drawn from all nodes that are ready.
static std::vector<NodeId> drawOrder(const ScheduleGraph &graph, std::minstd_rand &random) {
  std::vector<size_t> missing(graph.size());
  std::vector<NodeId> ready, order;
  for (NodeId node = 0; node < graph.size(); ++node) {
    ScheduleGraph::Range preds = graph.preds(node);
    missing[node] = static_cast<size_t>(preds.end() - preds.begin());
    if (missing[node] == 0)
      ready.push_back(node);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    NodeId node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (NodeId next : graph.succs(node))
      if (--missing[next] == 0)
        ready.push_back(next);
  }
  return order;
}

/// Considers the results of the Torch-TensorRT walk for random orders, since the walk depends on the order.
template <typename Consumer>
static void walkOtherOrders(const ScheduleGraph &graph, uint64_t minSize, Consumer consider) {
  std::minstd_rand random; // The default seed, so that all runs draw the same orders.
  uint64_t orders = std::min<uint64_t>(kMaxOrders, kBaseWork / (graph.size() + graph.edgeCount() + 1));
  for (uint64_t i = 0; i < orders; ++i) {
    std::vector<NodeId> order = drawOrder(graph, random);
    Candidate walked = walkLikeTorchTensorRT(graph.reordered(order), minSize), made = walked;
    for (NodeId node = 0; node < graph.size(); ++node) {
      made.nodes[order[node]] = walked.nodes[node];
      made.placed.placement.segment[order[node]] = walked.placed.placement.segment[node];
    }
    consider(std::move(made));
  }
}

static Candidate placeExactly(ScheduleGraph graph, uint64_t minSize) {
  BoundedPlacement placed;
  if (!placeWithMinSizeExactly(graph, minSize, placed.placement))
    return {};
  return makeCandidate(graph, std::move(placed));
}

/// Returns a placement with the fewest segments for the targets of `made`, or an empty candidate if it has small
/// segments.
static Candidate placeAnew(ScheduleGraph graph, const Candidate &made, uint64_t minSize) {
  graph.nodes = made.nodes;
  const Placement &placement = made.placed.placement;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (!graph.nodes[node].neutral)
      graph.nodes[node].target = placement.targets[placement.segment[node]];
  Candidate best;
  for (BoundedPlacement &placed : placeByLevelsFromEither(graph)) {
    if (!MinSizeFiller(graph, placed.placement, minSize).findSmall().empty())
      continue;
    Candidate other = makeCandidate(graph, std::move(placed));
    if (best.nodes.empty() || other.isBetterThan(best))
      best = std::move(other);
  }
  return best;
}

static Schedule scheduleByLevels(ScheduleGraph &graph, uint64_t minSize) {
  if (std::optional<Schedule> made = scheduleWithoutDemotion(graph, minSize))
    return std::move(*made);
  Candidate best;
  auto consider = [&](Candidate other) {
    if (!other.nodes.empty() && (best.nodes.empty() || other.isBetterThan(best)))
      best = std::move(other);
  };
  considerHeuristics(graph, minSize, consider);
  ScheduleGraph plain = withoutNeutral(graph);
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const ScheduleNode &node) { return node.neutral; }))
    considerHeuristics(plain, minSize, consider);
  consider(dropSmall(plain, placeByTurns(plain), minSize));
  consider(walkLikeTorchTensorRT(plain, minSize));
  if (best.nodes.empty())
    best = demoteAllSmall(graph, Strategy::Levels, minSize);
  if (best.kept < countAcceleratedOps(graph)) {
    walkOtherOrders(plain, minSize, consider);
    consider(placeExactly(graph, minSize));
  }
  consider(placeAnew(graph, best, minSize));
  graph.nodes = best.nodes;
  return finishWithSlack(graph, std::move(best.placed), minSize);
}

static Schedule scheduleInOrder(ScheduleGraph &graph, uint64_t minSize) {
  Candidate made = demoteAllSmall(graph, Strategy::InOrder, minSize);
  graph.nodes = made.nodes;
  return finishSchedule(graph, std::move(made.placed));
}

/// Returns true if the schedule may depend on the numbers of nodes, which break ties. Without these features of the
/// graph, the answer is exact and unique.
static bool dependsOnNumbers(const ScheduleGraph &graph, uint64_t minSize) {
  return minSize > 1 || graph.fewestBytes ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ScheduleNode &node) { return node.isolatedOnHost || node.isolated || node.target > 1; });
}

/// Schedules the graph with its nodes in canonical order.
static Schedule scheduleCanonically(ScheduleGraph &graph, uint64_t minSize) {
  std::vector<NodeId> order = orderCanonically(graph);
  ScheduleGraph canonical = graph.reordered(order);
  Schedule result = scheduleByLevels(canonical, minSize);
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

/// Returns the op count on accelerators of the nodes that are not neutral in `original`. Neutral nodes run where their
/// neighbors do.
static uint64_t countNonNeutralAcceleratedOps(const ScheduleGraph &original, const Schedule &made) {
  uint64_t opCount = 0;
  for (const ScheduledSegment &segment : made.segments)
    if (original.isAccelerator(segment.target))
      for (NodeId node : segment.nodes)
        opCount += original.nodes[node].neutral ? 0 : original.nodes[node].opCount;
  return opCount;
}

/// Returns the result of the Torch-TensorRT walk for the order in which the nodes are written if it keeps more than
/// `made`, else `made`. The result then depends on that order. This fulfills the guarantee of `scheduleWithMinSize`.
/// Few graphs need it.
static Schedule keepNoLessThanTorchTensorRT(ScheduleGraph &graph, const ScheduleGraph &original, Schedule made,
                                            uint64_t minSize) {
  Candidate other = walkLikeTorchTensorRT(withoutNeutral(original), minSize);
  Schedule walked = finishSchedule(original, other.placed);
  if (countNonNeutralAcceleratedOps(original, walked) <= countNonNeutralAcceleratedOps(original, made))
    return made;
  graph.nodes = other.nodes;
  return finishWithSlack(graph, std::move(other.placed), minSize);
}

static Schedule scheduleBest(ScheduleGraph &graph, uint64_t minSize) {
  if (!dependsOnNumbers(graph, minSize))
    return scheduleByLevels(graph, minSize);
  if (minSize <= 1)
    return scheduleCanonically(graph, minSize);
  ScheduleGraph original = graph;
  Schedule made = scheduleCanonically(graph, minSize);
  uint64_t maxKept = 0;
  for (const ScheduleNode &node : original.nodes)
    maxKept += original.isAccelerator(node.target) && !node.neutral ? node.opCount : 0;
  return countNonNeutralAcceleratedOps(original, made) == maxKept
             ? made
             : keepNoLessThanTorchTensorRT(graph, original, std::move(made), minSize);
}

static Schedule schedule(ScheduleGraph &graph, Strategy strategy, uint64_t minSize) {
  switch (strategy) {
  case Strategy::TorchTensorRT:
    return scheduleLikeTorchTensorRT(graph, static_cast<int64_t>(minSize));
  case Strategy::InOrder:
    return scheduleInOrder(graph, minSize);
  default:
    return scheduleBest(graph, minSize);
  }
}

Schedule inlay::scheduleWithMinSize(ScheduleGraph &graph, Strategy strategy, int64_t minSize) {
  Schedule result = schedule(graph, strategy, static_cast<uint64_t>(std::max<int64_t>(minSize, 1)));
  if (result.lowerBound == 0) // Not made by levels, or demoted afterwards.
    result.lowerBound = std::max(placeByLevels(graph).lowerBound, boundSegments(graph));
  if (strategy != Strategy::Levels)
    result.bytesCarried = result.bytesCarriedBefore = countCarriedBytes(graph, result);
  return result;
}

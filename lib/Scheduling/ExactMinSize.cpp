// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves `min-block-size` exactly in small graphs. MinSizeSchedule.cpp calls it and has the heuristics for larger
// graphs.

#include "ExactMinSize.h"

#include <algorithm>
#include <tuple>

using namespace inlay;

namespace {
/// The set of nodes that have run is a 64-bit mask.
constexpr NodeId kMaxNodes = 64;
/// Maximum number of states. Each state takes about a microsecond and 48 bytes.
constexpr size_t kMaxStates = 30'000;
constexpr TargetIndex kNoTarget = kMaxTargets;

/// The best way to run a set of nodes with a given last segment.
struct State {
  uint64_t done = 0;
  uint64_t opCount = 0; ///< Op count of the last segment, at most the minimum size.
  uint64_t kept = 0;    ///< Number of ops on accelerators.
  uint32_t segments = 0;
  uint32_t parent = 0; ///< Index of the state that the last node was added to.
  NodeId node = 0;
  TargetIndex taken = kNoTarget;  ///< Target of `node`.
  TargetIndex target = kNoTarget; ///< Target of the last segment; kNoTarget if no node may join it.
  bool excused = false;           ///< True if the last segment may be small because a node of it cannot be demoted.

  auto key() const { return std::tuple(done, target, opCount, excused); }
  bool isBefore(const State &other) const {
    return std::tuple(key(), ~kept, segments) < std::tuple(other.key(), ~other.kept, other.segments);
  }
};

class DynamicProgram {
public:
  DynamicProgram(const ScheduleGraph &graph, uint64_t minSize) : graph(graph), minSize(minSize), needs(graph.size()) {
    for (NodeId node = 0; node < graph.size(); ++node)
      for (NodeId pred : graph.preds(node))
        needs[node] |= uint64_t(1) << pred;
  }

  /// Works layer by layer: all states of a layer have run the same number of nodes. Returns false if there are too many
  /// states.
  bool run() {
    states.push_back({});
    size_t first = 0;
    for (NodeId layer = 0; layer < graph.size(); ++layer) {
      size_t end = states.size();
      std::vector<State> grown;
      for (size_t at = first; at < end; ++at)
        grow(static_cast<uint32_t>(at), grown);
      std::sort(grown.begin(), grown.end(), [](const State &a, const State &b) { return a.isBefore(b); });
      for (const State &state : grown)
        if (states.size() == end || states.back().key() != state.key())
          states.push_back(state);
      if (states.size() > kMaxStates || states.size() == end)
        return false;
      first = end;
    }
    best = findBest(first);
    return best;
  }

  void apply(ScheduleGraph &result, Placement &placement) const {
    placement.segment.assign(graph.size(), 0);
    placement.targets.assign(best->segments, 0);
    for (const State *state = best; state->segments > 0; state = &states[state->parent]) {
      ScheduleNode &node = result.nodes[state->node];
      placement.segment[state->node] = state->segments - 1;
      placement.targets[state->segments - 1] = state->taken;
      if (!node.neutral)
        node.target = state->taken;
    }
  }

private:
  bool isClosed(const State &state) const {
    return state.target == kNoTarget || !graph.isAccelerator(state.target) || state.opCount >= minSize || state.excused;
  }

  void grow(uint32_t at, std::vector<State> &grown) {
    // A node that can only run on the target of the open host segment loses nothing by joining this segment.
    for (NodeId node = 0; node < graph.size(); ++node) {
      const ScheduleNode &info = graph.nodes[node];
      bool isBound = !info.neutral && !info.isolatedOnHost && !info.isolated && !graph.isAccelerator(info.target);
      if (isBound && info.target == states[at].target && isReady(node, states[at]))
        return add(at, node, info.target, grown);
    }
    for (NodeId node = 0; node < graph.size(); ++node)
      if (isReady(node, states[at]))
        for (TargetIndex target = 0; target < kMaxTargets; ++target)
          if (mayTake(node, target))
            add(at, node, target, grown);
  }

  bool isReady(NodeId node, const State &state) const {
    return !(state.done >> node & 1) && !(needs[node] & ~state.done);
  }

  bool mayTake(NodeId node, TargetIndex target) const {
    const ScheduleNode &info = graph.nodes[node];
    bool isDemotable = info.neutral || (graph.isAccelerator(info.target) && !info.pinned && target > info.target);
    return target == info.target || (isDemotable && (info.allowed >> target & 1));
  }

  void add(uint32_t at, NodeId node, TargetIndex target, std::vector<State> &grown) {
    const State &state = states[at];
    const ScheduleNode &info = graph.nodes[node];
    bool isAccelerated = graph.isAccelerator(target), isIsolatedOn = graph.isIsolatedOn(node, target);
    bool joins = !isIsolatedOn && target == state.target;
    if (!joins && !isClosed(state))
      return;
    if (isIsolatedOn && isAccelerated && info.opCount < minSize && graph.demoted(node, target) != target)
      return;
    State next = state;
    next.done |= uint64_t(1) << node;
    next.parent = at;
    next.node = node;
    next.segments += !joins;
    next.taken = target;
    next.target = isIsolatedOn ? kNoTarget : target;
    next.kept += isAccelerated ? info.opCount : 0;
    next.opCount = isAccelerated ? std::min(minSize, (joins ? state.opCount : 0) + info.opCount) : 0;
    next.excused = isAccelerated && ((joins && state.excused) || graph.demoted(node, target) == target);
    grown.push_back(next);
  }

  const State *findBest(size_t first) const {
    const State *result = nullptr;
    for (size_t at = first; at < states.size(); ++at)
      if (isClosed(states[at]) &&
          (!result || std::pair(states[at].kept, ~states[at].segments) > std::pair(result->kept, ~result->segments)))
        result = &states[at];
    return result;
  }

  const ScheduleGraph &graph;
  uint64_t minSize;
  std::vector<uint64_t> needs;
  std::vector<State> states;
  const State *best = nullptr;
};
} // namespace

bool inlay::placeWithMinSizeExactly(ScheduleGraph &graph, uint64_t minSize, Placement &placement) {
  if (graph.size() > kMaxNodes)
    return false;
  DynamicProgram program(graph, minSize);
  if (!program.run())
    return false;
  program.apply(graph, placement);
  return true;
}

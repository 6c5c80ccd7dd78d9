// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Closure.h"

#include <algorithm>
#include <limits>

using namespace inlay;

namespace {
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 2;

/// The residual graph: arc 2e and arc 2e + 1 are each other's reverse.
class Flow {
public:
  Flow(const std::vector<int64_t> &costs, const std::vector<std::pair<uint32_t, uint32_t>> &needs)
      : source(static_cast<uint32_t>(costs.size())), sink(source + 1), start(source + 3) {
    for (uint32_t item = 0; item < source; ++item)
      if (costs[item] < 0)
        addArc(source, item, -costs[item]);
      else if (costs[item] > 0)
        addArc(item, sink, costs[item]);
    for (auto [item, needed] : needs)
      addArc(item, needed, kNoLimit);
    sortArcs();
  }

  /// False, with nothing left of the budget, if it takes more steps than that.
  bool saturate(uint64_t &budget) {
    for (measure(sink, 1); distance[source] != kFar; measure(sink, 1)) {
      next.assign(start.begin(), start.end() - 1);
      block();
      if (steps > budget) {
        budget = 0;
        return false;
      }
    }
    budget -= std::min(budget, steps);
    return true;
  }

  /// After `saturate`: what the source still reaches.
  const std::vector<uint32_t> &measureFromSource() {
    measure(source, 0);
    return distance;
  }

  static constexpr uint32_t kFar = ~0u;

private:
  void addArc(uint32_t from, uint32_t to, int64_t capacity) {
    heads.push_back(to);
    heads.push_back(from);
    room.push_back(capacity);
    room.push_back(0);
  }
  uint32_t tail(uint32_t arc) const { return heads[arc ^ 1]; }

  void sortArcs() {
    for (uint32_t arc = 0; arc < heads.size(); ++arc)
      ++start[tail(arc) + 1];
    for (size_t at = 1; at < start.size(); ++at)
      start[at] += start[at - 1];
    arcs.resize(heads.size());
    std::vector<uint32_t> free(start.begin(), start.end() - 1);
    for (uint32_t arc = 0; arc < heads.size(); ++arc)
      arcs[free[tail(arc)]++] = arc;
  }

  /// Distances to `end` along arcs with room, or with `side` 0 from it.
  void measure(uint32_t end, uint32_t side) {
    distance.assign(start.size() - 1, kFar);
    distance[end] = 0;
    queue.assign(1, end);
    for (size_t at = 0; at < queue.size(); ++at) {
      for (uint32_t slot = start[queue[at]]; slot < start[queue[at] + 1]; ++slot)
        if (uint32_t to = heads[arcs[slot]]; room[arcs[slot] ^ side] > 0 && distance[to] == kFar) {
          distance[to] = distance[queue[at]] + 1;
          queue.push_back(to);
        }
      steps += start[queue[at] + 1] - start[queue[at]];
    }
  }

  /// Sends flow along shortest paths until none is left. What is known to lead nowhere is not looked at again, and
  /// after each path the walk goes on from its first arc that is full.
  void block() {
    path.clear();
    uint32_t at = source;
    while (true) {
      ++steps;
      if (at == sink) {
        at = fill();
      } else if (next[at] == start[at + 1]) {
        if (at == source)
          return;
        at = tail(path.back());
        path.pop_back();
        ++next[at];
      } else if (uint32_t arc = arcs[next[at]]; room[arc] > 0 && distance[heads[arc]] + 1 == distance[at]) {
        path.push_back(arc);
        at = heads[arc];
      } else {
        ++next[at];
      }
    }
  }

  /// Sends what the path has room for; cuts the path at its first full arc and returns where that starts.
  uint32_t fill() {
    int64_t most = kNoLimit;
    for (uint32_t arc : path)
      most = std::min(most, room[arc]);
    size_t full = path.size();
    for (size_t at = path.size(); at-- > 0;) {
      room[path[at]] -= most;
      room[path[at] ^ 1] += most;
      if (room[path[at]] == 0)
        full = at;
    }
    steps += path.size();
    uint32_t from = tail(path[full]);
    path.resize(full);
    return from;
  }

  uint32_t source, sink;
  std::vector<uint32_t> heads, start, arcs, next, distance, queue, path;
  std::vector<int64_t> room;
  uint64_t steps = 0;
};
} // namespace

std::vector<bool> ClosureProblem::solve(uint64_t &budget) const {
  Flow flow(costs, needs);
  if (!flow.saturate(budget))
    return {};
  std::vector<bool> result(size());
  const std::vector<uint32_t> &distance = flow.measureFromSource();
  for (Item item = 0; item < size(); ++item)
    result[item] = distance[item] != Flow::kFar;
  return result;
}

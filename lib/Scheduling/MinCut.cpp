// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two trees grow from the terminals along arcs that are not saturated. Where they meet, they form a path, which is
// saturated. Nodes that this disconnects find another parent in their tree or become free. All walks are loops instead
// of recursion, so that deep graphs do not exhaust the stack.

#include "MinCut.h"

#include <algorithm>
#include <limits>

using namespace inlay;

namespace {
using Node = MinCut::Node;
using Arc = uint32_t;
/// Parents that are not arcs: the terminal itself, no parent yet (an orphan), and no parent at all (a free node).
constexpr Arc kTerminal = ~Arc(0), kOrphan = kTerminal - 1, kNoArc = kTerminal - 2;
enum class Tree : uint8_t { Free, Source, Sink };

class Solver {
public:
  explicit Solver(std::vector<int64_t> terminal)
      : terminal(std::move(terminal)), tree(this->terminal.size(), Tree::Free), parent(tree.size(), kNoArc),
        distance(tree.size()), stamp(tree.size()), queued(tree.size()), queue(tree.size() + 1) {}

  template <typename Edges>
  void setEdges(const Edges &edges) {
    first.assign(tree.size() + 1, 0);
    for (const auto &edge : edges) {
      ++first[edge.from + 1];
      ++first[edge.to + 1];
    }
    for (size_t node = 0; node < tree.size(); ++node)
      first[node + 1] += first[node];
    std::vector<Arc> next(first.begin(), first.end() - 1);
    head.resize(2 * edges.size());
    sister.resize(2 * edges.size());
    residual.resize(2 * edges.size());
    for (const auto &edge : edges) {
      Arc there = next[edge.from]++, back = next[edge.to]++;
      head[there] = edge.to;
      head[back] = edge.from;
      sister[there] = back;
      sister[back] = there;
      residual[there] = edge.capacity;
      residual[back] = edge.reverse;
    }
  }

  /// Returns false if this takes more than `budget` steps.
  bool run(uint64_t budget) {
    for (Node node = 0; node < tree.size(); ++node)
      if (terminal[node] != 0) {
        tree[node] = terminal[node] > 0 ? Tree::Source : Tree::Sink;
        parent[node] = kTerminal;
        distance[node] = 1;
        activate(node);
      }
    while (queueHead != queueTail) {
      Node node = queue[queueHead];
      queueHead = step(queueHead);
      queued[node] = false;
      // A node that becomes free activates its neighbors, so no arc has to be visited again for it.
      for (Arc arc = first[node]; tree[node] != Tree::Free;) {
        Arc bridge = grow(node, arc);
        if (bridge == kNoArc)
          break;
        ++time;
        augment(bridge);
        adopt();
        if (steps > budget)
          return false;
      }
    }
    return steps <= budget;
  }

  int64_t getFlow() const { return flow; }
  uint64_t getSteps() const { return steps; }
  size_t size() const { return tree.size(); }
  bool isSource(Node node) const { return tree[node] == Tree::Source; }

private:
  size_t step(size_t at) const { return at + 1 == queue.size() ? 0 : at + 1; }

  void activate(Node node) {
    if (queued[node])
      return;
    queued[node] = true;
    queue[queueTail] = node;
    queueTail = step(queueTail);
  }

  /// Returns the residual capacity of an arc of a node in the direction away from the terminal of its tree: out of the
  /// node in the source's tree, into the node in the sink's tree. `inward` is the opposite direction.
  int64_t outward(Tree side, Arc arc) const { return residual[side == Tree::Source ? arc : sister[arc]]; }
  int64_t inward(Tree side, Arc arc) const { return residual[side == Tree::Source ? sister[arc] : arc]; }

  /// Adds the free neighbors of the node to its tree, starting at `arc`. Returns an arc from the source's tree to the
  /// sink's tree if one is found, else kNoArc.
  Arc grow(Node node, Arc &arc) {
    Tree side = tree[node];
    for (; arc < first[node + 1]; ++arc) {
      ++steps;
      if (outward(side, arc) == 0)
        continue;
      Node other = head[arc];
      if (tree[other] == Tree::Free) {
        tree[other] = side;
        parent[other] = sister[arc];
        stamp[other] = stamp[node];
        distance[other] = distance[node] + 1;
        activate(other);
      } else if (tree[other] != side) {
        return side == Tree::Source ? arc : sister[arc];
      } else if (stamp[other] <= stamp[node] && distance[other] > distance[node]) {
        parent[other] = sister[arc]; // A shorter path to the terminal.
        stamp[other] = stamp[node];
        distance[other] = distance[node] + 1;
      }
    }
    return kNoArc;
  }

  void makeOrphan(Node node) {
    parent[node] = kOrphan;
    orphans.push_back(node);
  }

  int64_t findBottleneck(Node node, Tree side, int64_t limit) const {
    for (; parent[node] != kTerminal; node = head[parent[node]])
      limit = std::min(limit, inward(side, parent[node]));
    return std::min(limit, side == Tree::Source ? terminal[node] : -terminal[node]);
  }

  void push(Node node, Tree side, int64_t amount) {
    while (parent[node] != kTerminal) {
      ++steps;
      Arc arc = parent[node], back = sister[arc];
      Node next = head[arc];
      residual[side == Tree::Source ? back : arc] -= amount;
      residual[side == Tree::Source ? arc : back] += amount;
      if (inward(side, arc) == 0)
        makeOrphan(node);
      node = next;
    }
    terminal[node] += side == Tree::Source ? -amount : amount;
    if (terminal[node] == 0)
      makeOrphan(node);
  }

  void augment(Arc bridge) {
    Node from = head[sister[bridge]], to = head[bridge];
    int64_t amount = findBottleneck(from, Tree::Source, residual[bridge]);
    amount = findBottleneck(to, Tree::Sink, amount);
    residual[bridge] -= amount;
    residual[sister[bridge]] += amount;
    push(from, Tree::Source, amount);
    push(to, Tree::Sink, amount);
    flow += amount;
  }

  void adopt() {
    for (size_t at = 0; at < orphans.size(); ++at)
      if (Node node = orphans[at]; !findParent(node))
        release(node);
    orphans.clear();
  }

  bool findParent(Node node) {
    uint32_t shortest = std::numeric_limits<uint32_t>::max();
    Arc best = kNoArc;
    steps += first[node + 1] - first[node];
    for (Arc arc = first[node]; arc < first[node + 1]; ++arc) {
      Node other = head[arc];
      if (tree[other] != tree[node] || inward(tree[node], arc) == 0)
        continue;
      uint32_t length = measure(other);
      if (length < shortest) {
        shortest = length;
        best = arc;
      }
    }
    if (best == kNoArc)
      return false;
    parent[node] = best;
    stamp[node] = time;
    distance[node] = shortest + 1;
    return true;
  }

  /// Returns the number of arcs from a node to its terminal, or the maximum of the type if the path ends at an orphan.
  /// Stores the distances of the nodes on the path.
  uint32_t measure(Node start) {
    uint32_t length = 0;
    Node node = start;
    while (stamp[node] != time) {
      ++steps;
      if (parent[node] == kOrphan || parent[node] == kNoArc)
        return std::numeric_limits<uint32_t>::max();
      ++length;
      if (parent[node] == kTerminal) {
        stamp[node] = time;
        distance[node] = 1;
        length -= 1;
        break;
      }
      node = head[parent[node]];
    }
    length += distance[node];
    uint32_t result = length;
    for (node = start; stamp[node] != time; node = head[parent[node]]) {
      stamp[node] = time;
      distance[node] = length--;
    }
    return result;
  }

  /// Removes a node from its tree. Its neighbors become active to reach it again, and its children become orphans.
  void release(Node node) {
    Tree side = tree[node];
    steps += first[node + 1] - first[node];
    for (Arc arc = first[node]; arc < first[node + 1]; ++arc) {
      Node other = head[arc];
      if (tree[other] != side)
        continue;
      if (inward(side, arc) > 0)
        activate(other);
      if (Arc up = parent[other]; up < kNoArc && head[up] == node)
        makeOrphan(other);
    }
    tree[node] = Tree::Free;
    parent[node] = kNoArc;
  }

  std::vector<int64_t> terminal;
  std::vector<Tree> tree;
  std::vector<Arc> parent; ///< The arc from a node towards its terminal.
  std::vector<uint32_t> distance, stamp;
  std::vector<bool> queued;
  std::vector<Node> queue, orphans; ///< `queue` is a ring buffer.
  size_t queueHead = 0, queueTail = 0;
  std::vector<Arc> first, sister;
  std::vector<Node> head;
  std::vector<int64_t> residual;
  uint32_t time = 0;
  int64_t flow = 0;
  uint64_t steps = 0;
};
} // namespace

void MinCut::addTerminals(Node node, int64_t ifSink, int64_t ifSource) {
  int64_t &balance = terminal[node];
  if (balance > 0)
    ifSink += balance;
  else
    ifSource -= balance;
  int64_t both = std::min(ifSink, ifSource); // This part is cut on either side.
  flow += both;
  balance = ifSink - ifSource;
}

int64_t MinCut::solve() {
  uint64_t budget = std::numeric_limits<uint64_t>::max();
  return *solve(budget);
}

std::optional<int64_t> MinCut::solve(uint64_t &budget) {
  Solver solver(std::move(terminal));
  solver.setEdges(edges);
  edges.clear();
  edges.shrink_to_fit();
  if (!solver.run(budget)) {
    budget = 0;
    return std::nullopt;
  }
  budget -= solver.getSteps();
  flow += solver.getFlow();
  onSource.resize(solver.size());
  for (Node node = 0; node < onSource.size(); ++node)
    onSource[node] = solver.isSource(node);
  return flow;
}

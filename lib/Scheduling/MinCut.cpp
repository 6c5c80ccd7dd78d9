// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two trees grow from the terminals over arcs that can take more flow. Where they meet there is a path, which is
// saturated; nodes it cuts off look for another parent in their tree or become free. All walks are loops.

#include "MinCut.h"

#include <algorithm>
#include <limits>

using namespace inlay;

namespace {
using Node = MinCut::Node;
using Arc = uint32_t;
/// Parents that are no arc: the terminal itself, nothing yet (an orphan), nothing at all (a free node).
constexpr Arc kTerminal = ~Arc(0), kOrphan = kTerminal - 1, kNone = kTerminal - 2;
enum class Tree : uint8_t { Free, Source, Sink };

class Solver {
public:
  explicit Solver(std::vector<int64_t> terminal)
      : terminal(std::move(terminal)), tree(this->terminal.size(), Tree::Free), parent(tree.size(), kNone),
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

  int64_t run() {
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
      // What a path sets free makes its neighbours active again, so that no arc has to be looked at twice for it.
      for (Arc arc = first[node]; tree[node] != Tree::Free;) {
        Arc bridge = grow(node, arc);
        if (bridge == kNone)
          break;
        ++time;
        augment(bridge);
        adopt();
      }
    }
    return flow;
  }

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

  /// What can still flow over an arc of a node, away from the source: out of the node in the source's tree, into it in
  /// the sink's.
  int64_t outward(Tree side, Arc arc) const { return residual[side == Tree::Source ? arc : sister[arc]]; }
  int64_t inward(Tree side, Arc arc) const { return residual[side == Tree::Source ? sister[arc] : arc]; }

  /// Takes free neighbours into the node's tree, from `arc` on; the arc from the source's tree to the sink's, if one is
  /// found.
  Arc grow(Node node, Arc &arc) {
    Tree side = tree[node];
    for (; arc < first[node + 1]; ++arc) {
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
        parent[other] = sister[arc]; // a shorter way to the terminal
        stamp[other] = stamp[node];
        distance[other] = distance[node] + 1;
      }
    }
    return kNone;
  }

  void makeOrphan(Node node) {
    parent[node] = kOrphan;
    orphans.push_back(node);
  }

  int64_t findBottleneck(Node node, Tree side, int64_t most) const {
    for (; parent[node] != kTerminal; node = head[parent[node]])
      most = std::min(most, inward(side, parent[node]));
    return std::min(most, side == Tree::Source ? terminal[node] : -terminal[node]);
  }

  void push(Node node, Tree side, int64_t amount) {
    while (parent[node] != kTerminal) {
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
    uint32_t least = std::numeric_limits<uint32_t>::max();
    Arc best = kNone;
    for (Arc arc = first[node]; arc < first[node + 1]; ++arc) {
      Node other = head[arc];
      if (tree[other] != tree[node] || inward(tree[node], arc) == 0)
        continue;
      uint32_t length = measure(other);
      if (length < least) {
        least = length;
        best = arc;
      }
    }
    if (best == kNone)
      return false;
    parent[node] = best;
    stamp[node] = time;
    distance[node] = least + 1;
    return true;
  }

  /// The number of arcs from a node to its terminal, the most there can be if it hangs on an orphan; nodes on the way
  /// remember it.
  uint32_t measure(Node start) {
    uint32_t length = 0;
    Node node = start;
    while (stamp[node] != time) {
      if (parent[node] == kOrphan || parent[node] == kNone)
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

  /// Takes a node out of its tree; neighbours may find it again, and its children look for another parent.
  void release(Node node) {
    Tree side = tree[node];
    for (Arc arc = first[node]; arc < first[node + 1]; ++arc) {
      Node other = head[arc];
      if (tree[other] != side)
        continue;
      if (inward(side, arc) > 0)
        activate(other);
      if (Arc up = parent[other]; up < kNone && head[up] == node)
        makeOrphan(other);
    }
    tree[node] = Tree::Free;
    parent[node] = kNone;
  }

  std::vector<int64_t> terminal;
  std::vector<Tree> tree;
  std::vector<Arc> parent; ///< the arc from a node towards its terminal
  std::vector<uint32_t> distance, stamp;
  std::vector<bool> queued;
  std::vector<Node> queue, orphans; ///< `queue` is a ring
  size_t queueHead = 0, queueTail = 0;
  std::vector<Arc> first, sister;
  std::vector<Node> head;
  std::vector<int64_t> residual;
  uint32_t time = 0;
  int64_t flow = 0;
};
} // namespace

void MinCut::addTerminals(Node node, int64_t ifSink, int64_t ifSource) {
  int64_t &balance = terminal[node];
  if (balance > 0)
    ifSink += balance;
  else
    ifSource -= balance;
  int64_t both = std::min(ifSink, ifSource); // cut on either side
  flow += both;
  balance = ifSink - ifSource;
}

int64_t MinCut::solve() {
  Solver solver(std::move(terminal));
  solver.setEdges(edges);
  edges.clear();
  edges.shrink_to_fit();
  flow += solver.run();
  onSource.resize(solver.size());
  for (Node node = 0; node < onSource.size(); ++node)
    onSource[node] = solver.isSource(node);
  return flow;
}

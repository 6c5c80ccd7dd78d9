// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum s-t cut by the augmenting-path algorithm of Boykov and Kolmogorov ("An experimental comparison of
// min-cut/max-flow algorithms for energy minimization in vision", PAMI 2004). It is fast if most nodes are connected to
// a terminal, which is the case for ops that have a cost on both targets.

#ifndef INLAY_LIB_SCHEDULING_MINCUT_H
#define INLAY_LIB_SCHEDULING_MINCUT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace inlay {

class MinCut {
public:
  using Node = uint32_t;
  /// An arc of this capacity is never cut if the other capacities of the graph add up to less.
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  /// Adds a node without arcs.
  Node addNode() {
    terminal.push_back(0);
    return static_cast<Node>(terminal.size() - 1);
  }
  /// Adds capacities between the node and the terminals: `ifSink` is cut if the node is on the sink's side, `ifSource`
  /// if it is on the source's side. Several calls add up.
  void addTerminals(Node node, int64_t ifSink, int64_t ifSource);
  /// Adds an arc of `capacity` from `from` to `to`, and one of `reverse` in the other direction. `capacity` is cut if
  /// `from` is on the source's side and `to` on the sink's side, `reverse` in the opposite case.
  void addEdge(Node from, Node to, int64_t capacity, int64_t reverse = 0) {
    edges.push_back({from, to, capacity, reverse});
  }

  size_t size() const { return terminal.size(); }

  /// Returns the capacity of a smallest cut, or std::nullopt if this takes more than `budget` steps. A step visits an
  /// arc. Subtracts the steps from `budget`, which is 0 after a failure. May be called only once.
  std::optional<int64_t> solve(uint64_t &budget);
  /// Like the other `solve`, but without a limit.
  int64_t solve();
  /// Returns true if the node is on the source's side of the smallest cut whose source side has the fewest nodes, which
  /// is unique. Must be called after `solve`.
  bool isSource(Node node) const { return onSource[node]; }

private:
  struct Edge {
    Node from, to;
    int64_t capacity, reverse;
  };

  int64_t flow = 0;
  std::vector<int64_t> terminal; ///< Residual capacity from the source if positive, to the sink if negative.
  std::vector<Edge> edges;
  std::vector<bool> onSource;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_MINCUT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum s-t cut by the augmenting-path algorithm of Boykov and Kolmogorov ("An experimental comparison of
// min-cut/max-flow algorithms for energy minimization in vision", PAMI 2004). Fast where most nodes hang on a terminal
// themselves, as ops with a cost on both targets do.

#ifndef INLAY_LIB_SCHEDULING_MINCUT_H
#define INLAY_LIB_SCHEDULING_MINCUT_H

#include <cstdint>
#include <vector>

namespace inlay {

class MinCut {
public:
  using Node = uint32_t;
  /// Never cut, as long as the other capacities of the graph sum up to less.
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  Node addNode() {
    terminal.push_back(0);
    return static_cast<Node>(terminal.size() - 1);
  }
  /// What is cut if the node is on the sink's side, and what if it is on the source's. Adds up over calls.
  void addTerminals(Node node, int64_t ifSink, int64_t ifSource);
  /// What is cut if `from` is on the source's side and `to` on the sink's, and what if the other way round.
  void addEdge(Node from, Node to, int64_t capacity, int64_t reverse = 0) {
    edges.push_back({from, to, capacity, reverse});
  }

  /// The capacity of a smallest cut; to be called once.
  int64_t solve();
  /// Afterwards: the side of a node in the smallest cut whose source side has the fewest nodes, which is only one.
  bool isSource(Node node) const { return onSource[node]; }

private:
  struct Edge {
    Node from, to;
    int64_t capacity, reverse;
  };

  int64_t flow = 0;
  std::vector<int64_t> terminal; ///< residual from the source if positive, to the sink if negative
  std::vector<Edge> edges;
  std::vector<bool> onSource;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_MINCUT_H

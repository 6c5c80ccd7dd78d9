// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of any size to partition: by chance, or tiled from what models are made of. Seeds are fixed.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H
#define TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace inlay::bench {

/// Whether the accelerator can run an op. Layout ops run anywhere and may join either side.
enum class Role : uint8_t { Accelerated, Host, Layout };

struct OpKind {
  const char *name; ///< as a framework calls it
  Role role;
};

/// The kinds that synthetic graphs are made of.
llvm::ArrayRef<OpKind> getOpKinds();

/// Nodes in a topological order, which is their program order; each has one result.
struct SyntheticGraph {
  std::vector<uint8_t> kinds;        ///< numbers in `getOpKinds()`
  std::vector<uint32_t> start = {0}; ///< node v reads operands[start[v]] up to operands[start[v + 1]]
  std::vector<uint32_t> operands;    ///< nodes; a node without any reads the graph's input

  uint32_t size() const { return static_cast<uint32_t>(kinds.size()); }
  Role getRole(uint32_t node) const { return getOpKinds()[kinds[node]].role; }
  llvm::ArrayRef<uint32_t> getOperands(uint32_t node) const {
    return llvm::ArrayRef(operands).slice(start[node], start[node + 1] - start[node]);
  }
};

struct Shape {
  const char *name, *summary;
  /// Adds nodes to the graph until it has about `size`.
  void (*fill)(SyntheticGraph &graph, uint32_t size);
};

llvm::ArrayRef<Shape> getShapes();

/// A graph of at least `size` nodes; few more, as a tile is kept whole.
SyntheticGraph makeGraph(const Shape &shape, uint32_t size);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H

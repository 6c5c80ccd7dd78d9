// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of any size for partitioning, random or built from the layers of models. Seeds are fixed.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H
#define TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace inlay::bench {

/// Says which targets can run an op. The accelerator runs all ops but those of the role Host. Layout ops are neutral.
enum class Role : uint8_t { Accelerated, Host, Layout };

struct OpKind {
  const char *name; ///< Name of the op in PyTorch.
  Role role;
};

/// Returns the kinds of ops in synthetic graphs.
llvm::ArrayRef<OpKind> getOpKinds();

/// Nodes in topological order, which is the program order. Each node has one result.
struct SyntheticGraph {
  std::vector<uint8_t> kinds;        ///< Index of each node's kind in `getOpKinds()`.
  std::vector<uint32_t> start = {0}; ///< Node v reads operands[start[v]] to operands[start[v + 1] - 1].
  std::vector<uint32_t> operands;    ///< Nodes. A node without operands reads the input of the graph.

  uint32_t size() const { return static_cast<uint32_t>(kinds.size()); }
  Role getRole(uint32_t node) const { return getOpKinds()[kinds[node]].role; }
  llvm::ArrayRef<uint32_t> getOperands(uint32_t node) const {
    return llvm::ArrayRef(operands).slice(start[node], start[node + 1] - start[node]);
  }
};

struct Shape {
  const char *name, *summary;
  /// Adds nodes to the graph until it has at least `size` nodes.
  void (*fill)(SyntheticGraph &graph, uint32_t size);
};

llvm::ArrayRef<Shape> getShapes();

/// Returns a graph of at least `size` nodes. It may have more, since layers stay complete.
SyntheticGraph makeGraph(const Shape &shape, uint32_t size);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICGRAPH_H

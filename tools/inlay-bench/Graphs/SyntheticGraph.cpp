// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes graphs of nodes and edges by shape. SyntheticModule.cpp writes them as IR.

#include "SyntheticGraph.h"

#include <algorithm>
#include <random>

using namespace inlay;
using namespace inlay::bench;

namespace {
enum Kind : uint8_t { Matmul, Add, Mul, Relu, Conv, LayerNorm, Softmax, Gelu, TopK, Index, Silu, View, Permute };
} // namespace

llvm::ArrayRef<OpKind> bench::getOpKinds() {
  // The host runs the ops that accelerators lack most often: norms, softmax, activations and indexing.
  static const OpKind kinds[] = {
      {"aten::matmul", Role::Accelerated},
      {"aten::add.Tensor", Role::Accelerated},
      {"aten::mul.Tensor", Role::Accelerated},
      {"aten::relu", Role::Accelerated},
      {"aten::convolution", Role::Accelerated},
      {"aten::native_layer_norm", Role::Host},
      {"aten::_softmax", Role::Host},
      {"aten::gelu", Role::Host},
      {"aten::topk", Role::Host},
      {"aten::index.Tensor", Role::Host},
      {"aten::silu", Role::Host},
      {"aten::view", Role::Layout},
      {"aten::permute", Role::Layout},
  };
  return kinds;
}

static uint32_t add(SyntheticGraph &graph, Kind kind, llvm::ArrayRef<uint32_t> operands = {}) {
  graph.kinds.push_back(kind);
  graph.operands.insert(graph.operands.end(), operands.begin(), operands.end());
  graph.start.push_back(static_cast<uint32_t>(graph.operands.size()));
  return graph.size() - 1;
}

//===-- Random graphs -------------------------------------------------------------------------------------------===//

namespace {
/// Random numbers that do not depend on the standard library.
class Chance {
public:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((engine() >> 32) * bound >> 32); }
  bool happens(unsigned percent) { return below(100) < percent; }
  Kind pick(unsigned acceleratedPercent) {
    return happens(acceleratedPercent) ? Kind(Matmul + below(5)) : Kind(LayerNorm + below(6));
  }

private:
  std::mt19937_64 engine{1};
};
} // namespace

/// Adds layers of `width` nodes. Each node reads two nodes of the layer before.
static void fillLayers(SyntheticGraph &graph, uint32_t size, uint32_t width, unsigned acceleratedPercent) {
  Chance chance;
  for (uint32_t first = 0; graph.size() < size; first += width)
    for (uint32_t node = 0; node < width; ++node) {
      Kind kind = chance.pick(acceleratedPercent);
      if (first == 0)
        add(graph, kind);
      else
        add(graph, kind, {first - width + chance.below(width), first - width + chance.below(width)});
    }
}

static void fillNarrow(SyntheticGraph &graph, uint32_t size) { fillLayers(graph, size, 10, 50); }
static void fillWide(SyntheticGraph &graph, uint32_t size) { fillLayers(graph, size, std::min(size, 1000u), 90); }

static void fillRandom(SyntheticGraph &graph, uint32_t size) {
  Chance chance;
  while (graph.size() < size) {
    llvm::SmallVector<uint32_t, 3> operands;
    for (uint32_t count = graph.size() ? chance.below(4) : 0; count-- > 0;)
      operands.push_back(chance.below(graph.size()));
    add(graph, chance.pick(70), operands);
  }
}

/// Adds ten parallel chains whose nodes alternate.
static void fillChains(SyntheticGraph &graph, uint32_t size) {
  Chance chance;
  while (graph.size() < size)
    graph.size() < 10 ? add(graph, chance.pick(70)) : add(graph, chance.pick(70), {graph.size() - 10});
}

/// Adds independent branches of three nodes, one after the other. Each branch closes an open segment.
static void fillBranches(SyntheticGraph &graph, uint32_t size) {
  while (graph.size() < size) {
    uint32_t first = add(graph, Matmul), second = add(graph, Softmax, {first});
    add(graph, Matmul, {second});
  }
}

/// Adds a fork with two sides that an addition joins. A side is a chain of nodes, some of which are forks if `depth` is
/// not zero. Returns the addition.
static uint32_t addFork(SyntheticGraph &graph, Chance &chance, uint32_t from, unsigned depth) {
  uint32_t ends[2];
  for (uint32_t &end : ends) {
    end = add(graph, chance.pick(70), {from});
    for (uint32_t length = chance.below(4); length-- > 0;)
      end = depth && chance.happens(60) ? addFork(graph, chance, end, depth - 1) : add(graph, chance.pick(70), {end});
  }
  return add(graph, Add, ends);
}

static void fillSeriesParallel(SyntheticGraph &graph, uint32_t size) {
  Chance chance;
  for (uint32_t end = add(graph, Matmul); graph.size() < size;)
    end = addFork(graph, chance, end, 3);
}

//===-- Layers of models ----------------------------------------------------------------------------------------===//

static uint32_t addAttention(SyntheticGraph &graph, uint32_t input) {
  uint32_t heads[3];
  for (uint32_t &head : heads)
    head = add(graph, Permute, {add(graph, View, {add(graph, Matmul, {input})})});
  uint32_t keys = add(graph, Permute, {heads[1]});
  uint32_t scores = add(graph, Mul, {add(graph, Matmul, {heads[0], keys})});
  uint32_t mixed = add(graph, Matmul, {add(graph, Softmax, {scores}), heads[2]});
  return add(graph, Matmul, {add(graph, View, {add(graph, Permute, {mixed})})});
}

static void fillTransformer(SyntheticGraph &graph, uint32_t size) {
  for (uint32_t stream = add(graph, Matmul); graph.size() < size;) {
    stream = add(graph, Add, {stream, addAttention(graph, add(graph, LayerNorm, {stream}))});
    uint32_t hidden = add(graph, Add, {add(graph, Matmul, {add(graph, LayerNorm, {stream})})});
    stream = add(graph, Add, {stream, add(graph, Matmul, {add(graph, Gelu, {hidden})})});
  }
}

/// Adds residual blocks with an activation on the host. Every fourth block has a convolution in its shortcut.
static void fillResnet(SyntheticGraph &graph, uint32_t size) {
  uint32_t stream = add(graph, Conv);
  for (unsigned block = 0; graph.size() < size; ++block) {
    uint32_t inner = add(graph, Silu, {add(graph, Mul, {add(graph, Conv, {stream})})});
    inner = add(graph, Mul, {add(graph, Conv, {inner})});
    uint32_t shortCut = block % 4 == 3 ? add(graph, Mul, {add(graph, Conv, {stream})}) : stream;
    stream = add(graph, Relu, {add(graph, Add, {inner, shortCut})});
  }
}

/// Adds layers of attention, a router and eight experts, one after the other, which gather their tokens on the host.
static void fillMoe(SyntheticGraph &graph, uint32_t size) {
  for (uint32_t stream = add(graph, Matmul); graph.size() < size;) {
    stream = add(graph, Add, {stream, addAttention(graph, add(graph, LayerNorm, {stream}))});
    uint32_t input = add(graph, LayerNorm, {stream});
    uint32_t routes = add(graph, TopK, {add(graph, Softmax, {add(graph, Matmul, {input})})});
    for (unsigned expert = 0; expert < 8; ++expert) {
      uint32_t tokens = add(graph, Index, {input, routes});
      uint32_t gate = add(graph, Silu, {add(graph, Matmul, {tokens})});
      uint32_t hidden = add(graph, Mul, {gate, add(graph, Matmul, {tokens})});
      stream = add(graph, Add, {stream, add(graph, Mul, {add(graph, Matmul, {hidden}), routes})});
    }
  }
}

llvm::ArrayRef<Shape> bench::getShapes() {
  static const Shape shapes[] = {
      {"narrow", "layers of 10, half of it on the host", fillNarrow},
      {"wide", "layers of 1000, a tenth on the host", fillWide},
      {"random", "each node reads up to three earlier nodes", fillRandom},
      {"chains", "ten parallel chains", fillChains},
      {"branches", "branches of accelerator, host, accelerator", fillBranches},
      {"series-parallel", "nested forks that join again", fillSeriesParallel},
      {"transformer", "encoder layers", fillTransformer},
      {"resnet", "residual blocks", fillResnet},
      {"moe", "layers of eight experts", fillMoe},
  };
  return shapes;
}

SyntheticGraph bench::makeGraph(const Shape &shape, uint32_t size) {
  SyntheticGraph graph;
  graph.kinds.reserve(size + 256);
  graph.start.reserve(size + 257);
  shape.fill(graph, size);
  return graph;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the register tile of a structured op from reuse and strides. Products on Vulkan have policies of their
// own: Target/Vulkan/Products/SubgroupProductPolicy.cpp and its neighbor CooperativeMatrixPolicy.cpp.

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include <algorithm>
#include <cmath>

using namespace inlay;

int64_t inlay::largestDivisor(int64_t size, int64_t limit) {
  for (int64_t factor = std::min(size, limit); factor > 1; --factor)
    if (size % factor == 0)
      return factor;
  return 1;
}

/// Maximum number of nested blocks of a loop. Sums of more than 32^5 terms are rare, and loops cost time.
static constexpr int kMaxBlocks = 4;

/// Returns the divisor of `size` next to `wanted` that is at most `limit`, so that all blocks are equally long. Returns
/// `wanted` if no divisor is near.
static int64_t chooseBlock(int64_t size, int64_t wanted, int64_t limit) {
  for (int64_t distance = 0; distance <= wanted / 2; ++distance)
    for (int64_t block : {wanted + distance, wanted - distance})
      if (block > 1 && block <= limit && size % block == 0)
        return block;
  return wanted;
}

std::vector<SumBlocks> inlay::cutSums(const std::vector<int64_t> &sizes, int64_t maxTerms) {
  std::vector<SumBlocks> blocks(sizes.size());
  int64_t terms = 1; // Terms that the innermost open accumulator gets in one step of the loop.
  for (size_t loop = sizes.size(); loop-- > 0;) {
    int64_t steps = std::max<int64_t>(sizes[loop], 1), block = 1;
    for (int rest = kMaxBlocks; rest > 0 && steps > 1 && steps > maxTerms / terms; --rest) {
      // As few accumulators as possible, with about as many terms each.
      double all = double(steps) * double(terms);
      int levels =
          std::clamp(static_cast<int>(std::ceil(std::log(all) / std::log(double(maxTerms)) - 1e-9)), 2, rest + 1);
      int64_t limit = std::max<int64_t>(maxTerms / terms, 1);
      int64_t wanted = std::clamp<int64_t>(std::llround(std::pow(all, 1.0 / levels)) / terms, 1, limit);
      int64_t count = chooseBlock(steps, wanted, limit);
      block *= count;
      blocks[loop].push_back(block);
      steps = steps / count + (steps % count != 0);
      terms = 1;
    }
    terms *= steps;
  }
  return blocks;
}

int64_t inlay::chooseMaxTerms(const LoopNestShape &shape) {
  constexpr int64_t kSum = 32, kProduct = 512;
  for (const std::vector<int64_t> &strides : shape.inputStrides) {
    bool moves = std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride != 0; });
    for (size_t loop = 0; moves && loop < shape.loops.size(); ++loop)
      if (!shape.loops[loop].reduction && !shape.loops[loop].isSingle() && strides[loop] == 0)
        return kProduct;
  }
  return kSum;
}

int64_t inlay::chooseFactor(int64_t size, int64_t limit) {
  if (size <= 1 || limit <= 1)
    return 1;
  int64_t tiles = (size + limit - 1) / limit;
  int64_t even = (size + tiles - 1) / tiles; // The same number of tiles, all of equal size except the last.
  int64_t divisor = largestDivisor(size, limit);
  return 4 * divisor >= 3 * even ? divisor : even;
}

/// Returns the parallel loop along which the output is contiguous, or -1.
static int contiguousLoop(const LoopNestShape &shape) {
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (!shape.loops[i].reduction && shape.outputStrides[i] == 1 && shape.loops[i].size > 1)
      return static_cast<int>(i);
  return -1;
}

/// Returns true if an input does not move along `loop`, so that one load serves all points of a tile along the loop.
static bool reuses(const LoopNestShape &shape, size_t input, size_t loop) {
  return shape.inputStrides[input][loop] == 0;
}

/// For each input, unrolls the innermost parallel loop along which the input is reused.
static void tileForReuse(const LoopNestShape &shape, const TileLimits &limits, TileShape &tile) {
  int64_t points = 1;
  for (size_t input = 0; input < shape.inputStrides.size(); ++input)
    for (size_t loop = shape.loops.size(); loop-- > 0;) {
      if (shape.loops[loop].reduction || static_cast<int>(loop) == tile.vectorLoop || tile.factors[loop] > 1 ||
          shape.loops[loop].size == 1 || !reuses(shape, input, loop))
        continue;
      int64_t factor = chooseFactor(shape.loops[loop].size, std::min(limits.maxFactor, limits.maxPoints / points));
      if (factor == 1)
        continue;
      tile.factors[loop] = factor;
      points *= factor;
      break;
    }
}

/// Returns the last reduction if it has at least `minSize` steps and each input is contiguous along it or does not
/// move. Else returns -1.
static int contiguousReduction(const LoopNestShape &shape, int64_t minSize) {
  int last = -1;
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (shape.loops[i].reduction)
      last = static_cast<int>(i);
  if (last < 0 || shape.loops[last].size < minSize)
    return -1;
  bool moves = false;
  for (const std::vector<int64_t> &strides : shape.inputStrides) {
    if (strides[last] != 0 && strides[last] != 1)
      return -1;
    moves |= strides[last] == 1;
  }
  return moves ? last : -1;
}

/// Returns true if vectors along `loop` would have to be gathered.
static bool gathers(const LoopNestShape &shape, int loop) {
  return std::any_of(shape.inputStrides.begin(), shape.inputStrides.end(),
                     [&](auto &strides) { return strides[loop] != 0 && strides[loop] != 1; });
}

TileShape inlay::chooseTile(const LoopNestShape &shape, const TileLimits &limits) {
  TileShape tile;
  tile.factors.assign(shape.loops.size(), 1);
  int contiguous = contiguousLoop(shape);
  int reduced = limits.lanes > 1 && shape.sumsLanes ? contiguousReduction(shape, limits.lanes) : -1;
  if (reduced >= 0 && (contiguous < 0 || shape.loops[contiguous].size < 4 || gathers(shape, contiguous))) {
    tile.vectorLoop = reduced;
    tile.lanes = limits.lanes;
    TileLimits square = limits;
    square.maxFactor = 4;
    tileForReuse(shape, square, tile);
    return tile;
  }
  if (limits.lanes > 1 && shape.vectorizable && contiguous >= 0 && shape.loops[contiguous].size >= 4) {
    tile.vectorLoop = contiguous;
    while (tile.lanes < limits.lanes && tile.lanes < shape.loops[contiguous].size)
      tile.lanes *= 2;
  }
  bool reduces = std::any_of(shape.loops.begin(), shape.loops.end(), [](auto loop) { return loop.reduction; });
  if (reduces)
    tileForReuse(shape, limits, tile);
  else if (contiguous >= 0 && tile.vectorLoop < 0 && shape.outputQuad == contiguous && limits.pointwiseFactor >= 4)
    tile.factors[contiguous] = 4 * largestDivisor(shape.loops[contiguous].size / 4, limits.pointwiseFactor / 4);
  else if (contiguous >= 0 && tile.vectorLoop < 0)
    tile.factors[contiguous] = shape.loops[contiguous].isOpen
                                   ? std::min(shape.loops[contiguous].size, limits.pointwiseFactor)
                                   : largestDivisor(shape.loops[contiguous].size, limits.pointwiseFactor);
  return tile;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the register tile of a structured op. The functions depend only on loop sizes and access strides, so unit
// tests need neither IR nor a device.

#ifndef INLAY_CONVERT_LOOPNEST_TILEPOLICY_H
#define INLAY_CONVERT_LOOPNEST_TILEPOLICY_H

#include <cstdint>
#include <vector>

namespace inlay {

/// The loops of a structured op and the element strides of its operands.
struct LoopNestShape {
  struct Loop {
    int64_t size;
    bool reduction;
    bool isOpen = false; ///< True if `size` is only the typical size. No factor is then known to divide it.

    /// Returns true if the loop runs at most once.
    bool isSingle() const { return size <= 1 && !isOpen; }
  };
  std::vector<Loop> loops;
  /// For each input and each loop, the number of elements by which one step of the loop moves the access; 0 if it does
  /// not move.
  std::vector<std::vector<int64_t>> inputStrides;
  std::vector<int64_t> outputStrides; ///< Strides of the first output.
  bool vectorizable = true;           ///< True if vectors can compute the body lane by lane.
  bool sumsLanes = false;             ///< True if lanes may reduce separately and are joined at the end.
  /// For each input, the loop along which four steps, starting at a multiple of four, access one aligned vector in
  /// memory; -1 if there is none. Empty if no input has such a loop.
  std::vector<int> inputQuads;
  int outputQuad = -1; ///< The loop of the only output along which it has such vectors, or -1.
};

/// Limits of a tile.
struct TileLimits {
  int64_t maxPoints = 32;      ///< Accumulators per tile, each of `lanes` elements.
  int64_t maxFactor = 8;       ///< Factor along one loop.
  int64_t lanes = 1;           ///< Lanes of the widest vector.
  int64_t pointwiseFactor = 1; ///< Points along the innermost loop of an op without reductions.
};

/// The unroll factor of each loop (1 for reductions) and the vectorized loop, which may be the last reduction. The last
/// tile is cut short if a factor does not divide its loop.
struct TileShape {
  std::vector<int64_t> factors;
  int vectorLoop = -1; ///< Vectorized loop; -1 for scalar code.
  int64_t lanes = 1;
};

/// The blocks of steps into which a loop of a sum is cut, from the smallest. Each block consists of whole smaller
/// blocks unless it is the last one of the loop, and has its own accumulator. Empty if the loop is not cut.
using SumBlocks = std::vector<int64_t>;

/// The blocks of one loop. They are exact if each one, and the loop, is whole.
struct SumCut {
  SumBlocks blocks;
  bool isExact = false;
};

/// Cuts the loops of a sum so that one accumulator gets only a few more than `maxTerms` terms. `sizes` are the steps of
/// the loops from the outermost. Returns the blocks of each loop. The error then grows with `maxTerms` and with the
/// number of nested blocks, which is logarithmic, not with the number of terms (Higham, Accuracy and Stability of
/// Numerical Algorithms, section 4.2).
std::vector<SumBlocks> cutSums(const std::vector<int64_t> &sizes, int64_t maxTerms);

/// Returns the number of terms that an accumulator of the op may get, for `cutSums`. It is larger for products, whose
/// tiles keep accumulators of several points in registers.
int64_t chooseMaxTerms(const LoopNestShape &shape);

/// Returns the largest divisor of `size` that is at most `limit`. The result is at least 1.
int64_t largestDivisor(int64_t size, int64_t limit);

/// Returns a factor of at most `limit` for a loop of `size` steps: a divisor if one is nearly as large as the limit,
/// else the factor that leaves the last tile nearly full.
int64_t chooseFactor(int64_t size, int64_t limit);

/// Chooses a tile. A reduction gets a two-dimensional register tile over the loops along which it reuses operands.
TileShape chooseTile(const LoopNestShape &shape, const TileLimits &limits);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_TILEPOLICY_H

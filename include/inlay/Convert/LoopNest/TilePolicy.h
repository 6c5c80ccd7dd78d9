// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one structured op is cut into register tiles. Pure functions of loop sizes and access strides, so that they can
// be tested without IR and chosen per device.

#ifndef INLAY_CONVERT_LOOPNEST_TILEPOLICY_H
#define INLAY_CONVERT_LOOPNEST_TILEPOLICY_H

#include <cstdint>
#include <vector>

namespace inlay {

/// A structured op as its loops and the element strides of its operands.
struct LoopNestShape {
  struct Loop {
    int64_t size;
    bool reduction;
    bool isOpen = false; ///< `size` is what it is typically: no number divides it for sure
  };
  std::vector<Loop> loops;
  std::vector<std::vector<int64_t>> inputStrides; ///< per input, per loop: elements moved by one step; 0 if none
  std::vector<int64_t> outputStrides;             ///< of the first output
  bool vectorizable = true;                       ///< the body can be computed lane by lane in vectors
  bool sumsLanes = false; ///< reductions may go on in each lane by itself, to be joined in the end
  /// Per input the loop of which four steps, from a multiple of four on, are one aligned vector in memory; -1 if there
  /// is none. If it is empty, no input has one.
  std::vector<int> inputQuads;
  int outputQuad = -1; ///< the same of the only output
};

/// What the policy may use.
struct TileLimits {
  int64_t maxPoints = 32;      ///< accumulators per tile (of `lanes` elements each)
  int64_t maxFactor = 8;       ///< along one loop
  int64_t lanes = 1;           ///< widest vector
  int64_t pointwiseFactor = 1; ///< points along the innermost loop of an op without reductions
};

/// Unroll factors per loop (1 for reductions), and the loop that is vectorized, maybe the last reduction. Where a
/// factor doesn't divide its loop, the last tile is cut short.
struct TileShape {
  std::vector<int64_t> factors;
  int vectorLoop = -1; ///< -1: scalar
  int64_t lanes = 1;
};

/// How the loops of a sum, of `sizes` steps from the outermost in, are cut so that few more than `maxTerms` terms are
/// added to one accumulator: per loop, after how many of its steps one is added to that of the loops around; 0 if it
/// goes on through the whole loop. Errors then grow with the terms of an accumulator and with how many of these there
/// are, not with all terms (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
std::vector<int64_t> cutSums(const std::vector<int64_t> &sizes, int64_t maxTerms);

/// The largest divisor of `size` that is at most `limit`; at least 1.
int64_t largestDivisor(int64_t size, int64_t limit);

/// A factor of at most `limit` for a loop of `size`: one that divides it if that is nearly as large as can be, else the
/// one that leaves the last tile nearly whole.
int64_t chooseFactor(int64_t size, int64_t limit);

/// Chooses a tile: reductions get a two-dimensional register tile over the loops along which operands are re-used.
TileShape chooseTile(const LoopNestShape &shape, const TileLimits &limits);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_TILEPOLICY_H

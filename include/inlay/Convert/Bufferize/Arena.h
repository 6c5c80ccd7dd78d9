// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in one block of memory for buffers that are needed for a while each.

#ifndef INLAY_CONVERT_BUFFERIZE_ARENA_H
#define INLAY_CONVERT_BUFFERIZE_ARENA_H

#include <cstdint>
#include <vector>

namespace inlay {

/// A buffer of `bytes`, needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes;
  unsigned first, last;
};

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< in bytes, multiples of the alignment
  int64_t bytes = 0;            ///< of the block; at least what is needed at one time
};

/// Largest buffers first, each into the narrowest gap that it fits between those that are needed at the same time
/// (greedy by size, of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Takes
/// time of the square of the number of buffers at most.
ArenaPlan planArena(const std::vector<Lifetime> &lifetimes, int64_t alignment = 64);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_ARENA_H

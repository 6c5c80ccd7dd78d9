// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the offsets of buffers in one arena. Buffers that are live at different times may share memory.

#ifndef INLAY_CONVERT_BUFFERIZE_ARENA_H
#define INLAY_CONVERT_BUFFERIZE_ARENA_H

#include <cstdint>
#include <vector>

namespace inlay {

/// The lifetime of a buffer of `bytes` bytes. The buffer is live from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes;
  unsigned first, last;
};

/// The places of buffers in an arena. The order is that of the lifetimes passed to `planArena`.
struct ArenaPlan {
  std::vector<int64_t> offsets; ///< Offset of each buffer in bytes, a multiple of the alignment.
  int64_t bytes = 0;            ///< Size of the arena in bytes.
};

/// Returns an offset for each buffer, a multiple of `alignment` bytes. Buffers are placed by decreasing size, each into
/// the smallest gap between the buffers that are live at the same time (greedy by size, from Pisarchyk and Lee,
/// "Efficient Memory Management for Deep Neural Net Inference", 2020). The time is at most quadratic in the number of
/// buffers.
ArenaPlan planArena(const std::vector<Lifetime> &lifetimes, int64_t alignment = 64);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_ARENA_H

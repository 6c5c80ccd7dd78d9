// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A seeded random number generator that gives the same numbers on every platform.

#ifndef INLAY_LIB_REWRITE_CHECK_RANDOM_H
#define INLAY_LIB_REWRITE_CHECK_RANDOM_H

#include "llvm/ADT/ArrayRef.h"

#include <random>

namespace inlay {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Returns a number in [0, bound), or 0 if `bound` is 0.
  uint64_t below(uint64_t bound) { return bound ? engine() % bound : 0; }
  /// Returns a number in [min, max].
  int64_t between(int64_t min, int64_t max) { return min + static_cast<int64_t>(below(max - min + 1)); }
  /// Returns true with a probability of 1 / n.
  bool oneIn(uint64_t n) { return below(n) == 0; }
  /// Returns a number in [min, max).
  double real(double min, double max) { return min + (max - min) * (engine() >> 11) * 0x1.0p-53; }

  /// Returns an element of `range`, which must not be empty.
  template <typename Range>
  auto pick(const Range &range) {
    return range[below(std::size(range))];
  }

private:
  std::mt19937_64 engine;
};

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_RANDOM_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many random graphs a property is tried on: a sample, or all that is promised where INLAY_FULL is set.

#ifndef UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H
#define UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H

#include "RandomGraph.h"

#include <cstdlib>

namespace inlay::testing {

inline unsigned countRounds(unsigned sample, unsigned full = 10'000) {
  return std::getenv("INLAY_FULL") ? full : sample;
}

/// Options of the given round: shapes in turn, up to `most` nodes.
inline RandomGraphOptions varyOptions(std::mt19937 &random, unsigned round, RandomGraphOptions options, unsigned most) {
  options.shape = kShapes[round % kShapes.size()];
  options.nodes = 1 + random() % most;
  options.edges = 0.05 + 0.05 * (random() % 8);
  return options;
}

} // namespace inlay::testing

#endif // UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H

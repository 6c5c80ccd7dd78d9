// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number and shape of the random graphs that a property is tested on: a sample, or all graphs that we promise it
// for if INLAY_FULL is set.

#ifndef UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H
#define UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H

#include "RandomGraph.h"

#include <cstdlib>

namespace inlay::testing {

/// Returns the number of random graphs to test.
inline unsigned countRounds(unsigned sample, unsigned full = 10'000) {
  return std::getenv("INLAY_FULL") ? full : sample;
}

/// Returns the options of a round. The shapes alternate. The number of nodes is random, at most `maxNodes`.
inline RandomGraphOptions varyOptions(std::mt19937 &random, unsigned round, RandomGraphOptions options,
                                      unsigned maxNodes) {
  options.shape = kShapes[round % kShapes.size()];
  options.nodes = 1 + random() % maxNodes;
  options.edges = 0.05 + 0.05 * (random() % 8);
  return options;
}

} // namespace inlay::testing

#endif // UNITTESTS_SCHEDULING_SCHEDULEPROPERTIES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random functions to partition, as MLIR text: framework calls that several targets declare, ops of other dialects,
// lists that are made, changed and taken apart, views and writes of tensors, buffers, calls of unknown effect, and
// control flow that nests and captures all of these. Each op has a name of its own.

#ifndef INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H
#define INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H

#include <cstdint>
#include <string>

namespace inlay::testing {

struct RandomProgramOptions {
  uint32_t seed = 0;
  unsigned targets = 2; ///< the last is `host`, which can run anything
  unsigned ops = 16;
  bool hasEffects = true, hasCollections = true, hasRegions = true, hasPins = false;
  /// How far back operands are taken from: small for deep graphs, large for wide ones.
  unsigned reach = 6;
};

std::string makeRandomProgram(const RandomProgramOptions &options);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H

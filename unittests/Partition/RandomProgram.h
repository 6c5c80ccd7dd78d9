// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random functions to partition, as MLIR text: framework calls that several targets declare, ops of other dialects,
// lists that are made, changed and unpacked, views and writes of tensors, buffers, calls of unknown effect, and control
// flow that nests and captures all of these. Each op has a unique name.

#ifndef INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H
#define INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H

#include <cstdint>
#include <string>

namespace inlay::testing {

struct RandomProgramOptions {
  uint32_t seed = 0;
  unsigned targets = 2; ///< The last one is `host`, which can run anything.
  unsigned ops = 16;
  bool hasEffects = true, hasCollections = true, hasRegions = true, hasPins = false;
  /// Maximum distance between an op and its operands: small for deep graphs, large for wide ones.
  unsigned reach = 6;
};

std::string makeRandomProgram(const RandomProgramOptions &options);

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_PARTITION_RANDOMPROGRAM_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what the machine code of an AMD GPU does, by its text in LLVM's syntax.

#ifndef TOOLS_INLAY_BENCH_GPUCOMPILERS_ISA_H
#define TOOLS_INLAY_BENCH_GPUCOMPILERS_ISA_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace inlay::bench {

/// Numbers of instructions. Bytes are those of one invocation.
struct IsaCounts {
  int64_t instructions = 0;
  int64_t vector = 0;               ///< Instructions of the vector units. One that holds two operations counts once.
  int64_t fma = 0;                  ///< Fused multiply-adds. A packed one counts twice.
  int64_t matrix = 0;               ///< Products of matrices.
  int64_t arithmetic = 0;           ///< Other float operations: additions, products, exponentials, ...
  int64_t integer = 0;              ///< Vector operations on integers.
  int64_t lane = 0;                 ///< Exchanges of values between lanes.
  int64_t scalar = 0;               ///< Instructions of the scalar unit, except waits.
  int64_t loads = 0, loadBytes = 0; ///< Loads of buffers, one address per invocation.
  int64_t narrowLoads = 0;          ///< Loads of less than 4 bytes, of buffers and of workgroup memory.
  int64_t scalarLoads = 0;          ///< Loads of one address per subgroup.
  int64_t sharedReads = 0, sharedReadBytes = 0; ///< Reads of workgroup memory.
  int64_t sharedWrites = 0;
  int64_t stores = 0;
  int64_t fullWaits = 0; ///< Waits for all outstanding loads of buffers.
  int64_t barriers = 0;

  /// Returns the number of float operations, fused ones counted once.
  int64_t countMath() const { return fma + matrix + arithmetic; }
};

/// Counts the innermost loop of `assembly` with the most float operations. Counts the whole text if it has no loop, or
/// if the loop with the products of matrices was unrolled.
IsaCounts countHotLoop(llvm::StringRef assembly);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GPUCOMPILERS_ISA_H

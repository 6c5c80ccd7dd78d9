// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much memory a program needs.

#ifndef INLAY_RUNTIME_CORE_MEMORYUSE_H
#define INLAY_RUNTIME_CORE_MEMORYUSE_H

#include <cstdint>
#include <initializer_list>

namespace inlay::rt {

/// Bytes of buffers that may share memory.
struct SharedBytes {
  uint64_t peak = 0;     ///< of the memory that they share
  uint64_t unshared = 0; ///< if each had memory of its own

  void add(const SharedBytes &other) {
    peak += other.peak;
    unshared += other.unshared;
  }
};

/// What a call in flight needs beside its arguments and results, and what all calls of a program use. What libraries
/// and drivers keep for themselves isn't counted.
struct MemoryUse {
  SharedBytes hostTemporaries;   ///< values that pass between steps
  SharedBytes hostScratch;       ///< what host functions keep while they run
  SharedBytes deviceTemporaries; ///< values that pass between steps, also those that a unified memory's host shares
  SharedBytes deviceScratch;     ///< what engines keep while they run
  uint64_t hostConstants = 0;    ///< bytes that host functions and the framework read
  uint64_t deviceConstants = 0;  ///< bytes that were uploaded

  /// All but the constants.
  SharedBytes total() const {
    SharedBytes sum;
    for (const SharedBytes &part : {hostTemporaries, hostScratch, deviceTemporaries, deviceScratch})
      sum.add(part);
    return sum;
  }
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_MEMORYUSE_H

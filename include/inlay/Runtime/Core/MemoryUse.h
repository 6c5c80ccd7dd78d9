// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MemoryUse: the amount of memory that a program needs.

#ifndef INLAY_RUNTIME_CORE_MEMORYUSE_H
#define INLAY_RUNTIME_CORE_MEMORYUSE_H

#include <cstdint>
#include <initializer_list>

namespace inlay::rt {

/// Bytes of buffers that may share memory.
struct SharedBytes {
  uint64_t peak = 0;     ///< Bytes of the memory that the buffers share.
  uint64_t unshared = 0; ///< Bytes if each buffer had separate memory.

  void add(const SharedBytes &other) {
    peak += other.peak;
    unshared += other.unshared;
  }
};

/// Memory that a call in flight needs besides its arguments and results, memory that all calls of a program share, and
/// memory that the calls of one session share.
/// Memory that libraries and drivers allocate for themselves is not counted.
struct MemoryUse {
  SharedBytes hostTemporaries;   ///< Values that pass between steps.
  SharedBytes hostScratch;       ///< Working memory of host functions.
  SharedBytes deviceTemporaries; ///< Values that pass between steps; with unified memory also those that the host uses.
  SharedBytes deviceScratch;     ///< Working memory of engines.
  uint64_t hostConstants = 0;    ///< Bytes of constants that host functions and the framework read.
  uint64_t deviceConstants = 0;  ///< Bytes of constants that were uploaded.
  uint64_t hostStates = 0;       ///< Bytes of the states of one session.
  uint64_t deviceStates = 0;     ///< Bytes of the states of one session that are in device memory.

  /// Returns the sum of everything but the constants and the states.
  SharedBytes total() const {
    SharedBytes sum;
    for (const SharedBytes &part : {hostTemporaries, hostScratch, deviceTemporaries, deviceScratch})
      sum.add(part);
    return sum;
  }
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_MEMORYUSE_H

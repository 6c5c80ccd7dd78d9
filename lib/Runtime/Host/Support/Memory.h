// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory whose allocation may fail, and per-thread scratch memory.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace inlay::rt::host {

struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

/// Allocates memory that is aligned to a cache line. Returns null if there is not enough memory.
inline Memory allocate(size_t bytes) {
  constexpr size_t kLine = 64;
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  return Memory(std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine));
}

/// Memory that grows and is reused. Declared thread_local, one object per use.
class Scratch {
public:
  /// Returns at least `bytes` bytes with undefined contents, or null if there is not enough memory.
  void *reserve(size_t bytes) {
    if (bytes > bytes_ || !memory_) {
      memory_.reset();
      memory_ = allocate(bytes);
      bytes_ = memory_ ? bytes : 0;
    }
    return memory_.get();
  }

private:
  Memory memory_;
  size_t bytes_ = 0;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

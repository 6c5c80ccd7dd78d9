// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory whose allocation may fail, and per-thread scratch memory.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <pthread.h>

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

/// Memory that grows and is reused, a separate block in each thread. Declared static, one object per use. It is not
/// thread_local, because the C library ends the process if it has no memory to register the destructor of a
/// thread_local object. Its key is never deleted, because threads may be inside kernels while the process exits.
class Scratch {
public:
  Scratch() : hasKey_(pthread_key_create(&key_, std::free) == 0) {}
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// Returns at least `bytes` bytes with undefined contents, or null if there is not enough memory. They are valid
  /// until this thread's next call.
  void *reserve(size_t bytes) {
    auto *block = hasKey_ ? static_cast<Block *>(pthread_getspecific(key_)) : nullptr;
    if (!block || bytes > block->bytes)
      block = grow(block, bytes);
    return block ? block + 1 : nullptr;
  }

private:
  /// The head of a block. The bytes after it are aligned to a cache line.
  struct alignas(64) Block {
    size_t bytes;
  };

  /// Replaces this thread's block. Returns null, and leaves no block, if there is not enough memory.
  Block *grow(Block *old, size_t bytes) {
    if (!hasKey_)
      return nullptr;
    if (old)
      pthread_setspecific(key_, nullptr);
    std::free(old);
    Memory made = bytes < SIZE_MAX / 2 ? allocate(sizeof(Block) + bytes) : nullptr;
    if (!made || pthread_setspecific(key_, made.get()) != 0)
      return nullptr;
    auto *block = static_cast<Block *>(made.release());
    block->bytes = bytes;
    return block;
  }

  pthread_key_t key_ = 0;
  bool hasKey_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

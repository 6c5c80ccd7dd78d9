// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory whose allocation may fail, and per-thread scratch memory.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

#include <atomic>
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
/// thread_local object. Its key is never deleted, because threads may be inside kernels while the process exits. The
/// object is constant-initialized, so it has no guard that a fork could leave locked.
class Scratch {
public:
  constexpr Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// Returns at least `bytes` bytes with undefined contents, or null if there is not enough memory. They are valid
  /// until this thread's next call.
  void *reserve(size_t bytes) {
    int64_t key = key_.load(std::memory_order_acquire);
    if (key == kNone && (key = createKey()) == kNone)
      return nullptr;
    auto *block = static_cast<Block *>(pthread_getspecific(static_cast<pthread_key_t>(key)));
    if (!block || bytes > block->bytes)
      block = grow(static_cast<pthread_key_t>(key), block, bytes);
    return block ? block + 1 : nullptr;
  }

private:
  /// The head of a block. The bytes after it are aligned to a cache line.
  struct alignas(64) Block {
    size_t bytes;
  };

  /// Creates the key unless another thread does so first. Returns the key, or kNone if there are too many.
  int64_t createKey() {
    pthread_key_t key = 0;
    int64_t known = kNone;
    if (pthread_key_create(&key, std::free) != 0)
      return key_.load(std::memory_order_acquire);
    if (key_.compare_exchange_strong(known, key, std::memory_order_acq_rel))
      return key;
    pthread_key_delete(key);
    return known;
  }

  /// Replaces this thread's block. Returns null, and leaves no block, if there is not enough memory.
  static Block *grow(pthread_key_t key, Block *old, size_t bytes) {
    if (old)
      pthread_setspecific(key, nullptr);
    std::free(old);
    Memory made = bytes < SIZE_MAX / 2 ? allocate(sizeof(Block) + bytes) : nullptr;
    if (!made || pthread_setspecific(key, made.get()) != 0)
      return nullptr;
    auto *block = static_cast<Block *>(made.release());
    block->bytes = bytes;
    return block;
  }

  static constexpr int64_t kNone = -1;

  std::atomic<int64_t> key_{kNone}; ///< The pthread_key_t.
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_MEMORY_H

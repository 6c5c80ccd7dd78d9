// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks and caches that work in a child of fork. Only the thread that called fork exists in the child. A lock that
// another thread held at the fork stays locked there forever, and the data that it guards may be half changed.

#ifndef INLAY_RUNTIME_CORE_FORK_H
#define INLAY_RUNTIME_CORE_FORK_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

namespace inlay::rt {

/// Returns the number of forks between the process that loaded the runtime and this process.
uint32_t forkCount();

/// Detects the first use of an object in a child of fork. Thread-safe.
class ForkDetector {
public:
  /// Calls `renew()` if this is the first call in this process. Other threads wait until it is done.
  template <typename Renew>
  void renewAfterFork(const Renew &renew) {
    if (forks_.load(std::memory_order_acquire) == forkCount())
      return;
    lockRenewals();
    if (forks_.load(std::memory_order_relaxed) != forkCount()) {
      renew();
      forks_.store(forkCount(), std::memory_order_release);
    }
    unlockRenewals();
  }

private:
  static void lockRenewals();
  static void unlockRenewals();

  std::atomic<uint32_t> forks_{forkCount()};
};

/// A cache that threads share. If a thread was using the cache at a fork, the child starts with an empty cache and
/// leaks the old one. T must have a default constructor that makes an empty cache and doesn't fail.
template <typename T>
class SharedCache {
public:
  SharedCache() = default;
  SharedCache(const SharedCache &) = delete;
  SharedCache &operator=(const SharedCache &) = delete;

  /// Returns `function(T &)`, which runs with the cache locked. It must not use this cache or call fork.
  template <typename Function>
  auto use(const Function &function) {
    fork_.renewAfterFork([this] { renew(); });
    std::lock_guard<std::mutex> lock(mutex_);
    InUse inUse(isInUse_);
    return function(cache_);
  }

private:
  struct InUse {
    explicit InUse(std::atomic<bool> &flag) : flag(flag) { flag = true; }
    ~InUse() { flag = false; }
    std::atomic<bool> &flag;
  };

  void renew() {
    new (&mutex_) std::mutex;
    if (isInUse_.exchange(false))
      new (&cache_) T;
  }

  ForkDetector fork_;
  std::mutex mutex_;
  std::atomic<bool> isInUse_{false};
  T cache_;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_FORK_H

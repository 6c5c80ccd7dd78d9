// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CallLock: a lock that calls share and that changes between calls take exclusively.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H

#include "inlay/Runtime/Core/Fork.h"

#include <pthread.h>

namespace inlay::rt {

/// Like std::shared_mutex, with three differences. A waiting exclusive lock goes before later shared ones; with glibc's
/// default a steady load of calls would keep it waiting forever. A thread may share the lock again inside a call. A
/// child of fork can lock it even if threads of the parent held it.
class CallLock {
public:
  CallLock() { initialize(); }
  ~CallLock() { pthread_rwlock_destroy(&lock_); }
  CallLock(const CallLock &) = delete;
  CallLock &operator=(const CallLock &) = delete;

  /// Shares the lock during its lifetime, which must end on the same thread.
  class Shared {
  public:
    explicit Shared(CallLock &lock)
        : lock_(lock), isOutermost_(!lock.isSharedByThisThread()), forks_(forkCount()), outer_(innermost()) {
      lock_.renewAfterFork();
      if (isOutermost_)
        pthread_rwlock_rdlock(&lock_.lock_);
      innermost() = this;
    }
    ~Shared() {
      innermost() = outer_;
      // After a fork inside of the call, the child has a new lock.
      if (isOutermost_ && forks_ == forkCount())
        pthread_rwlock_unlock(&lock_.lock_);
    }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;

  private:
    friend class CallLock;

    CallLock &lock_;
    const bool isOutermost_;
    const uint32_t forks_; ///< forkCount() when the lock was taken.
    Shared *const outer_;  ///< The lock that this thread shared before.
  };

  /// Takes the lock exclusively during its lifetime. The thread must not share it, because it would wait forever.
  class Exclusive {
  public:
    explicit Exclusive(CallLock &lock) : lock_(lock) {
      lock_.renewAfterFork();
      pthread_rwlock_wrlock(&lock_.lock_);
    }
    ~Exclusive() { pthread_rwlock_unlock(&lock_.lock_); }
    Exclusive(const Exclusive &) = delete;
    Exclusive &operator=(const Exclusive &) = delete;

  private:
    CallLock &lock_;
  };

  /// Returns true if this thread is inside a call that shares the lock.
  bool isSharedByThisThread() const {
    for (const Shared *shared = innermost(); shared; shared = shared->outer_)
      if (&shared->lock_ == this)
        return true;
    return false;
  }

private:
  static Shared *&innermost() {
    static thread_local Shared *shared = nullptr;
    return shared;
  }

  void initialize() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }

  /// Makes a new lock in a child of fork, where the threads that held the old one don't exist.
  void renewAfterFork() {
    fork_.renewAfterFork([this] { initialize(); });
  }

  ForkDetector fork_;
  pthread_rwlock_t lock_;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H

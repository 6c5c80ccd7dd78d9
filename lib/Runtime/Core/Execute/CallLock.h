// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CallLock: a lock that calls share and that changes between calls take exclusively.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H

#include <pthread.h>

namespace inlay::rt {

/// Like std::shared_mutex, but a waiting exclusive lock goes before later shared ones. With glibc's default a steady
/// load of calls would keep it waiting forever. A thread must not lock it twice.
class CallLock {
public:
  CallLock() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~CallLock() { pthread_rwlock_destroy(&lock_); }
  CallLock(const CallLock &) = delete;
  CallLock &operator=(const CallLock &) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

private:
  pthread_rwlock_t lock_;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_CALLLOCK_H

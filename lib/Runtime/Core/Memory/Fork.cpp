// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the forks of the process, and lets one thread at a time renew an object in a child of fork.

#include "inlay/Runtime/Core/Fork.h"

#include <pthread.h>
#include <sched.h>

namespace inlay::rt {

static std::atomic<uint32_t> forks{0};
static std::atomic<bool> isRenewing{false};

/// Runs in the child of a fork, which has one thread.
static void countFork() {
  forks.fetch_add(1, std::memory_order_relaxed);
  isRenewing = false;
}

// Registered when the library is loaded. A fork could leave the guard of a local static variable locked.
[[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, countFork);

uint32_t forkCount() { return forks.load(std::memory_order_relaxed); }

void ForkDetector::lockRenewals() {
  while (isRenewing.exchange(true, std::memory_order_acquire))
    sched_yield();
}

void ForkDetector::unlockRenewals() { isRenewing.store(false, std::memory_order_release); }

} // namespace inlay::rt

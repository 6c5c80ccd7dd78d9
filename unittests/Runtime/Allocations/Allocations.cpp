// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

extern "C" {
// The functions of glibc behind the ones that are replaced.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
}

static std::atomic<int64_t> left{INT64_MAX}; ///< Number of allocations before the one that fails.
static std::atomic<bool> failsAll{false}, hasFailed{false};

static thread_local bool isPaused = false;

/// Counts an allocation. Returns true if it must fail.
static bool mustFail() {
  if (isPaused || left.load(std::memory_order_relaxed) == INT64_MAX)
    return false;
  int64_t number = left.fetch_sub(1);
  if (number > 0 || (number < 0 && !failsAll))
    return false;
  hasFailed = true;
  errno = ENOMEM;
  return true;
}

void inlay::rt::test::failAllocation(int64_t number, bool all) {
  hasFailed = false;
  failsAll = all;
  left = number;
}

bool inlay::rt::test::stopFailing() {
  left = INT64_MAX;
  return hasFailed;
}

inlay::rt::test::NoFailures::NoFailures() { isPaused = true; }
inlay::rt::test::NoFailures::~NoFailures() { isPaused = false; }

extern "C" {
void *malloc(size_t size) { return mustFail() ? nullptr : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return mustFail() ? nullptr : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return mustFail() ? nullptr : __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return mustFail() ? nullptr : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (made)
    *memory = made;
  return made ? 0 : ENOMEM;
}
}
// libstdc++'s operators new call malloc and aligned_alloc.

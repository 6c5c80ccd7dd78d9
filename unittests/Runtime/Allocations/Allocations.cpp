// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Allocations.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <execinfo.h>
#include <new>
#include <string_view>

extern "C" {
// The functions of glibc behind the ones that are replaced.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
}

static std::atomic<int64_t> left{INT64_MAX};  ///< Number of allocations before the one that fails.
static std::atomic<int64_t> begin{INT64_MAX}; ///< The first value of `left`.
static std::atomic<bool> failsAll{false}, hasFailed{false};

static thread_local bool isPaused = false;

static bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The kinds of code that may ask for memory. A library asks for its caller, and tells it if there is none.
enum class Origin { Inlay, Library, Other };

static Origin originOf(void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return Origin::Other;
  std::string_view file = info.dli_fname;
  for (std::string_view library : {"/libc.so", "/libstdc++.so", "/ld-linux", "/libfmt.so"})
    if (contains(file, library))
      return Origin::Library;
  return contains(file, "/libinlay") || contains(file, "InlayRuntime") ? Origin::Inlay : Origin::Other;
}

/// Returns true if code of Inlay asked for the allocation, directly or through such a library. `caller` is the
/// return address of the allocation function. Drivers, layers and kernel libraries end the process if they get no
/// memory.
static bool isOurs(void *caller) {
  Origin direct = originOf(caller);
  if (direct != Origin::Library)
    return direct == Origin::Inlay;
  std::array<void *, 24> frames;
  int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  bool isAbove = false; // of the allocation function
  for (int i = 0; i < count; ++i) {
    void *frame = frames[static_cast<size_t>(i)];
    isAbove = isAbove || frame == caller;
    Origin origin = isAbove ? originOf(frame) : Origin::Library;
    if (origin != Origin::Library)
      return origin == Origin::Inlay;
  }
  return false;
}

/// Counts an allocation. Returns true if it must fail.
static bool mustFail(void *caller) {
  if (isPaused || left.load(std::memory_order_relaxed) == INT64_MAX)
    return false;
  isPaused = true; // for allocations of `isOurs`
  bool counts = isOurs(caller);
  isPaused = false;
  if (!counts)
    return false;
  int64_t number = left.fetch_sub(1);
  if (number > 0 || (number < 0 && !failsAll))
    return false;
  hasFailed = true;
  errno = ENOMEM;
  return true;
}

void inlay::rt::test::failAllocation(int64_t number, bool all) {
  void *frame = nullptr;
  backtrace(&frame, 1); // the first call loads a library
  hasFailed = false;
  failsAll = all;
  begin = left = number;
}

int64_t inlay::rt::test::countAllocations() { return begin - left; }

bool inlay::rt::test::stopFailing() {
  left = INT64_MAX;
  return hasFailed;
}

inlay::rt::test::NoFailures::NoFailures() { isPaused = true; }
inlay::rt::test::NoFailures::~NoFailures() { isPaused = false; }

static void *allocate(size_t alignment, size_t size, void *caller) {
  if (mustFail(caller))
    return nullptr;
  return alignment ? __libc_memalign(alignment, size) : __libc_malloc(size);
}

extern "C" {
void *malloc(size_t size) { return allocate(0, size, __builtin_return_address(0)); }
void *calloc(size_t count, size_t size) {
  return mustFail(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return mustFail(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) { return allocate(alignment, size, __builtin_return_address(0)); }
void *aligned_alloc(size_t alignment, size_t size) { return allocate(alignment, size, __builtin_return_address(0)); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *made = allocate(alignment, size, __builtin_return_address(0));
  if (made)
    *memory = made;
  return made ? 0 : ENOMEM;
}
}

// The other operators of libstdc++ call these two.
void *operator new(size_t size) {
  void *made = allocate(0, size ? size : 1, __builtin_return_address(0));
  return made ? made : throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment) {
  void *made = allocate(static_cast<size_t>(alignment), size ? size : 1, __builtin_return_address(0));
  return made ? made : throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

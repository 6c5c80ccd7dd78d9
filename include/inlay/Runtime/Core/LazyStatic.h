// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LazyStatic: what a local static variable is, but for processes that fork.

#ifndef INLAY_RUNTIME_CORE_LAZYSTATIC_H
#define INLAY_RUNTIME_CORE_LAZYSTATIC_H

#include "Fork.h"

#include <cstddef>
#include <sched.h>

namespace inlay::rt {

/// An object of a static variable that is created at its first use and never destroyed. A thread that initializes a
/// local static variable during fork leaves its guard locked in the child, which then waits forever. A child creates
/// the object of a LazyStatic again in that case, and leaks what the thread of the parent had created. Thread-safe.
template <typename T>
class LazyStatic {
public:
  constexpr LazyStatic() = default;
  LazyStatic(const LazyStatic &) = delete;
  LazyStatic &operator=(const LazyStatic &) = delete;

  T &get() {
    return get([] { return T(); });
  }

  /// Creates the object from the result of `make()`, unless it exists. `make` must not use this object. If it throws,
  /// the next use calls it again.
  template <typename Make>
  T &get(const Make &make) {
    uint64_t state = state_.load(std::memory_order_acquire);
    while (state != kMade) {
      uint64_t making = kMaking + forkCount();
      if (state == making) // another thread
        sched_yield();
      else if (state_.compare_exchange_strong(state, making, std::memory_order_acquire))
        create(make);
      state = state_.load(std::memory_order_acquire);
    }
    return *std::launder(reinterpret_cast<T *>(room_));
  }

private:
  /// Values of `state_`. A state of kMaking and more is that of a thread in the process with this fork count.
  static constexpr uint64_t kNone = 0, kMade = 1, kMaking = 2;

  template <typename Make>
  void create(const Make &make) {
    struct Reset {
      std::atomic<uint64_t> &state;
      uint64_t value = kNone;
      ~Reset() { state.store(value, std::memory_order_release); }
    } reset{state_};
    new (room_) T(make());
    reset.value = kMade;
  }

  std::atomic<uint64_t> state_{kNone};
  alignas(T) std::byte room_[sizeof(T)] = {};
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_LAZYSTATIC_H

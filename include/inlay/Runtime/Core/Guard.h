// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border between the runtime and the exceptions of the C++ library. The runtime throws none, but an allocation that
// fails throws std::bad_alloc. Functions that callers use, threads, and functions that native code calls run their work
// in `guard`.

#ifndef INLAY_RUNTIME_CORE_GUARD_H
#define INLAY_RUNTIME_CORE_GUARD_H

#include "inlay/Runtime/Core/Status.h"

#include <new>
#include <stdexcept>

namespace inlay::rt {

/// Returns the error of a failed allocation. Allocates nothing: the message fits into the string object.
inline Status outOfMemory() { return {StatusCode::ResourceExhausted, "out of memory"}; }

/// Returns the result of `work`, a Status or a StatusOr, or `outOfMemory()` if an allocation fails.
template <typename Work>
auto guard(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) { // a container can't have so many elements
    return outOfMemory();
  }
}

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_GUARD_H

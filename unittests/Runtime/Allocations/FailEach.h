// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an operation with each of its allocations failing in turn.

#ifndef INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_FAILEACH_H
#define INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_FAILEACH_H

#include "inlay/Runtime/Core/Status.h"

#include <cstddef>
#include <functional>

namespace inlay::rt::test {

/// Runs `work` until no allocation is left that can fail. Errors must be ResourceExhausted. After each run `check` must
/// succeed.
void failEach(const std::function<Status()> &work, const std::function<Status()> &check);

/// Does the same for `sample` random allocations of a run of `work`, or for all of them with INLAY_FULL=1.
void failSome(size_t sample, const std::function<Status()> &work, const std::function<Status()> &check);

/// Overloads whose check is `work` itself.
void failEach(const std::function<Status()> &work);
void failSome(size_t sample, const std::function<Status()> &work);

/// Returns true if INLAY_FULL asks for complete runs.
bool isFull();

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_FAILEACH_H

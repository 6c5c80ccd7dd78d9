// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory for the results of calls, which goes around: memory that is fresh from the system costs a page fault for
// each 4 KiB, more than what writes it.

#ifndef INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H
#define INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H

#include "inlay/Runtime/Core/Status.h"

#include <memory>

namespace inlay::rt {

/// Memory of `bytes`, with whole words to the end, aligned as `allocateHostBlock` does. It is the process's, not a
/// program's or a device's; the last owner may drop it on any thread, in a child of fork, and while the process ends.
/// Of what was dropped up to 256 MiB are kept for others.
StatusOr<std::shared_ptr<void>> allocateResult(size_t bytes);

/// Bytes that are kept for others now, for tests.
size_t idleResultBytes();

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H

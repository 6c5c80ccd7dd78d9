// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory for the results of calls. It is reused, because memory that is fresh from the system costs a page fault
// per 4 KiB, which takes longer than writing the results.

#ifndef INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H
#define INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H

#include "inlay/Runtime/Core/Status.h"

#include <memory>

namespace inlay::rt {

/// Allocates `bytes`, rounded up to whole words, aligned as by `allocateHostBlock`. The memory belongs to the process
/// and not to a program or a device. The last owner may release it on any thread, in a child of fork, and while the
/// process exits. Up to 256 MiB of released memory are kept for reuse.
StatusOr<std::shared_ptr<void>> allocateResult(size_t bytes);

/// Returns the bytes that are kept for reuse, for tests.
size_t idleResultBytes();

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_MEMORY_RESULTMEMORY_H

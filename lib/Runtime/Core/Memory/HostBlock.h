// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HostBlock: aligned host memory for temporaries and results.

#ifndef INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H
#define INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdlib>
#include <memory>

namespace inlay::rt {

/// Frees memory of `allocateHostBlock`.
struct HostBlockDeleter {
  void operator()(void *data) const { std::free(data); }
};
using HostBlock = std::unique_ptr<void, HostBlockDeleter>;

/// Allocates memory that is aligned to 64 bytes, or to 4096 from 1 MiB on so that a device can import it.
StatusOr<HostBlock> allocateHostBlock(size_t bytes);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H

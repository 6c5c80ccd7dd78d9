// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HostBlock: aligned host memory for temporaries and results.

#ifndef INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H
#define INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdlib>
#include <memory>

namespace inlay::rt {

/// Frees what `allocateHostBlock` gave.
struct HostBlockDeleter {
  void operator()(void *data) const { std::free(data); }
};
using HostBlock = std::unique_ptr<void, HostBlockDeleter>;

/// Memory aligned to 64 bytes, from 1 MiB on to 4096 so that a device could import it.
StatusOr<HostBlock> allocateHostBlock(size_t bytes);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_MEMORY_HOSTBLOCK_H

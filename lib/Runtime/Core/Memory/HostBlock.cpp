// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates one aligned block of host memory. ResultMemory.cpp reuses blocks for results, and Storage.cpp holds
// those of temporaries.

#include "HostBlock.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

StatusOr<HostBlock> allocateHostBlock(size_t bytes) {
  void *data = nullptr;
  size_t alignment = bytes >= (1 << 20) ? 4096 : 64;
  if (posix_memalign(&data, alignment, std::max<size_t>(bytes, 1)) != 0)
    return Status(StatusCode::ResourceExhausted, fmt::format("out of host memory for {} bytes", bytes));
  return HostBlock(data);
}

} // namespace inlay::rt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions outside of it that host code may call: a fixed list, so that a plan can't reach anything else.

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H

#include <cstdint>
#include <string_view>

namespace inlay::rt::host {

/// The address of what host code calls `name`: functions of libm, memory's, and conversions of half floats that
/// compilers call on processors without them. 0 if it may not call that.
uint64_t findImport(std::string_view name);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H

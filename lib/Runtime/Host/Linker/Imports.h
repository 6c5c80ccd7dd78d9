// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The external functions that host code may call. The list is fixed, so that a plan can't call anything else.

#ifndef INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H
#define INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H

#include <cstdint>
#include <string_view>

namespace inlay::rt::host {

/// Returns the address of the external function `name`, or 0 if host code may not call it. The list has functions of
/// libm, memory functions, and conversions of half floats that compilers call on processors without them.
uint64_t findImport(std::string_view name);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_LINKER_IMPORTS_H

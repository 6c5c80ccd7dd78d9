// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The object loader: turns object files of host code into functions of this process, without a linker or a compiler.

#ifndef INLAY_RUNTIME_HOST_OBJECTLOADER_H
#define INLAY_RUNTIME_HOST_OBJECTLOADER_H

#include "inlay/Runtime/Core/Budget.h"
#include "inlay/Runtime/Core/Program.h"

#include <string_view>

namespace inlay::rt::host {

/// Maps the first object of `code` that this processor can run; null if there are no objects. Code is never writable
/// while it is executable. It may call a fixed list of functions of libm and libc; any other undefined symbol is an
/// error. Faults of an object are found before any of its code runs. The code itself is trusted. Memory is taken from
/// `budget` before it is allocated.
StatusOr<std::shared_ptr<HostSymbolResolver>> linkHostCode(const HostCode &code, Budget &budget);

/// Maps one relocatable ELF file for this processor. Its bytes are not needed afterwards.
StatusOr<std::shared_ptr<HostSymbolResolver>> linkObject(std::string_view object, Budget &budget);

} // namespace inlay::rt::host

#endif // INLAY_RUNTIME_HOST_OBJECTLOADER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files of host code become functions of this process, without a linker or a compiler.

#ifndef INLAY_RUNTIME_HOST_OBJECTLOADER_H
#define INLAY_RUNTIME_HOST_OBJECTLOADER_H

#include "inlay/Runtime/Core/Program.h"

#include <string_view>

namespace inlay::rt::host {

/// Maps the first object of `code` that this processor can run; null if there are no objects. Code is never writable
/// while it can be run. It may call functions of libm and of memory, of a fixed list; another symbol that it needs is
/// an error. What is wrong with an object is found before anything of it runs, but for its code, which is trusted.
StatusOr<std::shared_ptr<HostSymbolResolver>> linkHostCode(const HostCode &code);

/// The same of one relocatable ELF file for this processor; its bytes are not needed any more.
StatusOr<std::shared_ptr<HostSymbolResolver>> linkObject(std::string_view object);

} // namespace inlay::rt::host

#endif // INLAY_RUNTIME_HOST_OBJECTLOADER_H

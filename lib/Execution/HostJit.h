// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links a plan's object file into this process with ORC.

#ifndef INLAY_LIB_EXECUTION_HOSTJIT_H
#define INLAY_LIB_EXECUTION_HOSTJIT_H

#include "inlay/Runtime/Core/Program.h"

namespace inlay {

/// The host functions of `code`, linked when first looked up. Null if there is no code.
rt::StatusOr<std::shared_ptr<rt::HostLibrary>> linkHostCode(const rt::HostCode &code);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_HOSTJIT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of host functions on the calling thread, for programs without a kernel loader.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H

#include "inlay/Runtime/Core/HostKernels.h"

namespace inlay::rt {

/// Loads the kernels of a function. Only loops are supported; a library kernel is an error.
StatusOr<std::unique_ptr<HostKernels>> loadSerialKernels(const HostFunction &function);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H

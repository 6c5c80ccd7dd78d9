// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of host functions on the thread that calls, for programs without a loader of kernels.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H

#include "inlay/Runtime/Core/HostKernels.h"

namespace inlay::rt {

/// Runs loops alone: a kernel of a library is an error.
StatusOr<std::unique_ptr<HostKernels>> loadSerialKernels(const HostFunction &function);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_SERIALKERNELS_H

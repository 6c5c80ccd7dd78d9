// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library of this process, and kernels over a library of one's choice, for tests.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H

#include "Runtime/Host/Support/SequentialLibrary.h"
#include "inlay/Runtime/Core/HostKernels.h"

namespace inlay::rt::host {

/// The plug-in's, or our own without one; found at the first call. An error if `INLAY_HOST_LIBRARY` is wrong.
StatusOr<SequentialLibrary *> hostKernelLibrary();

/// As `HostKernelLoader::load`.
StatusOr<std::unique_ptr<HostKernels>> makeHostKernels(const HostFunction &function, SequentialLibrary &library);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel library of this process, and kernels over a given library, for tests.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H

#include "Runtime/Host/Support/SequentialLibrary.h"
#include "inlay/Runtime/Core/HostKernels.h"

namespace inlay::rt::host {

/// Returns the plug-in's library, or the built-in one if there is no plug-in. It is loaded at the first call. Fails if
/// `INLAY_HOST_LIBRARY` is wrong.
StatusOr<SequentialLibrary *> hostKernelLibrary();

/// Implements `HostKernelLoader::load` with this library.
StatusOr<std::unique_ptr<HostKernels>> makeHostKernels(const HostFunction &function, SequentialLibrary &library);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_HOSTKERNELLIBRARY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader of host functions' kernels: a thread pool and a library of matrix products and convolutions. The library
// is oneDNN if its plug-in is found, and built-in code otherwise.

#ifndef INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H
#define INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H

#include "inlay/Runtime/Core/HostKernels.h"

#include <string>

namespace inlay::rt::host {

/// Returns the loader of this process, which all programs share. `load` fails if a description is wrong, if
/// `INLAY_NUM_THREADS` is not a number from 1 to 1024, or if `INLAY_HOST_LIBRARY` names a file that can't be used.
///
/// Elements and sums are f32. The library chooses the order in which it adds. The order is the same at each call with
/// the same sizes and the same number of threads (see `setDeterministic`). NaN and infinities propagate as in plain
/// loops; relu and clip of NaN are NaN. A post-op's operand may be the result's buffer; other operands must not overlap
/// the result.
std::shared_ptr<HostKernelLoader> getHostKernelLoader();

/// Returns true if the library's plug-in is used. The runtime looks for `libinlay_onednn.so` beside its own code, or
/// for the file that `INLAY_HOST_LIBRARY` names; the value "none" disables it.
bool hasHostLibrary();

/// Returns text for version output: "oneDNN 2.6.3", "built-in kernels", or the reason why the library can't be used.
std::string describeHostLibrary();

/// Set or return the deterministic mode. In this mode, slices of work depend only on sizes and not on the number of
/// threads. Without it, the last bits of results may depend on the number of threads, because a library may choose the
/// order of a sum by the size of a slice. Initially true if `INLAY_DETERMINISTIC` is 1. A change affects kernels that
/// run after it.
void setDeterministic(bool isDeterministic);
bool isDeterministic();

} // namespace inlay::rt::host

#endif // INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs the kernels of host functions: a pool of threads, and a library of matrix products and convolutions, which
// is oneDNN where the plug-in for it is found and code of our own elsewhere.

#ifndef INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H
#define INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H

#include "inlay/Runtime/Core/HostKernels.h"

#include <string>

namespace inlay::rt::host {

/// The loader of this process, from which all programs may load. `load` fails if a description is wrong, if
/// `INLAY_NUM_THREADS` is no number from 1 to 1024, or if `INLAY_HOST_LIBRARY` names a file that can't be used.
///
/// Results: elements are f32, sums are f32 in an order that a library chooses, the same at each call with the same
/// sizes on as many threads (see `setDeterministic`). NaN and infinities propagate as in plain loops; relu and clip of
/// NaN are NaN. A post-op's operand may be the result's own buffer; other operands must not overlap the result.
std::shared_ptr<HostKernelLoader> getHostKernelLoader();

/// Whether the plug-in with the library is used. It is looked for beside the code that this is part of, as
/// `libinlay_onednn.so`, or where `INLAY_HOST_LIBRARY` says; the word "none" there turns it off.
bool hasHostLibrary();

/// For versions: "oneDNN 2.6.3", "built-in kernels", or why the library can't be used.
std::string describeHostLibrary();

/// Whether slices of work depend on sizes alone and never on the number of threads: a library may order sums by the
/// size of a slice, and results then differ in the last bits between numbers of threads. At first true if
/// `INLAY_DETERMINISTIC` is 1. For kernels that run from then on.
void setDeterministic(bool isDeterministic);
bool isDeterministic();

} // namespace inlay::rt::host

#endif // INLAY_RUNTIME_HOST_HOSTKERNELLOADER_H
